//! Each transition alone, and the content of the saved state.

use std::time::Duration;

use bytes::Bytes;
use pg_model::{Auth, CardDetails, Currency, Item, Order, Preauth};

use super::*;
use crate::{BaseUrl, Credentials, machine::Failure};

mod documented;

mod clocks;
mod corrected;
mod crashes;

const NOW: Moment = Moment::from_millis(1_700_000_000_000);
const PAN: &str = "4111111111111111";
const CV2: &str = "973";
const EMPTY: &str = r#"{"transactions":[]}"#;

fn account() -> Account {
    let credentials = Credentials::new("canary-key", "canary-password", "canary-sha");
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), credentials).with_dialect(crate::spoken::sandbox())
}

fn order() -> Order {
    Order::new(Currency::GBP).item(Item::new("Tea", 499).quantity(2)).unique_merchant_reference("order-7")
}

fn request() -> Auth {
    Auth::new(CardDetails::new(PAN, "12", "30").cv2(CV2), order())
}

fn transaction(code: &str) -> String {
    format!(r#"{{"transactionStatusCode":"{code}","transactionType":"Auth","transactionKey":"key"}}"#)
}

fn list(transactions: &[String]) -> String {
    let numbered: Vec<_> = transactions.iter().enumerate().map(|(at, one)| format!(r#""{at}":{one}"#)).collect();
    format!(r#"{{"transactions":{{{}}}}}"#, numbered.join(","))
}

fn reply(status: u16, body: &str) -> Event {
    Event::Reply(http::Response::builder().status(status).body(Bytes::copy_from_slice(body.as_bytes())).unwrap())
}

fn ok(body: &str) -> Event {
    reply(200, body)
}

fn refused(code: &str) -> Event {
    let body = format!(r#"{{"errorCode":"{code}","traceCode":"123456789","errorMessage":"card {PAN}"}}"#);
    reply(if code == "999" { 500 } else { 400 }, &body)
}

/// A charge that saves its state after each step, and searches the saved state for secrets.
struct Drive {
    charge: Charge<Auth>,
    now: Moment,
    action: Action<Never, ChargeOutcome>,
}

impl Drive {
    fn begin(bounds: ChargeBounds) -> Self {
        Self::of(Charge::new(account(), request(), bounds).unwrap(), NOW)
    }

    fn of(mut charge: Charge<Auth>, now: Moment) -> Self {
        let action = charge.step(Event::Begin, now, 0);
        let drive = Self { charge, now, action };
        drive.look_through();
        drive
    }

    /// The payment, or the lookup, is being sent.
    fn sends(self, what: &str) -> Self {
        let Action::Send(request) = &self.action else { panic!("{what} expected, not {:?}", self.action) };
        assert_eq!(request.uri().path(), format!("/v3/transaction/{what}/xml"));
        assert!(std::str::from_utf8(request.body()).unwrap().contains("uniqueMerchantReference=order-7"));
        self
    }

    fn then(mut self, event: Event) -> Self {
        self.action = self.charge.step(event, self.now, 0);
        self.look_through();
        self
    }

    fn waits(mut self, pause: Duration) -> Self {
        let Action::WaitUntil(until) = self.action else { panic!("a pause expected, not {:?}", self.action) };
        assert_eq!(until.since(self.now), pause);
        // Saved and resumed, it waits for the same moment, and early events change nothing.
        let mut resumed: Charge<Auth> = Charge::resume(&self.charge.save(), account(), Some(request())).unwrap();
        for event in [Event::Begin, Event::Woken, ok(&transaction("600")), Event::Failed(Failure::NotSent)] {
            assert!(matches!(resumed.step(event, self.now, 9), Action::WaitUntil(same) if same == until));
        }
        self.now = until;
        self.then(Event::Woken)
    }

    /// The first pause of a given number, with the smallest random number.
    fn pauses(self, number: u32) -> Self {
        self.waits(Duration::from_millis(500 << number))
    }

    fn crash(self, request: Option<Auth>) -> Self {
        let saved = SavedState::from_text(self.charge.save().text());
        Self::of(Charge::resume(&saved, self.charge.account, request).unwrap(), self.now)
    }

    fn ends(mut self) -> ChargeOutcome {
        let Action::Done(outcome) = self.action else { panic!("an end expected, not {:?}", self.action) };
        let again = self.charge.step(Event::Begin, self.now, 0);
        assert!(matches!(again, Action::Done(same) if same == outcome));
        outcome
    }

    fn doubts(self) -> UnknownReason {
        match self.ends() {
            ChargeOutcome::Unknown { reconcile, why } => {
                assert_eq!(reconcile, pg_model::TransactionLookup::new().unique_merchant_reference("order-7").into());
                why
            }
            other => panic!("{other:?}"),
        }
    }

    /// The canaries: card, security code and credentials are neither saved nor shown, and the saved state can be
    /// resumed.
    fn look_through(&self) {
        let saved = self.charge.save();
        for text in [saved.text().to_owned(), format!("{:?}", self.charge)] {
            for canary in [PAN, "1111111", CV2, "canary"] {
                assert!(!text.contains(canary), "{canary} in {text}");
            }
        }
        let state: State = saved.open(NAME, VERSION).unwrap();
        assert_eq!(state, self.charge.state);
    }
}

#[test]
fn a_transaction_found_by_the_reference_is_the_payment() {
    let begin = || Drive::begin(ChargeBounds::default()).sends("auth");
    assert!(
        matches!(begin().then(ok(&transaction("600"))).ends(), ChargeOutcome::Approved(t) if t.transaction_key == "key")
    );
    assert!(matches!(begin().then(ok(&transaction("901"))).ends(), ChargeOutcome::Declined(_)));
    let lost = || begin().then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    assert!(matches!(lost().then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)));
    assert!(matches!(lost().then(ok(&list(&[transaction("902")]))).ends(), ChargeOutcome::Declined(_)));
}

#[test]
fn after_a_request_that_may_have_been_executed_it_looks_and_then_sends_again() {
    let failures =
        || [Event::Failed(Failure::MaybeSent), ok("<html>"), ok(""), refused("999"), reply(502, "bad gateway")];
    for failure in failures() {
        let drive = Drive::begin(ChargeBounds::default()).sends("auth").then(failure).pauses(0).sends("lookup");
        let drive = drive.then(ok(EMPTY)).sends("auth").then(refused("950")).sends("lookup");
        assert!(matches!(drive.then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)));
    }
    // A lookup without an answer is repeated.
    for failure in failures().into_iter().chain([Event::Failed(Failure::NotSent)]) {
        let drive =
            Drive::begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
        let drive = drive.then(failure).pauses(1).sends("lookup");
        assert!(matches!(drive.then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)));
    }
}

// spec: 2 §4.4, A140
#[test]
fn an_empty_lookup_proves_nothing() {
    let mut drive = Drive::begin(ChargeBounds { attempts: 2, lookups: 3, ..ChargeBounds::default() }).sends("auth");
    drive = drive.then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup").then(ok(EMPTY)).sends("auth");
    drive = drive.then(Event::Failed(Failure::MaybeSent)).pauses(1).sends("lookup").then(ok(EMPTY));
    drive = drive.pauses(2).sends("lookup").then(ok(EMPTY));
    assert_eq!(drive.doubts(), UnknownReason::NothingFound);
    let drive = Drive::begin(ChargeBounds { lookups: 0, ..ChargeBounds::default() }).sends("auth");
    assert_eq!(drive.then(Event::Failed(Failure::MaybeSent)).doubts(), UnknownReason::NotLookedUp);
}

#[test]
fn an_answered_lookup_that_cannot_be_read_is_named() {
    let lost = |lookups| {
        let bounds = ChargeBounds { attempts: 1, lookups, ..ChargeBounds::default() };
        Drive::begin(bounds).sends("auth").then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup")
    };
    let flat = || ok(r#"{"transactionStatusCode":"600","transactionKey":"k"}"#);
    let why = lost(1).then(flat()).doubts().to_string();
    assert!(
        why.starts_with("a request may have arrived, and the answer to the lookup is an unreadable reply: HTTP 200")
            && why.contains("transactions")
            && !why.contains("executed"),
        "{why}"
    );
    // A later answer can be read.
    assert_eq!(lost(2).then(flat()).pauses(1).sends("lookup").then(ok(EMPTY)).doubts(), UnknownReason::NothingFound);
}

#[test]
fn an_unrequested_list_finds_and_proves_nothing() {
    let other =
        r#"{"transactionStatusCode":"600","transactionType":"Auth","uniqueMerchantReference":"order-8"}"#.to_owned();
    let drive = Drive::begin(ChargeBounds::default()).sends("auth").then(refused("136")).sends("lookup");
    drive.then(ok(&list(&[other]))).pauses(0).sends("lookup");
}

#[test]
fn only_requests_that_never_left_are_not_sent() {
    let drive = Drive::begin(ChargeBounds { attempts: 2, ..ChargeBounds::default() }).sends("auth");
    let drive = drive.then(Event::Failed(Failure::NotSent)).pauses(0).sends("auth");
    assert_eq!(drive.then(Event::Failed(Failure::NotSent)).ends(), ChargeOutcome::NotSent);
    let begin = || Drive::begin(ChargeBounds::default());
    assert_eq!(begin().then(Event::Failed(Failure::HeldBack)).ends(), ChargeOutcome::NotSent);
    assert_eq!(begin().then(Event::Failed(Failure::Superseded)).doubts(), UnknownReason::Superseded);
    begin().then(Event::Failed(Failure::Superseded)).crash(None).sends("lookup");
    assert_eq!(Drive::begin(ChargeBounds { attempts: 0, ..ChargeBounds::default() }).ends(), ChargeOutcome::NotSent);
    let lost = || begin().then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    assert_eq!(lost().then(Event::Failed(Failure::HeldBack)).doubts(), UnknownReason::HeldBack);
    let again = || lost().then(ok(EMPTY)).sends("auth");
    assert_eq!(again().then(Event::Failed(Failure::HeldBack)).doubts(), UnknownReason::HeldBack);
    // After a request that may have left, one that did not leave is looked up as well.
    again().then(Event::Failed(Failure::NotSent)).pauses(1).sends("lookup");
}

// spec: 2 §7, A141
#[test]
fn a_refusal_for_a_reason_in_the_request_holds_for_every_copy() {
    for code in ["103", "107", "108", "110", "120", "938"] {
        let begin = || Drive::begin(ChargeBounds::default()).sends("auth");
        assert!(
            matches!(begin().then(refused(code)).ends(), ChargeOutcome::Refused(r) if r.code().as_str() == code),
            "{code}"
        );
        let drive = begin().then(Event::Failed(Failure::MaybeSent)).pauses(0).then(ok(EMPTY)).sends("auth");
        let drive = drive.then(refused(code)).sends("lookup");
        assert!(matches!(drive.then(ok(EMPTY)).ends(), ChargeOutcome::Refused(_)), "{code}");
    }
}

// spec: 2 §7, A141
#[test]
fn a_refusal_that_time_brings_is_held_against_a_lookup() {
    for code in ["109", "129", "136", "940"] {
        let fence = || Drive::begin(ChargeBounds::default()).sends("auth").then(refused(code)).sends("lookup");
        assert!(
            matches!(fence().then(ok(EMPTY)).ends(), ChargeOutcome::Refused(r) if r.code().as_str() == code),
            "{code}"
        );
        assert!(matches!(fence().then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)), "{code}");
        // A code that may mean that nothing was found is not enough proof, and a lost lookup proves nothing.
        fence().then(refused("943")).pauses(0).sends("lookup");
        let drive = fence().then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
        // A crash loses nothing.
        let drive = drive.crash(None).sends("lookup");
        assert!(
            matches!(drive.then(ok(EMPTY)).ends(), ChargeOutcome::Refused(r) if r.code().as_str() == code),
            "{code}"
        );
    }
}

// spec: 2 §7, A141
#[test]
fn a_transient_refusal_proves_nothing_about_requests_in_flight() {
    for code in ["101", "106", "111", "942", "956", "777"] {
        let drive = Drive::begin(ChargeBounds::default()).sends("auth").then(refused(code)).sends("lookup");
        assert!(matches!(drive.then(ok(EMPTY)).ends(), ChargeOutcome::Refused(_)), "{code}");
        let drive =
            Drive::begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).then(ok(EMPTY));
        let drive = drive.sends("auth").then(refused(code)).sends("lookup").then(ok(EMPTY));
        assert!(matches!(drive.doubts(), UnknownReason::Refused(_)), "{code}");
    }
    // An answer to a later request does not settle the earlier one.
    let drive = Drive::begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).then(ok(EMPTY));
    let drive = drive.sends("auth").then(refused("936")).waits(Duration::from_millis(60_500)).sends("lookup");
    let drive = drive.then(ok(EMPTY)).sends("auth").then(refused("942")).sends("lookup").then(ok(EMPTY));
    assert!(matches!(drive.doubts(), UnknownReason::Refused(_)));
}

#[test]
fn a_reference_that_is_used_up_is_only_looked_up() {
    for code in ["950", "125"] {
        let bounds = ChargeBounds { lookups: 2, ..ChargeBounds::default() };
        let drive = Drive::begin(bounds).sends("auth").then(refused(code)).sends("lookup").then(ok(EMPTY));
        let drive = drive.pauses(0).sends("lookup").then(ok(EMPTY));
        assert!(matches!(drive.doubts(), UnknownReason::ReferenceUsed(r) if r.code().as_str() == code), "{code}");
    }
    let bounds = ChargeBounds { lookups: 2, ..ChargeBounds::default() };
    let drive = Drive::begin(bounds).sends("auth").then(refused("119")).pauses(0).sends("lookup").then(ok(EMPTY));
    let drive = drive.pauses(1).sends("lookup").then(ok(EMPTY));
    assert!(matches!(drive.doubts(), UnknownReason::NoResponse(_)));
    let drive = Drive::begin(bounds).sends("auth").then(ok(&transaction("655"))).pauses(0).sends("lookup");
    let settled = |drive: Drive| drive.then(ok(&list(&[transaction("600")]))).ends();
    assert!(matches!(
        settled(drive.then(ok(&list(&[transaction("656")]))).pauses(1).sends("lookup")),
        ChargeOutcome::Approved(_)
    ));
    let drive = Drive::begin(bounds).sends("auth").then(ok(&transaction("655"))).pauses(0).sends("lookup");
    let drive = drive.then(ok(&list(&[transaction("656")]))).pauses(1).sends("lookup").then(ok(EMPTY));
    assert!(matches!(drive.doubts(), UnknownReason::UnknownStatus(t) if t.transaction_status_code.as_str() == "656"));
}

#[test]
fn a_charge_waits_as_the_service_says() {
    for (code, pause) in [("121", 60_500), ("936", 60_500), ("122", 300_500)] {
        let pause = Duration::from_millis(pause);
        let drive = Drive::begin(ChargeBounds::default()).sends("auth").then(refused(code)).waits(pause).sends("auth");
        assert!(matches!(drive.then(ok(&transaction("600"))).ends(), ChargeOutcome::Approved(_)));
        let drive =
            Drive::begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
        drive.then(refused(code)).waits(pause).sends("lookup");
        // Without time to wait it ends, and sends nothing to a service that refuses requests.
        let bounds = ChargeBounds { within: Duration::from_secs(30), ..ChargeBounds::default() };
        assert_eq!(Drive::begin(bounds).then(refused(code)).doubts(), UnknownReason::NotLookedUp);
    }
}

#[test]
fn wrong_credentials_end_it() {
    for code in ["102", "105", "123"] {
        let begin = || Drive::begin(ChargeBounds::default()).sends("auth");
        // Another copy may have been executed before the credentials were replaced.
        assert!(matches!(begin().then(refused(code)).doubts(), UnknownReason::Credentials(_)), "{code}");
        let lost = || begin().then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
        assert!(matches!(lost().then(refused(code)).doubts(), UnknownReason::Credentials(_)), "{code}");
        let again = lost().then(ok(EMPTY)).sends("auth");
        assert!(matches!(again.then(refused(code)).doubts(), UnknownReason::Credentials(_)), "{code}");
    }
    let drive = Drive::begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    assert!(matches!(drive.then(refused("106")).doubts(), UnknownReason::LookupRefused(_)));
}

#[test]
fn the_expected_payment_is_stored_as_earlier_versions_stored_it() {
    let saved = Drive::begin(ChargeBounds::default()).charge.save();
    let stored = r#""intent":{"method":"auth","reference":"order-7","currency":"GBP","total":998}"#;
    assert!(saved.text().contains(stored), "{saved}");
}

#[test]
fn another_payment_of_the_reference_is_not_taken_for_this_one() {
    let valued = |value: &str| {
        format!(
            r#"{{"transactionStatusCode":"600","transactionType":"Auth","transactionValue":"{value}","currency":"GBP"}}"#
        )
    };
    let lost =
        || Drive::begin(ChargeBounds::default()).then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    assert!(matches!(lost().then(ok(&list(&[valued("998")]))).ends(), ChargeOutcome::Approved(_)));
    assert!(matches!(lost().then(ok(&list(&[valued("999")]))).doubts(), UnknownReason::OtherPayment(_, "amount")));
    let two = list(&[transaction("901"), transaction("600")]);
    assert!(matches!(lost().then(ok(&two)).doubts(), UnknownReason::Several(keys) if keys.len() == 2));
    // The reply to another payment does not count.
    let other = r#"{"transactionStatusCode":"600","uniqueMerchantReference":"order-8"}"#;
    Drive::begin(ChargeBounds::default()).then(ok(other)).pauses(0).sends("lookup");
}

/// A lookup before the payment was sent again says nothing about the second request.
#[test]
fn a_payment_that_was_sent_again_is_looked_up_even_without_time_for_a_pause() {
    let bounds = ChargeBounds { within: Duration::from_millis(1200), ..ChargeBounds::default() };
    let drive = Drive::begin(bounds).sends("auth").then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    drive.then(ok(EMPTY)).sends("auth").then(Event::Failed(Failure::MaybeSent)).sends("lookup");
}

/// The drive searches each saved state for the number.
#[test]
fn a_card_number_in_place_of_a_code_is_not_saved() {
    Drive::begin(ChargeBounds::default()).sends("auth").then(refused(PAN)).sends("lookup");
    let pending = transaction("655").replace(r#""key""#, &format!(r#""{PAN}""#));
    Drive::begin(ChargeBounds::default()).sends("auth").then(ok(&pending)).pauses(0).sends("lookup");
}

fn order_in(currency: Currency) -> Order {
    let mut order = order();
    order.currency = currency;
    order
}

fn without_reference() -> Order {
    let mut order = order();
    order.unique_merchant_reference = None;
    order
}

#[test]
fn input_that_does_not_fit_the_state_is_refused() {
    let charge = Charge::new(account(), request(), ChargeBounds::default()).unwrap();
    let saved = charge.save();
    let resume = |request: Auth| Charge::resume(&saved, account(), Some(request)).map(|_| ());
    assert_eq!(resume(request()), Ok(()));
    let card = || CardDetails::new(PAN, "12", "30");
    for (order, what) in [
        (order().unique_merchant_reference("order-8"), "uniqueMerchantReference"),
        (order_in(Currency::EUR), "currency"),
        (order().item(Item::new("Milk", 1)), "amount"),
        (without_reference(), "uniqueMerchantReference"),
    ] {
        assert_eq!(resume(Auth::new(card(), order)), Err(ResumeError::Mismatch(what)));
    }
    let preauth = Charge::<Preauth>::resume(&saved, account(), None).map(|_| ());
    assert_eq!(preauth, Err(ResumeError::Mismatch("method")));
    let newer = SavedState::from_text(saved.text().replace(r#""version":1"#, r#""version":2"#));
    assert!(matches!(Charge::<Auth>::resume(&newer, account(), None).map(|_| ()), Err(ResumeError::Newer { .. })));
}

#[test]
fn a_payment_that_cannot_be_charged_once_is_not_started() {
    let new =
        |order| Charge::new(account(), Auth::new(CardDetails::new(PAN, "12", "30"), order), ChargeBounds::default());
    assert!(matches!(new(without_reference()), Err(Misuse::NoUniqueReference)));
    assert!(matches!(new(order().unique_merchant_reference("")), Err(Misuse::NoUniqueReference)));
    assert!(matches!(new(order().unique_merchant_reference("x".repeat(129))), Err(Misuse::Invalid(_))));
    let capture = pg_model::CapturePreauth::new("0123456789abcdef0123456789abcdef");
    assert!(matches!(Charge::new(account(), capture, ChargeBounds::default()), Err(Misuse::NotLookedUpFirst(_))));
}

#[test]
fn an_event_that_does_not_fit_sends_nothing() {
    let mut drive = Drive::begin(ChargeBounds::default()).sends("auth");
    for event in [Event::Begin, Event::Woken, Event::Begin] {
        assert!(matches!(drive.charge.step(event, drive.now, 0), Action::WaitUntil(_)));
    }
    let drive = drive.then(Event::Failed(Failure::MaybeSent)).pauses(0).sends("lookup");
    let drive = drive.then(Event::Woken);
    assert!(matches!(drive.action, Action::WaitUntil(_)));
    assert!(matches!(drive.then(ok(&list(&[transaction("600")]))).ends(), ChargeOutcome::Approved(_)));
}

#[test]
fn every_run_ends() {
    let bounds = ChargeBounds { attempts: 5, lookups: 50, ..ChargeBounds::default() };
    for failure in [Failure::NotSent, Failure::MaybeSent] {
        let mut drive = Drive::begin(bounds);
        let mut sent = 0;
        let outcome = loop {
            drive = match drive.action {
                Action::Send(_) => {
                    sent += 1;
                    drive.then(Event::Failed(failure))
                }
                Action::WaitUntil(until) => {
                    drive.now = until;
                    drive.then(Event::Woken)
                }
                Action::Ask(never) => match never {},
                Action::Done(outcome) => break outcome,
            };
        };
        assert!(sent <= 56 && drive.now <= NOW.after(Duration::from_secs(600)));
        assert_eq!(outcome == ChargeOutcome::NotSent, failure == Failure::NotSent);
    }
}

#[test]
fn saved_states_keep_their_form() {
    let examples = ("charge.jsonl", include_str!("../../../tests/saved-states/charge.jsonl"));
    crate::machine::saved::examples::check::<State>(examples, NAME, VERSION, &[]);
}
