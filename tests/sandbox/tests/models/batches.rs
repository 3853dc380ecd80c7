//! Batches of the account updater, and the tokens that they read and make (spec 1 §2.4, §3.2, §4.8, §4.9; A70 to
//! 74).

use proptest::{prelude::*, sample::select};
use proptest_state_machine::ReferenceStateMachine;

use crate::models::{
    agree, differ,
    service::{ANOTHER, APPROVED, START, Who, before_newest},
};

mod sandbox;

use sandbox::Beside;

// spec: 1 §3.2 Transitions: A request with the right updater key and unique card keys creates a pending batch with a
//   batch key; a URL gets a callback.
// spec: 1 §3.2 Transitions: Retrieving a pending batch gives 182, and it stays pending.
// spec: 1 §3.2 Transitions: When processing ends, the batch is finished and the callback is sent.
// spec: 1 §3.2 Transitions: Retrieving a finished batch returns its entries, each time.
#[test]
fn batches_follow_the_documents() {
    agree::<Beside<RIGHT>>();
}

#[test]
fn a_wrong_batch_is_noticed() {
    differ::<Beside<ENDS_EARLY>>();
    differ::<Beside<DELETED_ARE_ANSWERED>>();
    differ::<Beside<NUMBERS_STAY>>();
    differ::<Beside<YEARS_STAY>>();
    differ::<Beside<OLD_ONES_GO>>();
    differ::<Beside<NEW_ONES_ARE_ENABLED>>();
    differ::<Beside<CARDS_MAY_COME_TWICE>>();
    differ::<Beside<ALWAYS_CALLS_BACK>>();
    differ::<Beside<NO_OWNERS>>();
}

/// What is wrong with a model, for the test that a wrong one is noticed.
const RIGHT: u8 = 0;
const ENDS_EARLY: u8 = 1;
const DELETED_ARE_ANSWERED: u8 = 2;
const NUMBERS_STAY: u8 = 3;
const YEARS_STAY: u8 = 4;
const OLD_ONES_GO: u8 = 5;
const NEW_ONES_ARE_ENABLED: u8 = 6;
const CARDS_MAY_COME_TWICE: u8 = 7;
const ALWAYS_CALLS_BACK: u8 = 8;
const NO_OWNERS: u8 = 9;

/// How long the simulator takes (spec 1 §2.4).
const DURATION: u64 = 2 * 60;
/// The two that have each other's number now, and the one that is good for a month longer.
const PAIR: [&str; 2] = ["4000000000008005", "4000000000009003"];
const LONGER: &str = "4000000000010001";

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Store {
        who: Who,
        number: &'static str,
        month: &'static str,
    },
    Disable {
        who: Who,
        token: usize,
    },
    Delete {
        who: Who,
        token: usize,
    },
    Request {
        who: Who,
        tokens: Vec<usize>,
        right_key: bool,
        call_back: bool,
    },
    /// A batch of another account, or an unknown one.
    Retrieve {
        who: Who,
        batch: usize,
    },
    Wait(u64),
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    owner: Who,
    number: &'static str,
    /// Two digits, and four.
    expiry: (&'static str, &'static str),
    enabled: bool,
    deleted: bool,
}

#[derive(Debug, Clone)]
struct Batch {
    owner: Who,
    due: u64,
    call_back: bool,
    tokens: Vec<usize>,
    /// When it has finished: for each token what the schemes say, and the token that is new.
    answers: Option<Vec<(&'static str, Option<usize>)>>,
}

/// The expected reply to the last step.
#[derive(Debug, Clone)]
pub(crate) enum Promise {
    Nothing,
    /// A new token, the last one.
    Stored,
    /// `result` is OK.
    Ok,
    /// A new batch, the last one.
    Made,
    /// The results of this batch.
    Results(usize),
    /// An error with one of these codes.
    Refused(Vec<&'static str>),
}

#[derive(Debug, Clone)]
pub(crate) struct Batches<const WRONG: u8> {
    now: u64,
    tokens: Vec<Token>,
    batches: Vec<Batch>,
    promise: Promise,
}

impl<const WRONG: u8> ReferenceStateMachine for Batches<WRONG> {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self { now: START, tokens: Vec::new(), batches: Vec::new(), promise: Promise::Nothing }).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        // Before the first batch, a key that no batch has.
        let newest_or = |length| prop_oneof![2 => Just(0), 3 => 0..=length];
        let (token, batch) = (|| newest_or(model.tokens.len()), || newest_or(model.batches.len()));
        let who = || prop_oneof![8 => Just(Who::Main), 1 => Just(Who::Other)];
        let number = select(vec![PAIR[0], PAIR[1], LONGER, LONGER, APPROVED, ANOTHER]);
        let mostly = |good: f64| proptest::bool::weighted(good);
        prop_oneof![
            5 => (who(), number, select(vec!["05", "12"]))
                .prop_map(|(who, number, month)| Step::Store { who, number, month }),
            1 => (who(), token()).prop_map(|(who, token)| Step::Disable { who, token }),
            1 => (who(), token()).prop_map(|(who, token)| Step::Delete { who, token }),
            5 => (who(), proptest::collection::vec(token(), 1..4), mostly(0.95), mostly(0.5)).prop_map(
                |(who, tokens, right_key, call_back)| Step::Request { who, tokens, right_key, call_back }
            ),
            2 => (who(), batch()).prop_map(|(who, batch)| Step::Retrieve { who, batch }),
            4 => select(vec![1, DURATION / 2, DURATION - 1, DURATION]).prop_map(Step::Wait),
        ]
        .boxed()
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        let (tokens, batches) = (model.tokens.len(), model.batches.len());
        let at = |token: &usize| before_newest(tokens, *token);
        model.promise = match step {
            Step::Store { who, number, month } => model.store(*who, number, month),
            Step::Disable { who, token } => model.change(*who, at(token), |token| token.enabled = false),
            Step::Delete { who, token } => model.change(*who, at(token), |token| token.deleted = true),
            Step::Request { who, tokens, right_key, call_back } => {
                model.request(*who, tokens.iter().map(at).collect(), *right_key, *call_back)
            }
            Step::Retrieve { who, batch } => model.retrieve(*who, before_newest(batches, *batch)),
            Step::Wait(seconds) => {
                model.now += seconds;
                model.work_off();
                Promise::Nothing
            }
        };
        model
    }
}

impl<const WRONG: u8> Batches<WRONG> {
    fn store(&mut self, owner: Who, number: &'static str, month: &'static str) -> Promise {
        self.tokens.push(Token { owner, number, expiry: (month, "2030"), enabled: true, deleted: false });
        Promise::Stored
    }

    fn change(&mut self, who: Who, at: usize, change: fn(&mut Token)) -> Promise {
        if self.token(who, at).is_none() {
            return Promise::Refused(vec!["940"]);
        }
        change(&mut self.tokens[at]);
        Promise::Ok
    }

    fn request(&mut self, owner: Who, tokens: Vec<usize>, right_key: bool, call_back: bool) -> Promise {
        let mut codes = Vec::new();
        if !right_key {
            codes.push("180");
        }
        if tokens.iter().any(|at| self.token(owner, *at).is_none()) {
            codes.push("940");
        }
        let same = |one: usize, other: usize| match (self.token(owner, one), self.token(owner, other)) {
            (Some(a), Some(b)) => one == other || (a.number == b.number && WRONG != CARDS_MAY_COME_TWICE),
            // All unknown keys are equivalent.
            (None, None) => true,
            _ => false,
        };
        if (0..tokens.len()).any(|one| (0..one).any(|other| same(tokens[one], tokens[other]))) {
            codes.push("ERROR");
        }
        if !codes.is_empty() {
            return Promise::Refused(codes);
        }
        let due = self.now + DURATION - u64::from(WRONG == ENDS_EARLY);
        self.batches.push(Batch { owner, due, call_back, tokens, answers: None });
        Promise::Made
    }

    fn retrieve(&self, who: Who, at: usize) -> Promise {
        match self.batches.get(at).filter(|batch| batch.owner == who || WRONG == NO_OWNERS) {
            None => Promise::Refused(vec!["183"]),
            Some(Batch { answers: None, .. }) => Promise::Refused(vec!["182"]),
            Some(_) => Promise::Results(at),
        }
    }

    /// The cards are taken as they are when a batch is due; time passes only while nothing else happens.
    fn work_off(&mut self) {
        for at in 0..self.batches.len() {
            if self.batches[at].answers.is_none() && self.batches[at].due <= self.now {
                let tokens = self.batches[at].tokens.clone();
                self.batches[at].answers = Some(tokens.into_iter().map(|token| self.ask(token)).collect());
            }
        }
    }

    /// Returns the schemes' response for a token's card, and the new token created from it.
    fn ask(&mut self, at: usize) -> (&'static str, Option<usize>) {
        let old = self.tokens[at].clone();
        if old.deleted && WRONG != DELETED_ARE_ANSWERED {
            return ("703", None);
        }
        let (response, number, expiry) = match old.number {
            number if number == PAIR[0] => ("700", PAIR[1], old.expiry),
            number if number == PAIR[1] => ("700", PAIR[0], old.expiry),
            LONGER => ("702", LONGER, a_month_later::<WRONG>(old.expiry)),
            _ => return ("706", None),
        };
        let number = if WRONG == NUMBERS_STAY { old.number } else { number };
        let enabled = old.enabled || WRONG == NEW_ONES_ARE_ENABLED;
        self.tokens[at].enabled &= WRONG != OLD_ONES_GO;
        self.tokens.push(Token { number, expiry, enabled, deleted: false, ..old });
        (response, Some(self.tokens.len() - 1))
    }

    fn token(&self, who: Who, at: usize) -> Option<&Token> {
        let theirs = |token: &&Token| !token.deleted && (token.owner == who || WRONG == NO_OWNERS);
        self.tokens.get(at).filter(theirs)
    }

    /// Batches that have finished and whose merchant wants to be called.
    fn callbacks(&self) -> usize {
        let calls = |batch: &&Batch| batch.answers.is_some() && (batch.call_back || WRONG == ALWAYS_CALLS_BACK);
        self.batches.iter().filter(calls).count()
    }
}

/// Of the expiries that there are: no sequence is long enough for more.
fn a_month_later<const WRONG: u8>((month, year): (&str, &'static str)) -> (&'static str, &'static str) {
    const MONTHS: [&str; 12] = ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"];
    const YEARS: [&str; 4] = ["2030", "2031", "2032", "2033"];
    let next = |all: &[&'static str], one: &str| all.iter().skip_while(|other| **other != one).nth(1).copied();
    match next(&MONTHS, month) {
        Some(month) => (month, year),
        None if WRONG == YEARS_STAY => ("01", year),
        None => ("01", next(&YEARS, year).unwrap_or(year)),
    }
}
