//! The bank of a world's merchants, as far as the sandbox has none: it declines some captures, cancellations, refunds and
//! repeats, and half of the copies of those that it has executed.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Request, Response};

use crate::{
    dice::Dice,
    scenario::{Disturbance, Scenario},
    spoken::{DialectPair, decline, said_in},
};

/// Methods of either version, with the `transactionType` or the `trans_type` of their replies.
const OPERATIONS: [(&str, &str); 7] = [
    ("/transaction/capturepreauth/", "Capture"),
    ("/transaction/cancelpreauth/", "CancelPreAuth"),
    ("/transaction/refund/", "Refund"),
    ("/enterprise/capture", "capture"),
    ("/enterprise/cancel", "cancel"),
    ("/enterprise/refund", "refund"),
    ("/enterprise/repeat", "auth"),
];

pub(crate) struct Bank {
    dice: Dice,
    declines: bool,
    /// The requests that it has seen.
    seen: BTreeSet<Bytes>,
}

impl Bank {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let dice = Dice::new(scenario.seed, "bank");
        Self { dice, declines: scenario.has(Disturbance::Declines), seen: BTreeSet::new() }
    }

    /// Returns the reply to an operation that it declines. Nothing is executed and recorded.
    pub(crate) fn declined(&mut self, request: &Request<Bytes>, spoken: &DialectPair) -> Option<Response<Bytes>> {
        let path = request.uri().path();
        let (method, kind) = OPERATIONS.into_iter().find(|(method, _)| {
            path.contains(method) && (method.starts_with("/transaction") || path.ends_with(method))
        })?;
        let again = !self.seen.insert(request.body().clone());
        let declines = self.dice.per_mille(if again { 500 } else { 100 });
        // The service refuses wrong credentials before it asks the bank.
        if !declines || !self.declines || String::from_utf8_lossy(request.body()).contains("wrong-") {
            return None;
        }
        if method.starts_with("/enterprise") {
            let body = format!("<serviceResponse><trans_type>{kind}</trans_type><status>0</status></serviceResponse>");
            return Some(said_in("xml", body));
        }
        Some(decline(spoken.service.declined.first()?.code.as_str(), kind, path.ends_with("/json")))
    }
}
