//! Every machine, with a scenario that covers most of its states, and the events that it may receive.

use bytes::Bytes;
use http::Response;
use pg_model::{
    AuthSessionKey, CheckoutItem, Currency, GetToken, InitiateThreeDSecureSessionKey, Item, Order, TransactionLookup,
};
use pg_proto::machine::{
    Action, Event, Failure, Machine, Moment, SavedState,
    account_update::{AccountUpdate, UpdateInput, UpdatePlan},
    charge::{Charge, ChargeBounds},
    checkout::{Checkout, CheckoutInput, CheckoutPlan},
    retry::{Retry, RetryBounds},
    three_d_secure::{ThreeDSecure, ThreeDSecureInput, ThreeDSecurePlan},
    throttle::{AccountThrottle, Permit, Throttle, ThrottleLimits},
};

use crate::replies::account;

pub(crate) const LOST: &str = "lost";
const NO_RESPONSE: &str = r#"{"errorCode":"119","traceCode":"1","errorMessage":"No response from bank"}"#;
const NOTHING: &str = r#"{"transactions":{}}"#;
const PAID: &str = r#"{"transactionStatusCode":"600","transactionStatus":"Success","transactionType":"Auth","transactionKey":"k1","uniqueMerchantReference":"order-7","currency":"GBP","amount":"499"}"#;
const INITIATED: &str = r#"{"transactionStatusCode":"607","transactionStatus":"Success","transactionKey":"k1","authenticationKey":"a1","authenticationUrl":"https://gateway.example/3ds/a1"}"#;
const SHIFTED: &str =
    r#"{"transactionStatusCode":"607","transactionStatus":"Success","bankECIValue":"05","liabilityShift":"Y"}"#;
const NOT_SHIFTED: &str =
    r#"{"transactionStatusCode":"607","transactionStatus":"Success","bankECIValue":"07","liabilityShift":"N"}"#;
const TOKEN: &str = "<serviceResponse><token><tokenid>t1</tokenid><redemption_url>https://gateway.example/pay/t1\
    </redemption_url><token_expiry>2026-11-21T10:00:00Z</token_expiry></token></serviceResponse>";
const BATCH: &str = r#"{"result":"OK","batchKey":"0123456789abcdef0123456789abcdef"}"#;
const FINISHED: &str =
    r#"{"batchKey":"0123456789abcdef0123456789abcdef","cardKeyDetails":[{"oldCardKey":"k1","response":"706"}]}"#;

/// The replies that a machine may receive.
pub(crate) const REPLIES: [&str; 10] =
    [LOST, PAID, INITIATED, SHIFTED, NOT_SHIFTED, TOKEN, BATCH, FINISHED, NO_RESPONSE, "{\"errorCode\":121}"];

/// The states that a machine stored, and a function that runs the machine from a damaged one.
pub struct Kind {
    /// The machine.
    pub name: &'static str,
    /// The states that it stored in its scenario.
    pub stored: fn() -> Vec<String>,
    /// Resumes from the text and, if that succeeds, handles events of every kind.
    pub live: fn(&str) -> bool,
}

/// All of them.
pub const KINDS: [Kind; 7] = [
    Kind { name: "charge", stored: charges, live: |text| lived(charge(text), |_| None).is_some() },
    Kind { name: "3-D Secure", stored: three_d_secures, live: |text| lived(three_d_secure(text), customer).is_some() },
    Kind { name: "checkout", stored: checkouts, live: |text| lived(checkout(text), told).is_some() },
    Kind { name: "account update", stored: updates, live: updated },
    Kind { name: "retry", stored: retries, live: |text| lived(retry(text), |_| None).is_some() },
    Kind {
        name: "throttle",
        stored: throttles,
        live: |text| Throttle::resume(&SavedState::from_text(text)).is_ok_and(throttled),
    },
    Kind { name: "account throttle", stored: account_throttles, live: both_throttled },
];

fn order() -> Order {
    Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7")
}

fn auth() -> AuthSessionKey {
    AuthSessionKey::new("0123456789abcdef0123456789abcdef", order())
}

fn search() -> TransactionLookup {
    TransactionLookup::new().unique_merchant_reference("order-7")
}

pub(crate) fn new_charge() -> Charge<AuthSessionKey> {
    Charge::new(account(), auth(), ChargeBounds::default()).unwrap()
}

pub(crate) fn new_three_d_secure() -> ThreeDSecure {
    let initiation =
        InitiateThreeDSecureSessionKey::new("0123456789abcdef0123456789abcdef", order(), "https://shop.example/back");
    ThreeDSecure::new(account(), initiation, ThreeDSecurePlan::default()).unwrap()
}

pub(crate) fn new_checkout() -> Checkout {
    let mut request = GetToken::new();
    request.currency = Some(Currency::GBP);
    request.items = vec![CheckoutItem::new("Tea", "4.99")];
    Checkout::new(account(), request, CheckoutPlan::default()).unwrap()
}

pub(crate) fn new_update() -> AccountUpdate {
    AccountUpdate::new(account(), UpdatePlan::new("0123456789abcdef")).unwrap()
}

pub(crate) fn new_retry() -> Retry<TransactionLookup> {
    Retry::new(account(), search(), RetryBounds::default()).unwrap()
}

fn charges() -> Vec<String> {
    let story = |replies| told_by(new_charge(), replies, |_| None);
    [story(&[LOST, NOTHING, LOST, NO_RESPONSE, NOTHING, PAID]), story(&[NO_RESPONSE, NOTHING, PAID])].concat()
}

fn three_d_secures() -> Vec<String> {
    let story = |replies| {
        told_by(new_three_d_secure(), replies, |count| {
            Some(if count < 2 { ThreeDSecureInput::Returned } else { ThreeDSecureInput::Proceed })
        })
    };
    [story(&[INITIATED, LOST, SHIFTED, LOST, NOTHING, PAID]), story(&[INITIATED, NOT_SHIFTED, PAID]), story(&[LOST])]
        .concat()
}

fn checkouts() -> Vec<String> {
    told_by(new_checkout(), &[TOKEN, LOST, LOST], told)
}

fn updates() -> Vec<String> {
    told_by(new_update(), &[BATCH, LOST, FINISHED], keys)
}

fn retries() -> Vec<String> {
    told_by(new_retry(), &[LOST, LOST, NOTHING], |_| None)
}

fn throttles() -> Vec<String> {
    let mut throttle = Throttle::new(ThrottleLimits::default());
    let mut stored = Vec::new();
    for second in 0..4 {
        let now = Moment::from_millis(1_700_000_000_000 + second * 1_000);
        let Permit::Go(ticket) = throttle.ask(now) else { break };
        stored.push(throttle.save().text().to_owned());
        if second < 2 {
            throttle.lost(ticket, now)
        } else {
            throttle.answered(ticket, &refused(), now);
        }
        stored.push(throttle.save().text().to_owned());
    }
    stored
}

fn account_throttles() -> Vec<String> {
    let now = Moment::from_millis(1_700_000_000_000);
    let mut throttle = AccountThrottle::new(&account(), ThrottleLimits::default(), 7);
    let mut stored = vec![throttle.save()];
    for lane in [AccountThrottle::gateway, AccountThrottle::enterprise] {
        let Permit::Go(ticket) = lane(&mut throttle).ask(now) else { break };
        stored.push(throttle.save());
        lane(&mut throttle).answered(ticket, &refused(), now);
        stored.push(throttle.save());
    }
    stored.into_iter().map(|saved| saved.text().to_owned()).collect()
}

fn refused() -> Response<Bytes> {
    Response::builder().status(401).body(Bytes::from(r#"{"errorCode":"102","errorMessage":""}"#)).unwrap()
}

/// The states that a machine stored while it received these replies.
fn told_by<M: Machine>(mut machine: M, replies: &[&str], input: impl Fn(usize) -> Option<M::Input>) -> Vec<String> {
    let (mut now, mut event) = (Moment::from_millis(1_700_000_000_000), Event::Begin);
    let (mut replies, mut inputs, mut stored) = (replies.iter(), 0, Vec::new());
    for _ in 0..16 {
        let action = machine.step(event, now, 7);
        stored.push(machine.save().text().to_owned());
        event = match action {
            Action::Send(_) => match *replies.next().unwrap_or(&LOST) {
                LOST => Event::Failed(Failure::MaybeSent),
                reply => Event::Reply(Response::new(Bytes::copy_from_slice(reply.as_bytes()))),
            },
            Action::WaitUntil(until) => {
                now = until;
                Event::Woken
            }
            Action::Ask(_) => {
                inputs += 1;
                input(inputs - 1).map_or(Event::Woken, Event::Input)
            }
            Action::Done(_) => break,
        };
    }
    stored.sort();
    stored.dedup();
    stored
}

pub(crate) fn charge(text: &str) -> Option<Charge<AuthSessionKey>> {
    Charge::resume(&SavedState::from_text(text), account(), Some(auth())).ok()
}

pub(crate) fn three_d_secure(text: &str) -> Option<ThreeDSecure> {
    ThreeDSecure::resume(&SavedState::from_text(text), account()).ok()
}

pub(crate) fn checkout(text: &str) -> Option<Checkout> {
    Checkout::resume(&SavedState::from_text(text), account(), CheckoutPlan::default()).ok()
}

pub(crate) fn update(text: &str) -> Option<AccountUpdate> {
    AccountUpdate::resume(&SavedState::from_text(text), account(), UpdatePlan::new("0123456789abcdef")).ok()
}

fn updated(text: &str) -> bool {
    lived(update(text), keys).is_some_and(|machine| machine.progress().open_batches < 1_000)
}

pub(crate) fn retry(text: &str) -> Option<Retry<TransactionLookup>> {
    Retry::resume(&SavedState::from_text(text), account(), search()).ok()
}

fn customer(count: usize) -> Option<ThreeDSecureInput> {
    use ThreeDSecureInput::{Closed, Proceed, Returned, Stop};
    [Some(Returned), None, Some(Proceed), Some(Closed), Some(Stop)][count % 5]
}

fn told(count: usize) -> Option<CheckoutInput> {
    [None, Some(CheckoutInput::Reported("k1".to_owned())), Some(CheckoutInput::Cancel)]
        .into_iter()
        .cycle()
        .nth(count)?
}

fn keys(count: usize) -> Option<UpdateInput> {
    Some(match count {
        0 => UpdateInput::Keys { from: 0, keys: vec!["k1".into(), "k2".into(), "k2".into()] },
        1 => UpdateInput::Keys { from: 3, keys: Vec::new() },
        _ => UpdateInput::Taken(0),
    })
}

/// The machine, if there is one, after replies of every kind.
fn lived<M: Machine>(machine: Option<M>, input: impl Fn(usize) -> Option<M::Input>) -> Option<M> {
    let mut machine = machine?;
    let (mut now, mut event) = (Moment::from_millis(1_700_000_000_000), Event::Begin);
    for count in 0..12 {
        let action = machine.step(event, now, u64::MAX - 7);
        SavedState::from_text(machine.save().text()).machine().unwrap();
        event = match action {
            Action::Send(_) => answer(count),
            Action::WaitUntil(until) => {
                now = until.max(now);
                Event::Woken
            }
            Action::Ask(_) => input(count).map_or(Event::Woken, Event::Input),
            Action::Done(_) => break,
        };
    }
    Some(machine)
}

fn answer<I>(count: usize) -> Event<I> {
    match REPLIES[count % REPLIES.len()] {
        LOST => Event::Failed(Failure::NotSent),
        reply => Event::Reply(Response::new(Bytes::from_static(reply.as_bytes()))),
    }
}

fn both_throttled(text: &str) -> bool {
    let Ok(mut both) = AccountThrottle::resume(&SavedState::from_text(text), &account(), ThrottleLimits::default())
    else {
        return false;
    };
    SavedState::from_text(both.save().text()).machine().unwrap();
    throttled(both.gateway().clone()) && throttled(both.enterprise().clone())
}

fn throttled(mut throttle: Throttle) -> bool {
    for count in 0..24 {
        let now = Moment::from_millis(u64::MAX >> (count * 2));
        if let Permit::Go(ticket) = throttle.ask(now) {
            match count % 3 {
                0 => throttle.lost(ticket, now),
                1 => throttle.unsent(ticket),
                _ => {
                    throttle.answered(ticket, &refused(), now);
                }
            }
        } else {
            throttle.resume_sending(now);
        }
        SavedState::from_text(throttle.save().text()).machine().unwrap();
    }
    true
}
