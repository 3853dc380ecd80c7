//! The conditions of every world of fleets, and the checks of each request.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::Request;

use super::shared::Shared;
use crate::{agenda::Millis, service::PER_MINUTE};

pub(super) const SAVED: &str = "a request leaves only after its own save";
pub(super) const ALIVE: &str = "a worker works only under its own lease";
pub(super) const ACCOUNT: &str = "a worker takes intents of its own account";
pub(super) const VERSION: &str = "a worker takes states that it can read";
pub(super) const STORED: &str = "an outcome is stored before it is told";
pub(super) const AGREED: &str = "every call gets the same outcome";
pub(super) const ONCE: &str = "one payment an intent";
pub(super) const CLAIMS: &str = "an outcome matches the ledger";
pub(super) const LOST: &str = "no payment is lost";
pub(super) const OWNED: &str = "every intent ends";
pub(super) const OUTBOX: &str = "the outbox tells every outcome in order";
pub(super) const THROTTLE: &str = "one throttle for all processes";
pub(super) const LOCKOUT: &str = "one stop for all processes";
pub(super) const SECRETS: &str = "no row holds a secret";
pub(super) const ENDS: &str = "the world ends";

const MINUTE: Millis = 60_000;
/// After this many refusals the service locks an address out.
const MOST_FAILURES: u32 = 5;

/// Returns the reference of a request's intent: the one that it names, or that of the payment that it changes.
pub(super) fn reference_of(request: &Request<Bytes>, aliases: &BTreeMap<String, String>) -> Option<String> {
    let pairs: BTreeMap<_, _> = form_urlencoded::parse(request.body()).collect();
    let changed = || pairs.get("transactionKey").and_then(|key| aliases.get(&**key).cloned());
    pairs.get("uniqueMerchantReference").map(|name| name.clone().into_owned()).or_else(changed)
}

/// Checks an executed request of an account.
pub(super) fn throttle(shared: &Shared, account: usize, now: Millis) {
    if account != 0 {
        return;
    }
    let within = {
        let mut state = shared.state();
        let executed = state.notes.executed.entry(account).or_default();
        executed.push(now);
        executed.iter().rev().take_while(|at| now - **at < MINUTE).count()
    };
    if within > usize::try_from(PER_MINUTE).unwrap_or(usize::MAX) {
        shared.violated(THROTTLE, format!("{within} requests of all processes within a minute, not {PER_MINUTE}"));
    }
}

/// Checks a refusal for wrong credentials: one is permitted, and one more for each event that hid it from the other processes.
pub(super) fn lockout(shared: &Shared, account: usize) {
    let (refused, excuses) = {
        let mut state = shared.state();
        let refused = state.notes.refused.entry(account).or_default();
        *refused += 1;
        (*refused, state.notes.excuses.get(&account).copied().unwrap_or_default())
    };
    if refused > 1 + excuses.min(MOST_FAILURES) {
        shared.violated(LOCKOUT, format!("{refused} requests with wrong credentials after {excuses} mishaps"));
    }
}
