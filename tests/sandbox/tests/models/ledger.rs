//! Payments and what is done to them, through both services (spec 2 §3.2, §4.3, §4.4; spec 3 §3.2, §4.2 to §4.5).

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;

use crate::models::{
    agree, differ,
    service::{Who, before_newest},
};

mod sandbox;
mod step;

use sandbox::Beside;
use step::{Card, Kind, Payment, Step, Value, Version, steps};

const DAY: u64 = 24 * 60 * 60;
/// The end of May 2026, counted from the start: a card is good to the last day of its month (A10).
const END_OF_MAY: u64 = 27 * DAY + 14 * 60 * 60;
/// The most that one payment may be for (A90).
const MOST: u64 = 999_999_999_999;

// spec: 2 §3.2, A95: Operations on another kind of transaction or on a declined one are refused.
// spec: 2 §3.2: In any order, captures and cancellations never exceed the reserved amount, and refunds never exceed the
//   captured one.
// spec: 3 §3.2, A100: Both versions work on the same transactions; each reservation has the lifetime of its version.
#[test]
fn the_ledger_follows_the_documents() {
    agree::<Beside<RIGHT>>();
}

#[test]
fn a_wrong_ledger_is_noticed() {
    differ::<Beside<TEN_DAYS_FOR_ALL>>();
    differ::<Beside<DECLINES_FREE_REFERENCES>>();
    differ::<Beside<SILENCE_FREES_REFERENCES>>();
    differ::<Beside<REFUNDS_ONE_BY_ONE>>();
    differ::<Beside<CANCELLED_IS_LEFT>>();
    differ::<Beside<NO_OWNERS>>();
    differ::<Beside<EVERY_CARD_IS_GOOD>>();
    differ::<Beside<REFUSALS_FREE_REFERENCES>>();
    differ::<Beside<OPERATIONS_IGNORE_REFERENCES>>();
    differ::<Beside<CAPTURES_LEAVE_A_REST>>();
    differ::<Beside<VERSION_5_CANCELS_A_PART>>();
}

/// What is wrong with a model, for the test that a wrong one is noticed.
const RIGHT: u8 = 0;
const TEN_DAYS_FOR_ALL: u8 = 1;
const DECLINES_FREE_REFERENCES: u8 = 2;
const SILENCE_FREES_REFERENCES: u8 = 3;
const REFUNDS_ONE_BY_ONE: u8 = 4;
const CANCELLED_IS_LEFT: u8 = 5;
const NO_OWNERS: u8 = 6;
const EVERY_CARD_IS_GOOD: u8 = 7;
const REFUSALS_FREE_REFERENCES: u8 = 8;
const OPERATIONS_IGNORE_REFERENCES: u8 = 9;
const CAPTURES_LEAVE_A_REST: u8 = 10;
const VERSION_5_CANCELS_A_PART: u8 = 11;

/// A transaction.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    owner: Who,
    kind: Kind,
    status: &'static str,
    currency: &'static str,
    amount: u64,
    ends: u64,
    /// Made through version 5.
    fifth: bool,
    /// Nothing of it can be captured or cancelled any more.
    closed: bool,
    captured: u64,
    cancelled: u64,
    refunded: u64,
    card: Card,
    unique: Option<u8>,
    reference: Option<u8>,
    parent: Option<usize>,
}

/// What the answer to the last step has to be.
#[derive(Debug, Clone)]
pub(crate) enum Promise {
    Nothing,
    /// An error with one of these codes.
    Refused(Vec<&'static str>),
    /// A new transaction, the last one.
    Recorded,
    /// The same, and error 119.
    Unheard,
    Found(Vec<usize>),
    Status(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) struct Ledger<const WRONG: u8> {
    now: u64,
    entries: Vec<Entry>,
    used: BTreeSet<(Who, u8)>,
    /// How much the last operation was for.
    value: Option<u64>,
    promise: Promise,
}

impl<const WRONG: u8> ReferenceStateMachine for Ledger<WRONG> {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        let none = BTreeSet::new();
        Just(Self { now: 0, entries: Vec::new(), used: none, value: None, promise: Promise::Nothing }).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        steps(model.entries.len())
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        model.value = None;
        model.promise = match *step {
            Step::Pay(ref payment) => model.pay(payment),
            Step::Operate { who, version, what, which, value, unique, reference } => {
                let (unique, reference) = if version == Version::Three { (unique, reference) } else { (None, None) };
                model.operate(who, version, what, which, value, (unique, reference))
            }
            Step::Repeat { who, kind, which, value } => model.repeat(who, kind, which, value),
            Step::LookUp { who, which, unique, reference } => model.look_up(who, which, unique, reference),
            Step::Status { who, which } => model.status(who, which),
            Step::Wait(seconds) => {
                model.now += seconds;
                Promise::Nothing
            }
        };
        model
    }
}

impl<const WRONG: u8> Ledger<WRONG> {
    fn pay(&mut self, payment: &Payment) -> Promise {
        let amount = payment.price.checked_mul(payment.quantity).unwrap_or_default();
        let reference = payment.unique.map(|unique| (payment.who, unique));
        if reference.is_some_and(|reference| self.used.contains(&reference)) {
            return Promise::Refused(vec!["950"]);
        }
        let mut codes = Vec::new();
        if !(1..=MOST).contains(&amount) {
            codes.push("107");
        }
        if self.expired(payment.card) {
            codes.push("109");
        }
        // The first request uses the reference up, also when it is refused (A92).
        let freed = WRONG == DECLINES_FREE_REFERENCES && matches!(payment.card, Card::Declined | Card::Poor)
            || WRONG == SILENCE_FREES_REFERENCES && payment.card == Card::Silent
            || WRONG == REFUSALS_FREE_REFERENCES && !codes.is_empty();
        self.used.extend(reference.filter(|_| !freed));
        if !codes.is_empty() {
            return Promise::Refused(codes);
        }
        let status = match payment.card {
            Card::Good | Card::Short | Card::Silent | Card::Unheard => "600",
            Card::Declined => "901",
            Card::Poor => "902",
        };
        if payment.card == Card::Silent {
            return Promise::Refused(vec!["119"]);
        }
        let recorded = self.record(Entry {
            owner: payment.who,
            kind: payment.kind,
            status,
            currency: payment.currency,
            amount,
            ends: self.now + if WRONG == TEN_DAYS_FOR_ALL { 10 * DAY } else { 5 * DAY },
            fifth: false,
            closed: false,
            captured: 0,
            cancelled: 0,
            refunded: 0,
            card: payment.card,
            unique: payment.unique,
            reference: payment.reference,
            parent: None,
        });
        // The bank has charged, and its answer was lost (A93).
        if payment.card == Card::Unheard { Promise::Unheard } else { recorded }
    }

    fn operate(
        &mut self,
        who: Who,
        version: Version,
        what: Kind,
        which: usize,
        value: Value,
        (unique, reference): (Option<u8>, Option<u8>),
    ) -> Promise {
        let at = self.pick(which);
        let left = at.map_or(0, |at| self.left(at, what));
        let value = match value {
            Value::All if version == Version::Three => None,
            Value::All | Value::Left => Some(left),
            Value::OneMore => Some(left + 1),
            Value::Of(value) => Some(value),
        };
        self.value = value;
        let unique = unique.filter(|_| WRONG != OPERATIONS_IGNORE_REFERENCES);
        if unique.is_some_and(|unique| !self.used.insert((who, unique))) {
            return Promise::Refused(vec!["950"]);
        }
        let mut codes = Vec::new();
        if value.is_some_and(|value| !(1..=MOST).contains(&value)) {
            codes.push("107");
        }
        let Some(at) = at.filter(|at| self.owns(who, *at)) else {
            codes.push("943");
            return Promise::Refused(codes);
        };
        let original = &self.entries[at];
        let right = if what == Kind::Refund {
            matches!(original.kind, Kind::Auth | Kind::Capture)
        } else {
            original.kind == Kind::PreAuth
        };
        if !right || original.status != "600" {
            codes.push("951");
        } else if left == 0 {
            codes.push(if what == Kind::Refund { "953" } else { "952" });
        } else if value.is_some_and(|value| value > left) {
            codes.push("107");
        }
        if !codes.is_empty() {
            return Promise::Refused(codes);
        }
        let amount = value.unwrap_or(left);
        let original = &mut self.entries[at];
        match what {
            Kind::Capture => {
                original.captured += amount;
                original.closed |= WRONG != CAPTURES_LEAVE_A_REST;
            }
            Kind::Cancel => {
                original.cancelled += amount;
                let fifth = original.fifth || version == Version::Five;
                original.closed |= fifth && WRONG != VERSION_5_CANCELS_A_PART;
            }
            _ => original.refunded += amount,
        }
        let none = Entry { captured: 0, cancelled: 0, refunded: 0, closed: false, ..original.clone() };
        let reference = reference.or(none.reference);
        self.record(Entry { owner: who, kind: what, amount, unique, reference, parent: Some(at), ..none })
    }

    fn repeat(&mut self, who: Who, kind: Kind, which: usize, value: u64) -> Promise {
        let mut codes = Vec::new();
        if !(1..=MOST).contains(&value) {
            codes.push("107");
        }
        let at = self.pick(which).filter(|at| self.owns(who, *at));
        let original = at.map(|at| self.entries[at].clone());
        match &original {
            None => codes.push("943"),
            Some(Entry { kind: Kind::Auth | Kind::PreAuth | Kind::Capture, status: "600", .. }) => {}
            Some(_) => codes.push("951"),
        }
        let Some(original) = original.filter(|_| codes.is_empty()) else { return Promise::Refused(codes) };
        let unheard = original.card == Card::Unheard;
        let recorded = self.record(Entry {
            owner: who,
            kind,
            status: if self.expired(original.card) && WRONG != EVERY_CARD_IS_GOOD { "903" } else { "600" },
            amount: value,
            ends: self.now + 10 * DAY,
            fifth: true,
            closed: false,
            captured: 0,
            cancelled: 0,
            refunded: 0,
            unique: None,
            parent: at,
            ..original
        });
        if unheard { Promise::Unheard } else { recorded }
    }

    fn look_up(&self, who: Who, which: Option<usize>, unique: Option<u8>, reference: Option<u8>) -> Promise {
        if which.is_none() && unique.is_none() && reference.is_none() {
            return Promise::Refused(vec!["101"]);
        }
        let wanted = which.map(|which| self.pick(which));
        let found = (0..self.entries.len()).filter(|at| {
            let entry = &self.entries[*at];
            self.owns(who, *at)
                && wanted.is_none_or(|wanted| wanted == Some(*at))
                && (unique.is_none() || unique == entry.unique)
                && (reference.is_none() || reference == entry.reference)
        });
        Promise::Found(found.collect())
    }

    fn status(&self, who: Who, which: usize) -> Promise {
        let Some(at) = self.pick(which).filter(|at| self.owns(who, *at)) else {
            return Promise::Refused(vec!["943"]);
        };
        let entry = &self.entries[at];
        Promise::Status(match entry.kind {
            _ if entry.status != "600" => "Failed",
            Kind::Auth | Kind::Capture if entry.refunded == entry.amount => "Refunded",
            Kind::PreAuth if entry.captured == 0 && (entry.closed || entry.cancelled == entry.amount) => "Cancelled",
            Kind::PreAuth if entry.captured == 0 && self.now >= entry.ends => "Voided",
            _ => "Success",
        })
    }

    fn record(&mut self, entry: Entry) -> Promise {
        self.entries.push(entry);
        Promise::Recorded
    }

    /// The transaction that a step names, if there is one.
    fn pick(&self, which: usize) -> Option<usize> {
        let at = before_newest(self.entries.len(), which);
        (at < self.entries.len()).then_some(at)
    }

    fn owns(&self, who: Who, at: usize) -> bool {
        WRONG == NO_OWNERS || self.entries[at].owner == who
    }

    /// What is left of a transaction to capture or cancel, or to refund.
    fn left(&self, at: usize, what: Kind) -> u64 {
        let entry = &self.entries[at];
        match entry.kind {
            _ if entry.status != "600" => 0,
            Kind::PreAuth if what != Kind::Refund && self.now < entry.ends && !entry.closed => {
                let gone = if WRONG == CANCELLED_IS_LEFT { entry.captured } else { entry.captured + entry.cancelled };
                entry.amount.saturating_sub(gone)
            }
            Kind::Auth | Kind::Capture if what == Kind::Refund => {
                entry.amount - if WRONG == REFUNDS_ONE_BY_ONE { 0 } else { entry.refunded }
            }
            _ => 0,
        }
    }

    fn expired(&self, card: Card) -> bool {
        card == Card::Short && self.now >= END_OF_MAY
    }
}
