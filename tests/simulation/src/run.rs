//! A common interface of the machines of all kinds, so that one driver drives them all.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::Request;
use pg_model::{ApiRequest, CardKey, Outcome, Transaction, TransactionLookup};
use pg_proto::{
    UpdaterHint,
    machine::{
        Action, Event, Machine, Moment, Never,
        account_update::{AccountUpdate, BatchResult, UpdateDemand, UpdateEnd, UpdateInput},
        charge::{Charge, ChargeOutcome, RefusalScope},
        retry::{Retry, RetryOutcome},
        three_d_secure::{ThreeDSecure, ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome},
    },
};

/// A machine in progress.
pub(crate) trait Run {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step;
    /// Passes an input of its owner; `None` if the machine does not take it.
    fn told(&mut self, _: &OwnerEvent, _: Moment, _: u64) -> Option<Step> {
        None
    }
    /// Returns its saved state.
    fn save(&self) -> String;
    /// Returns its `Debug` output.
    fn shown(&self) -> String;
}

/// An input from the owner of a machine.
#[derive(Clone, Debug)]
pub(crate) enum OwnerEvent {
    /// A callback of the account updater arrived.
    Hint(UpdaterHint),
    /// The result with this number is stored.
    Taken(u64),
    /// The customer returned from the bank, or a stranger opened the address.
    Returned,
    /// The customer has left.
    Closed,
    /// Pay without liability shift.
    Proceed,
    /// Do not pay.
    Stop,
    /// A callback or a customer's browser names this payment of a checkout.
    Paid(String),
    /// The checkout is withdrawn.
    Withdrawn,
}

/// The next step of a machine.
pub(crate) enum Step {
    Send(Request<Bytes>),
    WaitUntil(Moment),
    /// Store this result, then confirm it.
    Take(Arc<BatchResult>),
    /// Send the customer to this address, until that time.
    Challenge(String, Moment),
    /// Save the machine, and send the customer to this page, until that time.
    Redirect(String, Moment),
    /// Decide whether to pay without liability shift, until that time.
    Decide(Moment),
    Ended(Claim),
}

/// The outcome that a machine claims.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Claim {
    /// There is one payment, with this key.
    Approved { key: String },
    /// The bank declined it.
    Declined,
    /// The service refused it. `for_good`: no copy of the request will ever be accepted.
    Refused { for_good: bool },
    /// No request left.
    NotSent,
    /// No customer received an address.
    NotOpened { why: String },
    /// It was not paid and can no longer be.
    Lapsed,
    /// The outcome is unknown; with the lookup to make later.
    Unknown { reconcile: Option<TransactionLookup>, why: String },
    /// A step before or after a payment, or a batch job, is done; with its result.
    Done { brought: String },
    /// It has stopped for now, and can continue later.
    Stopped,
}

/// One word for logs and counts.
impl Claim {
    pub(crate) const fn label(&self) -> &'static str {
        match self {
            Self::Approved { .. } => "approved",
            Self::Declined => "declined",
            Self::Refused { .. } => "refused",
            Self::NotSent => "not sent",
            Self::NotOpened { .. } => "not opened",
            Self::Lapsed => "lapsed",
            Self::Unknown { .. } => "unknown",
            Self::Done { .. } => "done",
            Self::Stopped => "stopped",
        }
    }
}

impl<M: ApiRequest<Output = Outcome<Transaction>>> Run for Charge<M> {
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

fn claim(outcome: ChargeOutcome) -> Claim {
    match outcome {
        ChargeOutcome::Approved(transaction) => {
            Claim::Approved { key: transaction.transaction_key.as_str().to_owned() }
        }
        ChargeOutcome::Declined(_) => Claim::Declined,
        ChargeOutcome::Refused(refused) => Claim::Refused { for_good: refused.scope() != RefusalScope::WhileItLasts },
        ChargeOutcome::NotSent => Claim::NotSent,
        ChargeOutcome::Unknown { reconcile, why } => {
            Claim::Unknown { reconcile: reconcile.transaction().cloned(), why: variant(&why) }
        }
    }
}

/// Returns the name of a variant without its fields.
pub(crate) fn variant(value: &impl fmt::Debug) -> String {
    let shown = format!("{value:?}");
    shown.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// A request other than a payment, and the claim that its reply makes.
pub(crate) struct Once<M: ApiRequest> {
    pub(crate) retry: Retry<M>,
    pub(crate) claim: fn(M::Output) -> Claim,
}

impl<M: ApiRequest<Output: Clone>> Run for Once<M> {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        match self.retry.step(event, now, random) {
            Action::Send(request) => Step::Send(request),
            Action::WaitUntil(until) => Step::WaitUntil(until),
            Action::Ask(never) => match never {},
            Action::Done(outcome) => Step::Ended(match outcome {
                RetryOutcome::Answered(reply) => (self.claim)(reply),
                RetryOutcome::Refused(_) => Claim::Refused { for_good: false },
                RetryOutcome::NotSent => Claim::NotSent,
                RetryOutcome::Unknown { why, .. } => Claim::Unknown { reconcile: None, why: variant(&why) },
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

/// An account update, and the source that it reads its keys from.
pub(crate) struct Updating {
    pub(crate) machine: AccountUpdate,
    pub(crate) source: Vec<CardKey>,
}

impl Updating {
    fn with(&mut self, event: Event<UpdateInput>, now: Moment, random: u64) -> Step {
        let mut event = event;
        loop {
            match self.machine.step(event, now, random) {
                Action::Send(request) => return Step::Send(request),
                Action::WaitUntil(until) => return Step::WaitUntil(until),
                Action::Ask(UpdateDemand::Take(result)) => return Step::Take(result),
                Action::Ask(UpdateDemand::Keys { from, at_most }) => {
                    let begin = usize::try_from(from).unwrap_or(usize::MAX);
                    let keys = self.source.iter().skip(begin).take(at_most).cloned().collect();
                    event = Event::Input(UpdateInput::Keys { from, keys });
                }
                Action::Done(summary) => {
                    return Step::Ended(match summary.end {
                        UpdateEnd::Complete => Claim::Done { brought: summary.progress.finished.to_string() },
                        _ => Claim::Stopped,
                    });
                }
            }
        }
    }
}

impl Run for Updating {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        self.with(without_input(event), now, random)
    }

    fn told(&mut self, what: &OwnerEvent, now: Moment, random: u64) -> Option<Step> {
        let input = match what {
            OwnerEvent::Hint(hint) => UpdateInput::Hint(hint.clone()),
            OwnerEvent::Taken(number) => UpdateInput::Taken(*number),
            _ => return None,
        };
        Some(self.with(Event::Input(input), now, random))
    }

    fn save(&self) -> String {
        self.machine.save().text().to_owned()
    }

    fn shown(&self) -> String {
        format!("{:?}", self.machine)
    }
}

/// The same event for a machine that takes inputs.
pub(crate) fn without_input<I>(event: Event<Never>) -> Event<I> {
    match event {
        Event::Begin => Event::Begin,
        Event::Reply(reply) => Event::Reply(reply),
        Event::Failed(failure) => Event::Failed(failure),
        Event::Woken => Event::Woken,
        Event::Input(never) => match never {},
    }
}

impl Run for ThreeDSecure {
    fn step(&mut self, event: Event, now: Moment, random: u64) -> Step {
        secured(Machine::step(self, without_input(event), now, random))
    }

    fn told(&mut self, what: &OwnerEvent, now: Moment, random: u64) -> Option<Step> {
        let input = match what {
            OwnerEvent::Returned => ThreeDSecureInput::Returned,
            OwnerEvent::Closed => ThreeDSecureInput::Closed,
            OwnerEvent::Proceed => ThreeDSecureInput::Proceed,
            OwnerEvent::Stop => ThreeDSecureInput::Stop,
            _ => return None,
        };
        Some(secured(Machine::step(self, Event::Input(input), now, random)))
    }

    fn save(&self) -> String {
        Machine::save(self).text().to_owned()
    }

    fn shown(&self) -> String {
        format!("{self:?}")
    }
}

fn secured(action: Action<ThreeDSecureDemand, ThreeDSecureOutcome>) -> Step {
    let outcome = match action {
        Action::Send(request) => return Step::Send(request),
        Action::WaitUntil(until) => return Step::WaitUntil(until),
        Action::Ask(ThreeDSecureDemand::Challenge { url, until }) => {
            return Step::Challenge(url.as_str().to_owned(), until);
        }
        Action::Ask(ThreeDSecureDemand::Decide { until, .. }) => return Step::Decide(until),
        Action::Done(outcome) => outcome,
    };
    Step::Ended(match outcome {
        ThreeDSecureOutcome::Approved(transaction) => {
            Claim::Approved { key: transaction.transaction_key.as_str().to_owned() }
        }
        ThreeDSecureOutcome::Declined(_) => Claim::Declined,
        ThreeDSecureOutcome::Refused(refused) => {
            Claim::Refused { for_good: refused.scope() != RefusalScope::WhileItLasts }
        }
        ThreeDSecureOutcome::Unknown { reconcile, why } => {
            Claim::Unknown { reconcile: reconcile.transaction().cloned(), why: variant(&why) }
        }
        // In all other cases no request for the payment was sent.
        _ => Claim::NotSent,
    })
}
