//! What the journal is told of each request.

use bytes::Bytes;
use http::Response;

use super::{Peer, Sandbox};
use crate::{
    inbound::{Caller, Inbound},
    journal::{Answered, Entry},
    records::{FaultKind, Session},
    store::Transaction,
    timestamp::Timestamp,
};

impl Sandbox {
    /// Notes a request of a service or one of its pages, and its reply if there is one.
    pub(super) fn note(
        &mut self,
        real_now: Timestamp,
        inbound: &Inbound,
        fault: Option<FaultKind>,
        response: Option<&Response<Bytes>>,
    ) {
        let Some(journaled) = &inbound.journaled else { return };
        let request = &inbound.request;
        let entry = Entry {
            id: 0,
            at: self.clock.at(real_now),
            peer: Peer::of(request),
            http_method: request.method().clone(),
            path: journaled.path.clone(),
            info: journaled.info,
            merchant: match &journaled.caller {
                Caller::Unknown => None,
                Caller::Merchant(name) => Some(name.clone()),
                Caller::Session(key) => self.merchant_of(key),
            },
            parameters: journaled.parameters.clone(),
            fault,
            reply: response.map(Answered::of),
        };
        self.journal.add(entry);
    }

    /// The name of the account that made a session.
    fn merchant_of(&mut self, session_key: &str) -> Option<String> {
        let session = Transaction::new(&mut *self.store).get::<Session>(session_key);
        Some(session.ok()??.merchant)
    }
}
