//! What the journal is told of each request.

use std::borrow::Cow;

use bytes::Bytes;
use http::{Request, Response};
use pg_model::method::Credentials;

use super::{Peer, Sandbox};
use crate::{
    form,
    journal::{Answered, Entry, Parameters},
    records::{FaultKind, Session},
    service::Route,
    store::Transaction,
    timestamp::Timestamp,
};

/// Names and values, read as far as they can be.
type Form<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

impl Sandbox {
    /// Notes a request of a service or one of its pages, and its reply if there is one. The control
    /// interface and the inspector only look on.
    pub(super) fn note(
        &mut self,
        real_now: Timestamp,
        route: Route<'_>,
        request: &Request<Bytes>,
        fault: Option<FaultKind>,
        response: Option<&Response<Bytes>>,
    ) {
        if matches!(route, Route::Control(_) | Route::Inspector(_)) {
            return;
        }
        let query = request.uri().query().unwrap_or_default().as_bytes();
        let form = if request.body().is_empty() { query } else { &request.body()[..] };
        let form: Form<'_> = form::read_as_can_be(form).take(self.settings.limits.parameters).collect();
        let info = match route {
            Route::Method(info, _) => Some(info),
            _ => None,
        };
        let entry = Entry {
            id: 0,
            at: self.clock.at(real_now),
            peer: Peer::of(request),
            http_method: request.method().clone(),
            path: Parameters::masked(request.uri().path()),
            info,
            merchant: self.merchant_of(&form, info.map(|info| info.credentials)),
            parameters: Parameters::of(&form),
            fault,
            reply: response.map(Answered::of),
        };
        self.journal.add(entry);
    }

    /// The name of the account that a form names, by its key or by its session.
    fn merchant_of(&mut self, form: &Form<'_>, credentials: Option<Credentials>) -> Option<String> {
        let given = |name: &str| form.iter().find(|pair| pair.0 == name).map(|pair| &*pair.1);
        let merchants = &self.settings.merchants;
        let merchant = match credentials? {
            Credentials::Signed => merchants.by_api_key(given("apiKey")?)?,
            Credentials::Enterprise => merchants.by_enterprise_key(given("api_key")?)?,
            Credentials::Session => {
                let session = Transaction::new(&mut *self.store).get::<Session>(given("sessionKey")?);
                return session.ok()?.map(|session| session.merchant);
            }
        };
        Some(merchant.name.clone())
    }
}
