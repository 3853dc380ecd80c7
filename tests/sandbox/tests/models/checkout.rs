//! Hosted checkout tokens and the forms that customers send (spec 3 §3.1, §4.1, §4.9; A117, A119, A126, A136).

use proptest::{option, prelude::*, sample::select};
use proptest_state_machine::ReferenceStateMachine;

use crate::models::{
    agree, differ,
    service::{ANOTHER, APPROVED, DECLINED, SILENT, START, Who, before_newest},
};

mod sandbox;

use sandbox::Beside;

// spec: 3 §3.1 Transitions: An approval uses up one use; -1 is unlimited.
// spec: 3 §3.1 Transitions, A119: A visit uses up one redemption; -1 is unlimited.
// spec: 3 §3.1 Transitions, A119: At token_expiry the token ends: the page shows that, and no payment is possible.
// spec: 3 §3.1 Transitions: canceltoken ends it: the page shows that it has expired.
// spec: 3 §3.1, A136: A form is sent to the bank once, however often it is submitted, from however many tabs.
#[test]
fn checkouts_follow_the_documents() {
    agree::<Beside<RIGHT>>();
}

#[test]
fn a_wrong_checkout_is_noticed() {
    differ::<Beside<FORMS_PAY_AGAIN>>();
    differ::<Beside<DECLINES_ARE_USES>>();
    differ::<Beside<VISITS_ARE_FREE>>();
    differ::<Beside<CANCELLED_PAYS>>();
    differ::<Beside<GOOD_AT_EXPIRY>>();
    differ::<Beside<NO_OWNERS>>();
}

/// What is wrong with a model, for the test that a wrong one is noticed.
const RIGHT: u8 = 0;
const FORMS_PAY_AGAIN: u8 = 1;
const DECLINES_ARE_USES: u8 = 2;
const VISITS_ARE_FREE: u8 = 3;
const CANCELLED_PAYS: u8 = 4;
const GOOD_AT_EXPIRY: u8 = 5;
const NO_OWNERS: u8 = 6;

const MINUTE: u64 = 60;
const WEEK: u64 = 7 * 24 * 60 * MINUTE;

#[derive(Debug, Clone)]
pub(crate) enum Step {
    GetToken(Order),
    Visit(usize),
    /// A form is sent this many times at once.
    Send {
        form: usize,
        card: Card,
        times: usize,
    },
    /// A form without the input that says which it is.
    SendBare {
        token: usize,
        card: Card,
    },
    /// A form of one token, sent to another.
    SendElsewhere {
        form: usize,
        token: usize,
    },
    Cancel {
        who: Who,
        token: usize,
    },
    Wait(u64),
}

#[derive(Debug, Clone)]
pub(crate) struct Order {
    who: Who,
    /// Minutes from now; at once when it is not said.
    start: Option<u64>,
    /// Minutes from now; a week after the start when it is not said.
    expiry: Option<u64>,
    uses: Option<i64>,
    visits: Option<i64>,
    reserve: bool,
    redirect: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Card {
    Good,
    /// Another one, which is good too.
    Another,
    Declined,
    Silent,
    /// Something is missing.
    Mistaken,
}

impl Card {
    const fn number(self) -> &'static str {
        match self {
            Self::Good => APPROVED,
            Self::Another => ANOTHER,
            Self::Declined => DECLINED,
            Self::Silent => SILENT,
            Self::Mistaken => "",
        }
    }
}

#[derive(Debug, Clone)]
struct Token {
    owner: Who,
    start: u64,
    expires: u64,
    uses: i64,
    visits: i64,
    reserve: bool,
    cancelled: bool,
}

/// A form that was shown.
#[derive(Debug, Clone)]
struct Form {
    token: usize,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy)]
enum Outcome {
    Open,
    /// It was paid with this payment.
    Paid(usize),
    /// It was not, and this form took its place.
    Next(usize),
}

/// A payment that the bank was asked for and answered.
#[derive(Debug, Clone)]
struct Payment {
    token: usize,
    approved: bool,
}

/// What the answer to the last step has to be.
#[derive(Debug, Clone)]
pub(crate) enum Promise {
    Nothing,
    /// An error with this code.
    Refused(&'static str),
    /// A new token, the last one.
    Made,
    /// The page with this form; it may be a new one.
    Form(usize),
    /// The page for this payment; it may be a new one.
    Paid(usize),
    /// A page that says why nothing can be paid.
    Ended,
    /// An unknown token.
    Unknown,
    /// To the token's page.
    ToPage(usize),
    /// `status` of a cancellation.
    Status(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) struct Checkout<const WRONG: u8> {
    now: u64,
    tokens: Vec<Token>,
    forms: Vec<Form>,
    payments: Vec<Payment>,
    promise: Promise,
}

impl<const WRONG: u8> ReferenceStateMachine for Checkout<WRONG> {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        let (tokens, forms, payments) = (Vec::new(), Vec::new(), Vec::new());
        Just(Self { now: START, tokens, forms, payments, promise: Promise::Nothing }).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        // Before the first there is a key that nothing has.
        let (token, form) = (|| 0..=model.tokens.len(), || 0..=model.forms.len());
        let who = || prop_oneof![5 => Just(Who::Main), 1 => Just(Who::Other)];
        let card = || {
            prop_oneof![
                5 => Just(Card::Good), 1 => Just(Card::Another), 2 => Just(Card::Declined), 1 => Just(Card::Silent),
                1 => Just(Card::Mistaken),
            ]
        };
        let count = || option::of(prop_oneof![6 => select(vec![-1, 0, 1, 1, 2, 127]), 1 => select(vec![-2, 128])]);
        let order = (
            who(),
            option::weighted(0.2, 0..3_u64),
            option::weighted(0.5, 0..5_u64),
            count(),
            count(),
            any::<bool>(),
            any::<bool>(),
        );
        let order = order.prop_map(|(who, start, expiry, uses, visits, reserve, redirect)| {
            Step::GetToken(Order { who, start, expiry, uses, visits, reserve, redirect })
        });
        prop_oneof![
            3 => order,
            5 => token().prop_map(Step::Visit),
            7 => (form(), card(), 1..4_usize).prop_map(|(form, card, times)| Step::Send { form, card, times }),
            1 => (token(), card()).prop_map(|(token, card)| Step::SendBare { token, card }),
            1 => (form(), token()).prop_map(|(form, token)| Step::SendElsewhere { form, token }),
            1 => (who(), token()).prop_map(|(who, token)| Step::Cancel { who, token }),
            2 => select(vec![1, MINUTE, 2 * MINUTE, WEEK - 1, WEEK]).prop_map(Step::Wait),
        ]
        .boxed()
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        let (forms, tokens) = (model.forms.len(), model.tokens.len());
        let (at_form, at_token) = (|form| before_newest(forms, form), |token| before_newest(tokens, token));
        model.promise = match *step {
            Step::GetToken(ref order) => model.get_token(order),
            Step::Visit(token) => model.visit(at_token(token)),
            Step::Send { form, card, times } => {
                // The answers to a form that is sent several times are one and the same.
                (0..times).map(|_| model.send(at_form(form), card)).last().unwrap_or(Promise::Nothing)
            }
            Step::SendBare { token, card } => model.send_bare(at_token(token), card),
            Step::SendElsewhere { form, token } => model.send_elsewhere(at_form(form), at_token(token)),
            Step::Cancel { who, token } => model.cancel(who, at_token(token)),
            Step::Wait(seconds) => {
                model.now += seconds;
                Promise::Nothing
            }
        };
        model
    }
}

impl<const WRONG: u8> Checkout<WRONG> {
    fn get_token(&mut self, order: &Order) -> Promise {
        let start = self.now + order.start.unwrap_or_default() * MINUTE;
        let expires = order.expiry.map_or(start + WEEK, |expiry| self.now + expiry * MINUTE);
        let (uses, visits) = (order.uses.unwrap_or(-1), order.visits.unwrap_or(-1));
        let countable = |count| (-1..=127).contains(&count);
        if expires <= start || !countable(uses) || !countable(visits) {
            return Promise::Refused("937");
        }
        let (owner, reserve) = (order.who, order.reserve);
        self.tokens.push(Token { owner, start, expires, uses, visits, reserve, cancelled: false });
        Promise::Made
    }

    fn visit(&mut self, at: usize) -> Promise {
        let Some(token) = self.tokens.get(at) else { return Promise::Unknown };
        if self.ended(token) || token.visits == 0 {
            return Promise::Ended;
        }
        if WRONG != VISITS_ARE_FREE {
            count_down(&mut self.tokens[at].visits);
        }
        self.show(at)
    }

    /// A form is brought to the bank once; from then on it shows what came of it.
    fn send(&mut self, at: usize, card: Card) -> Promise {
        let Some(form) = self.forms.get(at) else { return Promise::Nothing };
        let owner = form.token;
        let mut last = at;
        while let Outcome::Next(next) = self.forms[last].outcome {
            last = next;
        }
        let again = WRONG == FORMS_PAY_AGAIN && !self.ended(&self.tokens[owner]);
        match self.forms[last].outcome {
            Outcome::Paid(payment) if !again => return Promise::Paid(payment),
            _ if self.ended(&self.tokens[owner]) => return Promise::Ended,
            Outcome::Open if last != at => return Promise::Form(last),
            _ => {}
        }
        match card {
            Card::Mistaken => Promise::Form(at),
            Card::Good | Card::Another => {
                self.payments.push(Payment { token: owner, approved: true });
                count_down(&mut self.tokens[owner].uses);
                self.forms[at].outcome = Outcome::Paid(self.payments.len() - 1);
                Promise::Paid(self.payments.len() - 1)
            }
            Card::Declined | Card::Silent => {
                if card == Card::Declined {
                    self.payments.push(Payment { token: owner, approved: false });
                    if WRONG == DECLINES_ARE_USES {
                        count_down(&mut self.tokens[owner].uses);
                    }
                }
                self.forms[at].outcome = Outcome::Next(self.forms.len());
                self.show(owner)
            }
        }
    }

    /// It counts as the newest form of the token.
    fn send_bare(&mut self, token: usize, card: Card) -> Promise {
        if token >= self.tokens.len() {
            return Promise::Unknown;
        }
        match self.forms.iter().rposition(|form| form.token == token) {
            Some(newest) => self.send(newest, card),
            None => Promise::ToPage(token),
        }
    }

    fn send_elsewhere(&mut self, form: usize, token: usize) -> Promise {
        match self.forms.get(form) {
            _ if token >= self.tokens.len() => Promise::Unknown,
            Some(sent) if sent.token == token => self.send(form, Card::Good),
            _ => Promise::ToPage(token),
        }
    }

    fn cancel(&mut self, who: Who, at: usize) -> Promise {
        let now = self.now;
        let theirs = |token: &&mut Token| token.owner == who || WRONG == NO_OWNERS;
        Promise::Status(match self.tokens.get_mut(at).filter(theirs) {
            Some(token) if token.cancelled || now < token.expires => {
                token.cancelled = true;
                "1"
            }
            _ => "0",
        })
    }

    fn show(&mut self, token: usize) -> Promise {
        self.forms.push(Form { token, outcome: Outcome::Open });
        Promise::Form(self.forms.len() - 1)
    }

    fn ended(&self, token: &Token) -> bool {
        let expires = token.expires + u64::from(WRONG == GOOD_AT_EXPIRY);
        token.cancelled && WRONG != CANCELLED_PAYS || !(token.start..expires).contains(&self.now) || token.uses == 0
    }
}

/// Unlimited stays unlimited, and nothing goes below zero.
const fn count_down(left: &mut i64) {
    if *left > 0 {
        *left -= 1;
    }
}
