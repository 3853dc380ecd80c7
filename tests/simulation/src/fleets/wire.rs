//! The path from a process to the service: the simulated network, and the checks of each request when it is sent and when it
//! arrives.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{Transport, TransportError};
use tokio::sync::mpsc;

use super::{checks, seat::Seat, shared::Shared};
use crate::{
    agenda::Millis,
    network::{DEADLINE, Fate},
    scenario::Disturbance,
    service::received,
};

/// A request that is executed more than this time after sending counts towards no limit of its sender (assumption A142).
const LONGEST_WAY: Millis = 120_000;

#[derive(Clone)]
pub(super) struct Wire {
    pub(super) shared: Arc<Shared>,
    pub(super) seat: Arc<Seat>,
    /// The database connection that saves the sent requests.
    pub(super) connection: u64,
    /// Whether it signs with wrong credentials.
    pub(super) wrong: bool,
}

/// One request on its way.
#[derive(Clone)]
struct Sent {
    request: Request<Bytes>,
    reference: Option<String>,
    at: Millis,
    /// Whether it counts towards the limit of its account.
    counts: bool,
}

/// Records a request without a reply. The reply may have been a refusal that the process never sees: its connection broke, or it
/// shuts down and leaves the request to the next owner of the intent.
struct Unheard<'a>(&'a Wire);

impl Drop for Unheard<'_> {
    fn drop(&mut self) {
        self.0.shared.excuse(self.0.seat.account);
    }
}

impl Transport for Wire {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let shared = &self.shared;
        // In the middle of sending: the machine is saved, and the request is not sent yet.
        if shared.fault(Disturbance::Sleepers, 25) {
            let millis = shared.between(1_000, 60_000);
            shared.note(format_args!("{} falls asleep before a request leaves", self.seat.name));
            shared.excuse(self.seat.account);
            self.seat.falls_asleep(millis);
        }
        let slept = self.seat.awake().await;
        self.dies(15).await;
        let fate = {
            let mut state = shared.state();
            let up = state.service.is_up();
            state.network.fate(up)
        };
        let sent = self.leaves(request, &fate, slept);
        let replied = self.carried(sent, fate).await;
        self.seat.awake().await;
        self.dies(15).await;
        replied
    }
}

impl Wire {
    /// Kills the process here, with this chance in a thousand.
    async fn dies(&self, per_mille: u64) {
        if self.shared.fault(Disturbance::ClientCrashes, per_mille) {
            self.seat.killed.notify_one();
            std::future::pending::<()>().await;
        }
    }

    fn leaves(&self, request: Request<Bytes>, fate: &Fate, slept: bool) -> Sent {
        let shared = &self.shared;
        let reference = checks::reference_of(&request, &shared.state().notes.aliases);
        let path = request.uri().path().to_owned();
        let about = reference.as_deref().unwrap_or("-");
        shared.note(format_args!("{} sends {path} of {about}: {fate}", self.seat.name));
        if let Some(reference) = &reference {
            let saved = shared.state().notes.saved.get(&(self.connection, reference.clone())).copied();
            if saved != Some(true) {
                let what = format!("{} sends {path} of {reference} without a committed save", self.seat.name);
                shared.violated(checks::SAVED, what);
            }
            if fate.copies() > 1 {
                shared.state().notes.doubled.insert(reference.clone());
            }
        }
        Sent { request, reference, at: shared.time.now(), counts: !slept }
    }

    async fn carried(&self, sent: Sent, fate: Fate) -> Result<Response<Bytes>, TransportError> {
        let time = self.shared.time.clone();
        let (cut, copies) = match fate {
            Fate::Refused(after) => {
                time.sleep(after).await;
                return Err(TransportError::not_sent("connection refused"));
            }
            Fate::Carried { cut, copies } => (cut.unwrap_or(DEADLINE), copies),
        };
        let (tell, mut told) = mpsc::unbounded_channel();
        for (number, delay) in copies.into_iter().enumerate() {
            let Some(delay) = delay else { continue };
            let (wire, sent, tell) = (self.clone(), sent.clone(), tell.clone());
            tokio::spawn(async move { wire.arrives(sent, number == 0, delay, &tell).await });
        }
        let unheard = Unheard(self);
        tokio::select! {
            biased;
            Some(reply) = told.recv() => {
                std::mem::forget(unheard);
                Ok(reply)
            }
            () = time.sleep(cut.min(DEADLINE)) => Err(TransportError::maybe_sent("no reply")),
        }
    }

    /// Delivers one copy to the service, and its reply to the process.
    async fn arrives(&self, sent: Sent, is_first: bool, delay: Millis, tell: &mpsc::UnboundedSender<Response<Bytes>>) {
        let shared = &self.shared;
        shared.time.sleep(delay).await;
        let now = shared.time.now();
        if delay > DEADLINE
            && let Some(reference) = &sent.reference
        {
            shared.state().notes.doubled.insert(reference.clone());
        }
        let reply = {
            let mut state = shared.state();
            state.tally.requests += 1;
            state
                .service
                .serve(now, vec![received(sent.request, self.seat.address)])
                .and_then(|mut replies| replies.pop())
        };
        let Some(mut reply) = reply else {
            return shared.note(format_args!("a request of {} finds no service", self.seat.name));
        };
        if is_first && sent.counts && now - sent.at <= LONGEST_WAY {
            checks::throttle(shared, self.seat.account, now);
        }
        if is_first && self.wrong && shared.spoken.refuses_credentials(&reply) {
            checks::lockout(shared, self.seat.account);
        }
        let said = reply.clone();
        let back = shared.state().network.bring(&mut reply);
        // A damaged reply hides the refusal.
        if said.status() != reply.status() || said.body() != reply.body() {
            shared.excuse(self.seat.account);
        }
        shared.note(format_args!("the service answers {} with {}: {back:?}", self.seat.name, reply.status()));
        if let Some(back) = back {
            shared.time.sleep(back).await;
            // The caller may have ended.
            let _ = tell.send(reply);
        }
    }
}
