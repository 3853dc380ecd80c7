//! Everything that a method may look at and change.

use std::net::IpAddr;

use http::HeaderValue;
use pg_model::Encoding;

use super::{basis::Basis, throttle::Throttle, warning::Warnings};
use crate::{
    clock::Clock,
    faults::Faults,
    journal::Journal,
    key::Keys,
    merchants::Merchants,
    metrics::Metrics,
    records::{Silence, UniqueReference},
    schedule::Schedule,
    settings::Settings,
    store::Transaction,
    timestamp::Timestamp,
    vault::{Cv2Memory, Vault},
};

/// One request's view of the sandbox.
pub(crate) struct Context<'a> {
    /// What the sandbox's clock shows.
    pub(crate) now: Timestamp,
    /// The real time, for the clock itself.
    pub(crate) real_now: Timestamp,
    /// The address that the request came from.
    pub(crate) peer: IpAddr,
    /// The host that it was sent to, as the caller named it.
    pub(crate) host: Option<&'a HeaderValue>,
    /// The records; undone when the request is refused, except what was kept.
    pub(crate) records: Transaction<'a>,
    /// What the sandbox was told when it was made.
    pub(crate) settings: &'a Settings,
    /// Whether other processes may have the store open too, so that nothing may be remembered here alone.
    pub(crate) is_shared: bool,
    /// Seals and opens card numbers.
    pub(crate) vault: &'a Vault,
    /// Makes keys and random digits.
    pub(crate) keys: &'a mut Keys,
    /// The CV2 of sessions.
    pub(crate) cv2: &'a mut Cv2Memory,
    /// The sandbox's clock.
    pub(crate) clock: &'a mut Clock,
    /// Requests of the last minute by merchant.
    pub(crate) throttle: &'a mut Throttle,
    /// What goes wrong with the next calls.
    pub(crate) faults: &'a mut Faults,
    /// The newest requests and their replies.
    pub(crate) journal: &'a Journal,
    /// What this process has done since its start.
    pub(crate) metrics: &'a Metrics,
    /// What the sandbox has to do by itself.
    pub(crate) schedule: &'a mut Schedule,
    /// The unique reference that the request uses up, and the transaction that is found by it.
    pub(crate) unique_reference: Option<UniqueReference>,
    /// The `currency` of a request whose method has no such parameter.
    pub(crate) stray_currency: Option<String>,
    /// The bank does not answer this request, because a fault says so.
    pub(crate) silence: Option<Silence>,
    /// The bank has decided and what it decided is recorded, but its answer was lost: error 119.
    pub(crate) unheard: bool,
    /// The encoding that the request asked its reply in.
    pub(crate) encoding: Encoding,
    /// Basis of the reply; a method adds the assumptions that it meets.
    pub(crate) basis: Basis,
    /// What the caller should know although the request is answered, whether or not it is refused.
    pub(crate) warnings: Warnings,
}

impl<'a> Context<'a> {
    /// The accounts, for as long as the request lasts.
    pub(crate) fn merchants(&self) -> &'a Merchants {
        &self.settings.merchants
    }

    /// Warns the caller, in the header `pg-warning` and in the journal: one sentence without a full stop, which names
    /// parameters and never a value, such as `transactionValue was ignored: the reservation has no part left`.
    pub(crate) fn warn(&mut self, text: &str) {
        self.warnings.add(text);
    }

    /// A trace code (A20).
    pub(crate) fn trace_code(&mut self) -> String {
        self.keys.digits(9)
    }
}
