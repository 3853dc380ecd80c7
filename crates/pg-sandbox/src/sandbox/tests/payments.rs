//! Payments by raw card.

use super::*;
use crate::{
    records::{Payment, PaymentKind, UniqueReference},
    store::Query,
};

const PAN: &str = "4111111111111111";

fn order<'a>(number: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let card = [("cardNumber", number), ("cardExpiryMonth", "05"), ("cardExpiryYear", "26"), ("cardCV2", "987")];
    let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499"), ("itemQuantity0", "2")];
    let mut all: Vec<_> = card.into_iter().chain(order).collect();
    for pair in more {
        all.retain(|(name, _)| name != &pair.0);
        all.push(*pair);
    }
    all
}

fn pay(sandbox: &mut Sandbox, method: &str, pairs: &[(&str, &str)]) -> Value {
    let path = format!("/v3/transaction/{method}/json");
    serde_json::from_str(&post(sandbox, &path, signed(&account("main"), pairs)).1).unwrap()
}

fn payments(sandbox: &mut Sandbox) -> Vec<Payment> {
    Transaction::new(&mut *sandbox.store).find(&Query::newest(100)).unwrap()
}

#[test]
fn an_approved_payment_is_recorded_without_its_secrets() {
    let mut sandbox = Sandbox::in_memory();
    let paid = pay(&mut sandbox, "auth", &order(PAN, &[("merchantReference", "order 7")]));
    assert_eq!(paid["transactionStatusCode"], "600");
    assert_eq!(paid["transactionStatus"], "Transaction approved");
    assert_eq!(paid["transactionType"], "Auth");
    assert_eq!(paid["transactionKey"].as_str().unwrap().len(), 32);
    assert_eq!(paid["bankResponseCode"], "00");
    let found = payments(&mut sandbox);
    let payment = &found[0];
    assert_eq!((payment.amount, payment.currency.as_str(), payment.refundable()), (998, "GBP", 998));
    assert_eq!(payment.merchant_reference.as_deref(), Some("order 7"));
    assert_eq!(payment.details["itemName0"], "Tea");
    let body = serde_json::to_string(payment).unwrap() + &format!("{payment:?}");
    assert!(!body.contains(PAN) && !body.contains("987") && body.contains("411111******1111"));
    let reserved = pay(&mut sandbox, "preauth", &order(PAN, &[]));
    assert_eq!(reserved["transactionType"], "PreAuth");
    let newest = payments(&mut sandbox);
    assert_eq!((newest[0].kind, newest[0].reserved(), newest[0].refundable()), (PaymentKind::PreAuth, 998, 0));
}

#[test]
fn each_scenario_has_its_outcome() {
    let mut sandbox = Sandbox::in_memory();
    let declined = pay(&mut sandbox, "auth", &order("4000000000002008", &[]));
    assert_eq!((&declined["transactionStatusCode"], &declined["bankResponseCode"]), (&json!("901"), &json!("05")));
    let poor = pay(&mut sandbox, "auth", &order("4000000000003006", &[]));
    assert_eq!((&poor["transactionStatusCode"], &poor["bankResponseCode"]), (&json!("902"), &json!("51")));
    assert_eq!(payments(&mut sandbox).len(), 2);
    let silent = pay(&mut sandbox, "auth", &order("4000000000004004", &[]));
    assert_eq!(silent["errorCode"], "119");
    assert_eq!(payments(&mut sandbox).len(), 2);
}

#[test]
fn a_unique_reference_is_used_up_by_what_leaves_a_transaction() {
    let mut sandbox = Sandbox::in_memory();
    let unique = ("uniqueMerchantReference", "u-1");
    let silent = pay(&mut sandbox, "auth", &order("4000000000004004", &[unique]));
    assert_eq!(silent["errorCode"], "119");
    let paid = pay(&mut sandbox, "auth", &order(PAN, &[unique]));
    assert_eq!(paid["transactionStatusCode"], "600");
    for method in ["auth", "preauth"] {
        assert_eq!(pay(&mut sandbox, method, &order(PAN, &[unique]))["errorCode"], "950");
    }
    let key = UniqueReference::key_of("main", "u-1");
    let used: UniqueReference = Transaction::new(&mut *sandbox.store).get(&key).unwrap().unwrap();
    assert_eq!(used.transaction.as_deref(), paid["transactionKey"].as_str());
    let other = signed(&account("other"), &order(PAN, &[unique]));
    assert!(post(&mut sandbox, "/v3/transaction/auth", other).1.contains("600"));
}

#[test]
fn what_cannot_be_paid_is_refused() {
    let mut sandbox = Sandbox::in_memory();
    for (changed, wanted) in [
        (("cardNumber", "4111111111111112"), "108"),
        (("cardExpiryMonth", "04"), "109"),
        (("currency", "SEK"), "111"),
        (("currency", ""), "120"),
        (("itemPrice0", "0"), "107"),
        (("itemPrice0", "18446744073709551615"), "107"),
        (("terminalKey", "nowhere"), "957"),
        (("merchantReference", "123456789012345678901234567890123"), "125"),
    ] {
        let answer = pay(&mut sandbox, "auth", &order(PAN, &[changed]));
        assert_eq!(answer["errorCode"], wanted, "{changed:?} {answer}");
    }
    let strict = signed(&account("strict"), &order(PAN, &[]));
    assert!(post(&mut sandbox, "/v3/transaction/auth", strict).1.contains("<errorCode>106<"));
    assert!(payments(&mut sandbox).is_empty());
}
