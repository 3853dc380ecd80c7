//! Payments by card key.

use super::*;

const GOOD: (&str, &str) = ("01", "2030");

fn with<'a>(token: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    changed(&order(&[("cardKey", token)]), more)
}

// spec: 1 §1: The service stores a card behind a card key, which can pay.
// spec: 2 §4.2, A101; method transaction/authCardKey
#[test]
fn a_token_pays_again_and_again() {
    let mut shop = Shop::open();
    let token = shop.token(PAN, GOOD);
    let first = shop.call("authCardKey", &with(&token, &[("cardCV2", CV2)]));
    assert_eq!((first.code(), first.text("transactionType")), ("600", "Auth"));
    assert_eq!(first.basis, "2 4.4, A41, A88, A101, A103, A131");
    shop.wait(365 * 24 * 60 * 60);
    let key = shop.call("authCardKey", &with(&token, &[])).key();
    let payment = shop.payment(&key);
    assert_eq!(payment.card_key.as_deref(), Some(token.as_str()));
    assert_eq!(payment.customer_reference.as_deref(), Some("customer-7"));
    assert!(!holds(&payment, CV2));
    assert_eq!(payment.card.unwrap().number(&shop.sandbox.vault, &key).unwrap().expose(), PAN);
}

// spec: 2 §4.4, A103, A58: authCardKey: a given customer reference must be that of the token, and the payment stores
//   it.
// spec: codes SandboxErrorCode 941
#[test]
fn the_customer_must_match_the_token() {
    let mut shop = Shop::open();
    let token = shop.token(PAN, GOOD);
    for (customer, wanted) in [("customer-7", "600"), ("", "600"), ("customer-8", "941"), ("Customer-7", "941")] {
        let answer = shop.call("authCardKey", &with(&token, &[("merchantCustomerReference", customer)]));
        assert_eq!(answer.code(), wanted, "{customer}");
    }
    let nobodys = CardToken { customer_reference: None, ..shop.stored(&token).unwrap() };
    shop.put(&nobodys);
    assert_eq!(shop.call("authCardKey", &with(&token, &[("merchantCustomerReference", "customer-7")])).code(), "941");
    let key = shop.call("authCardKey", &with(&token, &[])).key();
    assert_eq!(shop.payment(&key).customer_reference, None);
}

// spec: 1 §3.1, A61; codes SandboxErrorCode 940 942
#[test]
fn a_token_that_cannot_pay_is_refused() {
    let mut shop = Shop::open();
    let token = shop.token(PAN, GOOD);
    assert_eq!(shop.call("authCardKey", &with("", &[])).code(), "938");
    assert_eq!(shop.call("authCardKey", &with("unknown", &[])).code(), "940");
    assert_eq!(shop.call_as("other", "authCardKey", &with(&token, &[])).code(), "940");
    assert_eq!(shop.call("authCardKey", &with(&token, &[("cardCV2", "12")])).code(), "110");
    let disabled = CardToken { enabled: false, ..shop.stored(&token).unwrap() };
    shop.put(&disabled);
    let answer = shop.call("authCardKey", &with(&token, &[]));
    assert_eq!((answer.status, answer.code(), answer.rests_on("A61")), (400, "942", true));
    assert!(shop.payments().is_empty());
}

// spec: codes ErrorCode 119
#[test]
fn the_scenario_of_the_stored_card_decides() {
    let mut shop = Shop::open();
    for (number, wanted) in [(PAN, "600"), (DECLINED, "901"), (POOR, "902"), (SILENT, "119")] {
        let token = shop.token(number, GOOD);
        assert_eq!(shop.call("authCardKey", &with(&token, &[])).code(), wanted);
    }
}

// spec: 2 §4.3, A10, A104; codes SandboxStatusCode 903
#[test]
fn a_stored_card_that_has_expired_is_declined() {
    let mut shop = Shop::open();
    let token = shop.token(PAN, ("04", "2026"));
    let answer = shop.call("authCardKey", &with(&token, &[]));
    assert_eq!((answer.status, answer.code()), (200, "903"));
    assert_eq!((answer.text("transactionStatus"), answer.text("bankResponseCode")), ("Card expired", "54"));
    let key = answer.text("transactionKey");
    assert_eq!(shop.operate("refund", key, None).code(), "951");
}

// spec: 2 §1.2, A102
#[test]
fn tokens_need_no_permission_for_raw_cards() {
    let mut shop = Shop::open();
    let token = shop.token(PAN, GOOD);
    let strict = CardToken { merchant: "strict".to_owned(), ..shop.stored(&token).unwrap() };
    shop.put(&strict);
    assert_eq!(shop.call_as("strict", "authCardKey", &with(&token, &[])).code(), "600");
}
