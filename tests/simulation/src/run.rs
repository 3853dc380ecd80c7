//! One face for the machines of all kinds, so that one driver drives them all.

use std::fmt;

use bytes::Bytes;
use http::Request;
use pg_model::{Method, Outcome, Transaction, TransactionLookup};
use pg_proto::machine::{
    Action, Event, Machine, Moment,
    charge::{Charge, Charged, Standing},
    retry::{Retry, Tried},
};

/// A machine that is being driven.
pub(crate) trait Run {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step;
    /// What is stored of it.
    fn save(&self) -> String;
    /// What its `Debug` shows.
    fn shown(&self) -> String;
}

/// What a machine wants.
pub(crate) enum Step {
    Send(Request<Bytes>),
    WaitUntil(Moment),
    Ended(Claim),
}

/// What a machine says became of what it was for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Claim {
    /// There is one payment, with this key.
    Approved { key: String },
    /// The bank said no.
    Declined,
    /// The service refused it. `for_good`: no copy of the request will ever be accepted.
    Refused { for_good: bool },
    /// Nothing left.
    NotSent,
    /// Nobody knows; the lookup that will tell.
    Unknown { reconcile: Option<TransactionLookup>, why: String },
    /// A step before or after a payment is done; what it brought.
    Done { brought: String },
}

/// One word for logs and counts.
impl Claim {
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Approved { .. } => "approved",
            Self::Declined => "declined",
            Self::Refused { .. } => "refused",
            Self::NotSent => "not sent",
            Self::Unknown { .. } => "unknown",
            Self::Done { .. } => "done",
        }
    }
}

impl<M: Method<Output = Outcome<Transaction>>> Run for Charge<M> {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        match Machine::step(self, event, now, random) {
            Action::Send(request) => Step::Send(request),
            Action::WaitUntil(until) => Step::WaitUntil(until),
            Action::Ask(never) => match never {},
            Action::Done(outcome) => Step::Ended(claim(outcome)),
        }
    }

    fn save(&self) -> String {
        Machine::save(self).text().to_owned()
    }

    fn shown(&self) -> String {
        format!("{self:?}")
    }
}

fn claim(outcome: Charged) -> Claim {
    match outcome {
        Charged::Approved(transaction) => Claim::Approved { key: transaction.transaction_key.as_str().to_owned() },
        Charged::Declined(_) => Claim::Declined,
        Charged::Refused(refused) => Claim::Refused { for_good: refused.standing() != Standing::WhileItLasts },
        Charged::NotSent => Claim::NotSent,
        Charged::Unknown { reconcile, why } => Claim::Unknown { reconcile: Some(reconcile), why: variant(&why) },
    }
}

/// The name of a variant, without what it holds.
fn variant(value: &impl fmt::Debug) -> String {
    let shown = format!("{value:?}");
    shown.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// A request of another class than payments, and what to take from its reply.
pub(crate) struct Once<M: Method> {
    pub(crate) retry: Retry<M>,
    pub(crate) brought: fn(M::Output) -> String,
}

impl<M: Method<Output: Clone>> Run for Once<M> {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        match self.retry.step(event, now, random) {
            Action::Send(request) => Step::Send(request),
            Action::WaitUntil(until) => Step::WaitUntil(until),
            Action::Ask(never) => match never {},
            Action::Done(outcome) => Step::Ended(match outcome {
                Tried::Answered(reply) => Claim::Done { brought: (self.brought)(reply) },
                Tried::Refused(_) => Claim::Refused { for_good: false },
                Tried::NotSent => Claim::NotSent,
                Tried::Unknown { why, .. } => Claim::Unknown { reconcile: None, why: variant(&why) },
            }),
        }
    }

    fn save(&self) -> String {
        self.retry.save().text().to_owned()
    }

    fn shown(&self) -> String {
        format!("{:?}", self.retry)
    }
}
