//! Sessions that customers' browsers post cards to, and that are paid with (spec 2 §3.1, §4.2, §4.4; A78, A80 to
//! 82, 84 to 86 and 101).

use proptest::{option, prelude::*, sample::select};
use proptest_state_machine::ReferenceStateMachine;

use crate::models::{
    agree, differ,
    service::{ANOTHER, APPROVED, DECLINED, SILENT, START, Who, before_newest},
};

mod sandbox;

use sandbox::Beside;

// spec: 2 §3.1 Transitions: initiate with the right credentials and an error page opens a session.
// spec: 2 §3.1 Transitions: A valid form is stored, and the browser is redirected to nextPageUrl.
// spec: 2 §3.1 Transitions: An invalid form redirects to currentPageUrl with masked input and errors, and changes
//   nothing.
// spec: 2 §3.1 Transitions, A80: A form without a required field redirects to errorPageUrl and changes nothing.
// spec: 2 §3.1 Transitions, A78: After 30 minutes the session has expired, and using it gives 136.
// spec: 2 §3.1, A79: A form with a wrong or missing session key redirects to the page of the service.
// spec: 2 §3.1, A85: A session pays any number of times until it expires; its CV2 is used once.
// spec: 2 §3.1, A85: A session without a valid post cannot pay.
#[test]
fn sessions_follow_the_documents() {
    agree::<Beside<RIGHT>>();
}

#[test]
fn a_wrong_session_is_noticed() {
    differ::<Beside<GOOD_AT_EXPIRY>>();
    differ::<Beside<POSTS_RENEW>>();
    differ::<Beside<FAULTS_ARE_STORED>>();
    differ::<Beside<FIRST_CARD_STAYS>>();
    differ::<Beside<PAYS_ONCE>>();
    differ::<Beside<CV2_STAYS>>();
    differ::<Beside<COLLECTS_ANEW>>();
    differ::<Beside<NO_OWNERS>>();
}

/// What is wrong with a model, for the test that a wrong one is noticed.
const RIGHT: u8 = 0;
const GOOD_AT_EXPIRY: u8 = 1;
const POSTS_RENEW: u8 = 2;
const FAULTS_ARE_STORED: u8 = 3;
const FIRST_CARD_STAYS: u8 = 4;
const PAYS_ONCE: u8 = 5;
const CV2_STAYS: u8 = 6;
const COLLECTS_ANEW: u8 = 7;
const NO_OWNERS: u8 = 8;

const LIFETIME: u64 = 30 * 60;
/// Fails the check of its digits.
const MISTYPED: &str = "4000000000001001";

/// A customer reference.
type Customer = Option<&'static str>;

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Open { who: Who, customer: Customer },
    Post { session: usize, form: Form },
    Pay { who: Who, session: usize, customer: Customer },
    Wait(u64),
}

/// What a customer posts, with the pages that the shop's form names.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    number: Option<&'static str>,
    /// Of four digits.
    year: Option<&'static str>,
    cv2: Option<&'static str>,
    name: Option<&'static str>,
    plan: Option<&'static str>,
    gift: Option<&'static str>,
    next_page: bool,
    current_page: bool,
}

impl Form {
    /// The code of the first thing that it cannot do without.
    fn missing(&self) -> Option<&'static str> {
        let missing = [
            (self.next_page, "134"),
            (self.current_page, "135"),
            (self.number.is_some(), "108"),
            (self.year.is_some(), "109"),
        ];
        missing.into_iter().find(|(there, _)| !there).map(|(_, code)| code)
    }

    /// The fields that are wrong, with their codes.
    fn faults(&self) -> Vec<(&'static str, &'static str)> {
        let faults = [
            (self.number == Some(MISTYPED), ("cardNumber", "108")),
            (self.year == Some("2025"), ("cardExpiryYear", "109")),
            (self.cv2 == Some("12"), ("cardCV2", "110")),
        ];
        faults.into_iter().filter(|(wrong, _)| *wrong).map(|(_, fault)| fault).collect()
    }

    fn collected(&self) -> impl Iterator<Item = Collected> {
        [("collectPlan", self.plan), ("collectGift", self.gift)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
    }
}

/// An input that the service collects for the merchant.
type Collected = (&'static str, &'static str);

#[derive(Debug, Clone)]
struct Session {
    owner: Who,
    expires: u64,
    customer: Customer,
    posted: Option<Posted>,
    collected: Vec<Collected>,
    /// Payments that the bank was asked for.
    used: usize,
}

/// The card of the last valid form.
#[derive(Debug, Clone)]
struct Posted {
    number: &'static str,
    name: Option<&'static str>,
    /// Its CV2 has been kept for the first payment.
    cv2: bool,
}

/// A payment that the bank has answered.
#[derive(Debug, Clone)]
struct Payment {
    owner: Who,
    number: &'static str,
    customer: Customer,
    name: Option<&'static str>,
    approved: bool,
}

/// What the answer to the last step has to be.
#[derive(Debug, Clone)]
pub(crate) enum Promise {
    Nothing,
    Opened,
    /// To the merchant's next page, or back to the form with these faults; with these inputs.
    Page {
        of: Who,
        faults: Vec<(&'static str, &'static str)>,
        collected: Vec<Collected>,
    },
    /// To the merchant's error page, with one of these codes.
    ErrorPage {
        of: Who,
        codes: Vec<&'static str>,
    },
    /// To the service's own error page.
    OwnPage,
    /// A transaction with this status, which used the CV2 or did not.
    Paid {
        status: &'static str,
        cv2: bool,
    },
    /// An error with one of these codes.
    Refused(Vec<&'static str>),
}

#[derive(Debug, Clone)]
pub(crate) struct Sessions<const WRONG: u8> {
    now: u64,
    sessions: Vec<Session>,
    payments: Vec<Payment>,
    promise: Promise,
}

impl<const WRONG: u8> ReferenceStateMachine for Sessions<WRONG> {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self { now: START, sessions: Vec::new(), payments: Vec::new(), promise: Promise::Nothing }).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        // Before the first there is a key that nothing has.
        let length = model.sessions.len();
        let session = || prop_oneof![2 => Just(0), 1 => 0..=length];
        let who = || prop_oneof![8 => Just(Who::Main), 1 => Just(Who::Other)];
        let customer = || prop_oneof![3 => Just(None), 1 => Just(Some("ann")), 1 => Just(Some("bob"))];
        prop_oneof![
            2 => (who(), customer()).prop_map(|(who, customer)| Step::Open { who, customer }),
            5 => (session(), form()).prop_map(|(session, form)| Step::Post { session, form }),
            5 => (who(), session(), customer())
                .prop_map(|(who, session, customer)| Step::Pay { who, session, customer }),
            2 => select(vec![1, 60, LIFETIME / 2, LIFETIME - 1, LIFETIME]).prop_map(Step::Wait),
        ]
        .boxed()
    }

    fn apply(mut model: Self, step: &Step) -> Self {
        let length = model.sessions.len();
        let at = |session: &usize| before_newest(length, *session);
        model.promise = match step {
            Step::Open { who, customer } => model.open(*who, *customer),
            Step::Post { session, form } => model.post(at(session), form),
            Step::Pay { who, session, customer } => model.pay(*who, at(session), *customer),
            Step::Wait(seconds) => {
                model.now += seconds;
                Promise::Nothing
            }
        };
        model
    }
}

/// Most forms are good.
fn form() -> impl Strategy<Value = Form> {
    let mostly = |good, others: Vec<_>| prop_oneof![9 => Just(Some(good)), 1 => select(others)];
    let number = prop_oneof![
        6 => Just(Some(APPROVED)), 3 => Just(Some(ANOTHER)), 2 => Just(Some(DECLINED)), 1 => Just(Some(SILENT)),
        1 => Just(Some(MISTYPED)), 1 => Just(None),
    ];
    let there = || proptest::bool::weighted(0.95);
    (
        number,
        mostly("2049", vec![Some("2025"), None]),
        mostly("917", vec![Some("12"), None]),
        option::of(select(vec!["A Customer", "B Customer"])),
        option::of(select(vec!["gold", "silver"])),
        option::of(select(vec!["card", "box"])),
        there(),
        there(),
    )
        .prop_map(|(number, year, cv2, name, plan, gift, next_page, current_page)| Form {
            number,
            year,
            cv2,
            name,
            plan,
            gift,
            next_page,
            current_page,
        })
}

impl<const WRONG: u8> Sessions<WRONG> {
    fn open(&mut self, owner: Who, customer: Customer) -> Promise {
        let expires = self.now + LIFETIME;
        self.sessions.push(Session { owner, expires, customer, posted: None, collected: Vec::new(), used: 0 });
        Promise::Opened
    }

    fn post(&mut self, at: usize, form: &Form) -> Promise {
        let now = self.now;
        let Some(session) = self.sessions.get_mut(at) else { return Promise::OwnPage };
        let of = session.owner;
        if expired::<WRONG>(session, now) {
            return Promise::ErrorPage { of, codes: ["136"].into_iter().chain(form.missing()).collect() };
        }
        if let Some(code) = form.missing() {
            return Promise::ErrorPage { of, codes: vec![code] };
        }
        let mut collected = if WRONG == COLLECTS_ANEW { Vec::new() } else { session.collected.clone() };
        for (name, value) in form.collected() {
            match collected.iter_mut().find(|(known, _)| *known == name) {
                Some((_, held)) => *held = value,
                None => collected.push((name, value)),
            }
        }
        let faults = form.faults();
        if faults.is_empty() || WRONG == FAULTS_ARE_STORED {
            session.collected.clone_from(&collected);
            let posted = Posted { number: form.number.unwrap_or(MISTYPED), name: form.name, cv2: form.cv2.is_some() };
            if session.posted.is_none() || WRONG != FIRST_CARD_STAYS {
                session.posted = Some(posted);
            }
            if WRONG == POSTS_RENEW {
                session.expires = now + LIFETIME;
            }
        }
        Promise::Page { of, faults, collected }
    }

    fn pay(&mut self, who: Who, at: usize, customer: Customer) -> Promise {
        let now = self.now;
        let theirs = |session: &&mut Session| session.owner == who || WRONG == NO_OWNERS;
        let Some(session) = self.sessions.get_mut(at).filter(theirs) else { return Promise::Refused(vec!["129"]) };
        if expired::<WRONG>(session, now) {
            return Promise::Refused(vec!["136"]);
        }
        let used_up = WRONG == PAYS_ONCE && session.used > 0;
        let Some(posted) = session.posted.as_mut().filter(|_| !used_up) else { return Promise::Refused(vec!["956"]) };
        session.used += 1;
        let cv2 = posted.cv2;
        posted.cv2 &= WRONG == CV2_STAYS;
        if posted.number == SILENT {
            return Promise::Refused(vec!["119"]);
        }
        let approved = posted.number != DECLINED;
        let customer = customer.or(session.customer);
        self.payments.push(Payment { owner: who, number: posted.number, customer, name: posted.name, approved });
        Promise::Paid { status: if approved { "600" } else { "901" }, cv2 }
    }
}

/// Thirty minutes after it was opened everything that was posted is gone, and its key says so (A78).
const fn expired<const WRONG: u8>(session: &Session, now: u64) -> bool {
    now >= session.expires + (WRONG == GOOD_AT_EXPIRY) as u64
}
