//! What a driver and an executor of one's own can do with any machine.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use pg_proto::{
    Account, BaseUrl, Credentials, Misuse,
    machine::{
        Action, Event, Machine, Moment, Never, SavedState,
        charge::{self, Charge, ChargeBounds, ChargeOutcome},
        checkout::{self, Checkout, CheckoutPlan},
        retry::{self, Retry, RetryBounds},
        three_d_secure,
        throttle::{self, AccountThrottle, Throttle, ThrottleLimits},
    },
    model::{Auth, AuthCardKey, CardDetails, CheckoutItem, Currency, GetToken, Item, Order, Refund},
};

fn account() -> Account {
    let base = BaseUrl::parse("https://gateway.example").unwrap();
    let own = pg_proto::EnterpriseCredentials::new("k".repeat(32), "p".repeat(32));
    Account::new(base.clone(), Credentials::new("key", "password", "sha key")).enterprise(base, own)
}

fn order(reference: &str) -> Order {
    Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference(reference)
}

fn by_card() -> Charge<Auth> {
    let payment = Auth::new(CardDetails::new("4000000000001000", "12", "49"), order("order-7"));
    Charge::new(account(), payment, ChargeBounds::default()).unwrap()
}

/// An executor keeps charges of several methods in one list.
#[test]
fn machines_of_one_kind_can_be_kept_in_one_list() {
    type AnyCharge = Box<dyn Machine<Input = Never, Demand = Never, Outcome = ChargeOutcome>>;
    let by_key = AuthCardKey::new("a-card-key", order("order-8"));
    let by_key = Charge::new(Arc::new(account()), by_key, ChargeBounds::default()).unwrap();
    let mut charges: [AnyCharge; 2] = [Box::new(by_card()), Box::new(by_key)];
    for charge in &mut charges {
        assert!(matches!(charge.step(Event::Begin, Moment::from_millis(1), 4), Action::Send(_)));
        // It waits for the reply.
        let waits = charge.step(Event::Woken, Moment::from_millis(2), 4);
        assert!(matches!(waits, Action::WaitUntil(until) if until.millis() == u64::MAX));
    }
}

/// After a restart, a program reads from a stored state what to resume.
#[test]
fn a_saved_state_says_which_machine_and_which_method_to_resume() {
    let told = |saved: SavedState| (saved.machine().unwrap(), saved.method().unwrap());
    let told_as = |name: &str, method: Option<&str>| (name.to_owned(), method.map(str::to_owned));
    assert_eq!(told(by_card().save()), told_as(charge::NAME, Some("auth")));
    let refund = Retry::new(account(), Refund::new("0".repeat(32)), RetryBounds::default()).unwrap();
    assert_eq!(told(refund.save()), told_as(retry::NAME, Some("transaction/refund")));
    let token = GetToken::new().item(CheckoutItem::new("Tea", "4.99")).currency("GBP");
    let checkout = Checkout::new(account(), token, CheckoutPlan::default()).unwrap();
    assert_eq!(told(checkout.save()), told_as(checkout::NAME, None));
    assert_eq!(told(Throttle::new(ThrottleLimits::default()).save()), told_as(throttle::NAME, None));
    let both = AccountThrottle::new(&account(), ThrottleLimits::default(), 7);
    assert_eq!(told(both.save()), told_as(throttle::ACCOUNT_NAME, None));
    assert_eq!((charge::NAME, three_d_secure::NAME), ("charge", "3-D Secure"), "stored states have these names");
    assert!(SavedState::from_text("{}").method().is_err());
}

#[test]
fn a_refund_that_is_charged_gets_the_advice_to_use_a_retry() {
    let refund = Refund::new("0".repeat(32)).unique_merchant_reference("refund-7");
    let misuse = Charge::new(account(), refund, ChargeBounds::default()).unwrap_err();
    assert!(matches!(misuse, Misuse::NotLookedUpFirst("refund")) && misuse.to_string().contains("Retry"), "{misuse}");
}

/// A line of a log is short, whatever the dialect of the account is.
#[test]
fn the_debug_form_of_a_throttle_does_not_print_the_dialect() {
    let throttle = AccountThrottle::new(&account(), ThrottleLimits::default(), 7);
    let shown = format!("{throttle:?}");
    assert!(!shown.contains("dialect") && shown.len() < 2_000, "{shown}");
}
