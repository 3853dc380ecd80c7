//! Card tokens: made of payments, switched, changed, found, paid with, deleted (spec 1 §3.1, §4.2 to §4.7; spec 2 §4.4).

use proptest::{option, prelude::*, sample::select};
use proptest_state_machine::ReferenceStateMachine;

use crate::models::{
    agree, differ,
    service::{ANOTHER, APPROVED, DECLINED, Who, before_newest},
};

mod sandbox;

use sandbox::Beside;

// spec: 1 §3.1 Transitions: A token is deleted from either state, permanently.
// spec: 1 §3.1 Transitions: An update replaces each given detail and erases an empty one; the state stays.
// spec: 1 §3.1, A61: A disabled token cannot pay; all other operations are allowed.
// spec: 1 §3.1, A58: A customer reference in enable, disable, delete or update must be that of the token.
#[test]
fn tokens_follow_the_documents() {
    agree::<Beside<RIGHT>>();
}

#[test]
fn a_wrong_token_is_noticed() {
    differ::<Beside<DISABLED_PAYS>>();
    differ::<Beside<DELETED_IS_FOUND>>();
    differ::<Beside<EMPTY_KEEPS>>();
    differ::<Beside<CUSTOMERS_UNCHECKED>>();
    differ::<Beside<ALWAYS_A_NEW_ONE>>();
    differ::<Beside<NO_OWNERS>>();
}

/// What is wrong with a model, for the test that a wrong one is noticed.
const RIGHT: u8 = 0;
const DISABLED_PAYS: u8 = 1;
const DELETED_IS_FOUND: u8 = 2;
const EMPTY_KEEPS: u8 = 3;
const CUSTOMERS_UNCHECKED: u8 = 4;
const ALWAYS_A_NEW_ONE: u8 = 5;
const NO_OWNERS: u8 = 6;

/// A customer reference.
type Customer = Option<&'static str>;

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Pay { who: Who, number: &'static str, customer: Customer, name: &'static str },
    PayByKey { who: Who, token: usize, customer: Customer },
    Refund { who: Who, payment: usize },
    Tokenise { who: Who, payment: usize, customer: Customer, onto: Option<usize> },
    Switch { who: Who, token: usize, customer: Customer, to: Switch },
    Update { who: Who, token: usize, customer: Customer, details: Vec<(&'static str, &'static str)> },
    LookUp { who: Who, token: Option<usize>, customer: Customer },
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Switch {
    Enable,
    Disable,
    Delete,
}

/// A transaction, with what a token that is made of it takes over.
#[derive(Debug, Clone)]
struct Payment {
    owner: Who,
    number: &'static str,
    customer: Customer,
    card: Details,
    /// Whether the bank has accepted its card (A63).
    accepted: bool,
    refunded: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    owner: Who,
    number: &'static str,
    customer: Customer,
    card: Details,
    enabled: bool,
    deleted: bool,
    /// The payment that it belongs to.
    parent: usize,
}

/// What a token shows beside its card's number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    name: &'static str,
    description: &'static str,
    email: &'static str,
    town: &'static str,
    month: &'static str,
    /// Of four digits.
    year: &'static str,
}

/// What the answer to the last step has to be.
#[derive(Debug, Clone)]
pub(crate) enum Promise {
    /// An error with one of these codes.
    Refused(Vec<&'static str>),
    /// A new transaction with this status.
    Paid(&'static str),
    /// `result` is OK.
    Ok,
    /// A new token, the last one.
    Made,
    /// One of these tokens.
    OneOf(Vec<usize>),
    Found(Vec<usize>),
}

#[derive(Debug, Clone)]
pub(crate) struct Tokens<const WRONG: u8> {
    payments: Vec<Payment>,
    tokens: Vec<Token>,
    promise: Promise,
}

impl<const WRONG: u8> ReferenceStateMachine for Tokens<WRONG> {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self { payments: Vec::new(), tokens: Vec::new(), promise: Promise::Ok }).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        // Before the first there is a key that nothing has.
        let newest_or = |length| prop_oneof![1 => Just(0), 1 => 0..=length];
        let (payment, token) = (|| newest_or(model.payments.len()), || newest_or(model.tokens.len()));
        let who = || prop_oneof![8 => Just(Who::Main), 1 => Just(Who::Other)];
        let customer = || prop_oneof![6 => Just(None), 1 => Just(Some("ann")), 1 => Just(Some("Ann"))];
        let number = prop_oneof![3 => Just(APPROVED), 2 => Just(ANOTHER), 1 => Just(DECLINED)];
        let switch = select(vec![Switch::Enable, Switch::Disable, Switch::Disable, Switch::Delete]);
        let details = proptest::collection::vec(detail(), 0..5);
        prop_oneof![
            3 => (who(), number, customer(), select(vec!["", "A Customer"]))
                .prop_map(|(who, number, customer, name)| Step::Pay { who, number, customer, name }),
            3 => (who(), token(), customer()).prop_map(|(who, token, customer)| Step::PayByKey { who, token, customer }),
            1 => (who(), payment()).prop_map(|(who, payment)| Step::Refund { who, payment }),
            5 => (who(), payment(), customer(), option::weighted(0.3, token()))
                .prop_map(|(who, payment, customer, onto)| Step::Tokenise { who, payment, customer, onto }),
            3 => (who(), token(), customer(), switch)
                .prop_map(|(who, token, customer, to)| Step::Switch { who, token, customer, to }),
            4 => (who(), token(), customer(), details)
                .prop_map(|(who, token, customer, details)| Step::Update { who, token, customer, details: once(details) }),
            4 => (who(), option::of(token()), customer())
                .prop_map(|(who, token, customer)| Step::LookUp { who, token, customer }),
        ]
        .boxed()
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        let (payments, tokens) = (model.payments.len(), model.tokens.len());
        let at_payment = |payment: &usize| before_newest(payments, *payment);
        let at_token = |token: &usize| before_newest(tokens, *token);
        model.promise = match step {
            Step::Pay { who, number, customer, name } => model.pay(*who, number, *customer, name),
            Step::PayByKey { who, token, customer } => model.pay_by_key(*who, at_token(token), *customer),
            Step::Refund { who, payment } => model.refund(*who, at_payment(payment)),
            Step::Tokenise { who, payment, customer, onto } => {
                model.tokenise(*who, at_payment(payment), *customer, onto.as_ref().map(at_token))
            }
            Step::Switch { who, token, customer, to } => model.switch(*who, at_token(token), *customer, *to),
            Step::Update { who, token, customer, details } => model.update(*who, at_token(token), *customer, details),
            Step::LookUp { who, token, customer } => model.look_up(*who, token.as_ref().map(at_token), *customer),
        };
        model
    }
}

/// A detail to write; an empty value erases.
fn detail() -> impl Strategy<Value = (&'static str, &'static str)> {
    let text = |name| select(vec!["", "one", "two"]).prop_map(move |value| (name, value));
    prop_oneof![
        3 => text("cardDescription"), 3 => text("cardholderName"), 3 => text("customerEmail"),
        3 => text("cardholderAddressTown"),
        2 => select(vec!["07", "01", "13", ""]).prop_map(|value| ("cardExpiryMonth", value)),
        2 => select(vec!["51", "2052", "2020", "052", ""]).prop_map(|value| ("cardExpiryYear", value)),
    ]
}

/// Each name once: sent twice is another error.
fn once(details: Vec<(&'static str, &'static str)>) -> Vec<(&'static str, &'static str)> {
    let mut kept: Vec<(&'static str, &'static str)> = Vec::new();
    for detail in details {
        if kept.iter().all(|other| other.0 != detail.0) {
            kept.push(detail);
        }
    }
    kept
}

impl<const WRONG: u8> Tokens<WRONG> {
    fn pay(&mut self, owner: Who, number: &'static str, customer: Customer, name: &'static str) -> Promise {
        let card = Details { name, description: "", email: "", town: "", month: "12", year: "2049" };
        let accepted = number != DECLINED;
        self.payments.push(Payment { owner, number, customer, card, accepted, refunded: false });
        Promise::Paid(if accepted { "600" } else { "901" })
    }

    fn pay_by_key(&mut self, who: Who, token: usize, customer: Customer) -> Promise {
        let found = self.token(who, token).cloned();
        let mut codes = self.misfit(found.as_ref(), customer);
        if found.as_ref().is_some_and(|token| !token.enabled) && WRONG != DISABLED_PAYS {
            codes.push("942");
        }
        // An expiry that an update has removed (A67).
        if found.as_ref().is_some_and(|token| token.card.month.is_empty() || token.card.year.is_empty()) {
            codes.push("109");
        }
        let Some(token) = found.filter(|_| codes.is_empty()) else { return Promise::Refused(codes) };
        let accepted = token.card.year != "2020";
        let customer = customer.or(token.customer);
        self.payments.push(Payment {
            owner: who,
            number: token.number,
            customer,
            card: token.card,
            accepted,
            refunded: false,
        });
        Promise::Paid(if accepted { "600" } else { "903" })
    }

    /// Refunds everything, which makes a transaction that cannot be tokenised.
    fn refund(&mut self, who: Who, at: usize) -> Promise {
        let Some(original) = self.payment(who, at).cloned() else { return Promise::Refused(vec!["943"]) };
        if !original.accepted {
            return Promise::Refused(vec!["951"]);
        }
        if original.refunded {
            return Promise::Refused(vec!["953"]);
        }
        self.payments[at].refunded = true;
        self.payments.push(Payment { accepted: false, ..original });
        Promise::Paid("600")
    }

    fn tokenise(&mut self, who: Who, payment: usize, customer: Customer, onto: Option<usize>) -> Promise {
        let found = self.payment(who, payment).cloned();
        let mut codes = Vec::new();
        match &found {
            None => codes.push("943"),
            Some(found) if !found.accepted => codes.push("944"),
            Some(_) => {}
        }
        if let Some(onto) = onto {
            let token = self.token(who, onto);
            codes.extend(self.misfit(token, customer));
            if token.is_some_and(|token| found.as_ref().is_some_and(|found| found.number != token.number)) {
                codes.push("944");
            }
        }
        let Some(found) = found.filter(|_| codes.is_empty()) else { return Promise::Refused(codes) };
        if let Some(onto) = onto {
            self.tokens[onto].parent = payment;
            return Promise::OneOf(vec![onto]);
        }
        let customer = customer.or(found.customer);
        let same = |token: &Token| !token.deleted && token.parent == payment && token.customer == customer;
        let made: Vec<usize> = (0..self.tokens.len()).filter(|at| same(&self.tokens[*at])).collect();
        if !made.is_empty() && WRONG != ALWAYS_A_NEW_ONE {
            return Promise::OneOf(made);
        }
        let (number, card) = (found.number, found.card);
        self.tokens.push(Token { owner: who, number, customer, card, enabled: true, deleted: false, parent: payment });
        Promise::Made
    }

    fn switch(&mut self, who: Who, at: usize, customer: Customer, to: Switch) -> Promise {
        let codes = self.misfit(self.token(who, at), customer);
        if !codes.is_empty() {
            return Promise::Refused(codes);
        }
        let token = &mut self.tokens[at];
        match to {
            Switch::Enable => token.enabled = true,
            Switch::Disable => token.enabled = false,
            Switch::Delete => token.deleted = WRONG != DELETED_IS_FOUND,
        }
        Promise::Ok
    }

    fn update(&mut self, who: Who, at: usize, customer: Customer, details: &[(&str, &'static str)]) -> Promise {
        let mut codes = self.misfit(self.token(who, at), customer);
        let wrong = |(name, value): &(&str, &str)| match *name {
            "cardExpiryMonth" => !["07", "01", ""].contains(value),
            "cardExpiryYear" => !["51", "2052", "2020", ""].contains(value),
            _ => false,
        };
        if details.iter().any(wrong) {
            codes.push("109");
        }
        if !codes.is_empty() {
            return Promise::Refused(codes);
        }
        let card = &mut self.tokens[at].card;
        for (name, value) in details {
            let detail = match *name {
                "cardDescription" => &mut card.description,
                "cardholderName" => &mut card.name,
                "customerEmail" => &mut card.email,
                "cardholderAddressTown" => &mut card.town,
                "cardExpiryMonth" => &mut card.month,
                _ => &mut card.year,
            };
            if WRONG != EMPTY_KEEPS || !value.is_empty() {
                *detail = if *value == "51" { "2051" } else { value };
            }
        }
        Promise::Ok
    }

    fn look_up(&self, who: Who, wanted: Option<usize>, customer: Customer) -> Promise {
        if wanted.is_none() && customer.is_none() {
            return Promise::Refused(vec!["101"]);
        }
        let found = (0..self.tokens.len()).filter(|at| {
            let fits = |token: &Token| customer.is_none() || token.customer == customer;
            wanted.is_none_or(|wanted| wanted == *at) && self.token(who, *at).is_some_and(fits)
        });
        Promise::Found(found.collect())
    }

    fn payment(&self, who: Who, at: usize) -> Option<&Payment> {
        self.payments.get(at).filter(|payment| payment.owner == who || WRONG == NO_OWNERS)
    }

    fn token(&self, who: Who, at: usize) -> Option<&Token> {
        let theirs = |token: &&Token| !token.deleted && (token.owner == who || WRONG == NO_OWNERS);
        self.tokens.get(at).filter(theirs)
    }

    /// What is wrong with a card key, and with the customer reference that validates it (spec 1 §3.1).
    fn misfit(&self, token: Option<&Token>, customer: Customer) -> Vec<&'static str> {
        match token {
            None => vec!["940"],
            Some(token) if customer.is_some() && customer != token.customer && WRONG != CUSTOMERS_UNCHECKED => {
                vec!["941"]
            }
            Some(_) => Vec::new(),
        }
    }
}
