//! References of operations on a payment: their own, otherwise those of the original.

use super::{
    three_d_secure::{CHALLENGE, answered},
    *,
};

const OWN: [(&str, &str); 3] = [
    ("merchantReference", "refund 7"),
    ("uniqueMerchantReference", "u-own"),
    ("merchantCustomerReference", "customer-own"),
];

/// A method, and parameters with which it makes a transaction.
fn ready(shop: &mut Shop, method: &str) -> (&'static str, String) {
    match method {
        "capturepreauth" | "cancelpreauth" => ("transactionKey", reserve(shop, 1000)),
        "refund" => ("transactionKey", pay(shop, 1000)),
        _ => ("authenticationKey", answered(shop, CHALLENGE, "authenticate", &[("merchantReference", "order 7")])),
    }
}

const METHODS: [&str; 5] = ["capturepreauth", "cancelpreauth", "refund", "auth3DSecure", "preauth3DSecure"];

// spec: 2 §4.3, A92
#[test]
fn every_method_that_makes_a_transaction_uses_its_reference_up() {
    for method in METHODS {
        let mut shop = Shop::open();
        let (name, key) = ready(&mut shop, method);
        let recorded = shop.payments().len();
        let first = shop.call(method, &[(name, &key), OWN[1]]);
        assert_eq!((first.code(), first.rests_on("A92")), ("600", true), "{method} {first:?}");
        for again in METHODS {
            let (name, key) = ready(&mut shop, again);
            let recorded = shop.payments().len();
            let answer = shop.call(again, &[(name, &key), OWN[1]]);
            assert_eq!((answer.status, answer.code()), (400, "950"), "{method} {again}");
            assert_eq!(shop.payments().len(), recorded, "{method} {again}");
        }
        assert_eq!(shop.call("auth", &raw(PAN, &[OWN[1]])).code(), "950", "{method}");
        assert!(shop.payments().len() > recorded);
    }
}

#[test]
fn two_refunds_with_one_reference_pay_back_once() {
    let mut shop = Shop::open();
    let paid = pay(&mut shop, 1000);
    let refund = [("transactionKey", paid.as_str()), ("transactionValue", "400"), OWN[1]];
    assert_eq!(shop.call("refund", &refund).code(), "600");
    assert_eq!(shop.call("refund", &refund).code(), "950");
    assert_eq!(shop.payment(&paid).refunded, 400);
}

// spec: 2 §3.2, A94
#[test]
fn a_lookup_by_a_recorded_reference_finds_the_payment() {
    for method in METHODS {
        let mut shop = Shop::open();
        let (name, key) = ready(&mut shop, method);
        let made = shop.call(method, &[&[(name, key.as_str())], &OWN[..]].concat()).key();
        let payment = shop.payment(&made);
        let held = [payment.merchant_reference, payment.unique_reference, payment.customer_reference];
        assert_eq!(held.map(Option::unwrap), OWN.map(|(_, value)| value.to_owned()), "{method}");
        for reference in &OWN[..2] {
            let rows = shop.find(&[*reference]);
            assert_eq!(rows.len(), 1, "{method} {reference:?}");
            assert_eq!(rows[0]["transactionKey"], made.as_str());
        }
    }
}

#[test]
fn an_empty_reference_counts_as_missing() {
    for method in METHODS {
        let mut shop = Shop::open();
        let (name, key) = ready(&mut shop, method);
        let made =
            shop.call(method, &[(name, key.as_str()), ("uniqueMerchantReference", ""), ("merchantReference", "")]);
        assert_eq!(shop.payment(&made.key()).unique_reference, None, "{method}");
    }
}

// spec: 2 §4.4, A07, A109
#[test]
fn the_last_step_of_3_d_secure_has_references_of_its_own() {
    let mut shop = Shop::open();
    let initiation = [("merchantReference", "order 7"), ("uniqueMerchantReference", "u-7")];
    let key = answered(&mut shop, CHALLENGE, "authenticate", &initiation);
    // The initiation's own reference is used up: the last step is a later request.
    let pairs = [("authenticationKey", key.as_str()), initiation[1]];
    assert_eq!(shop.call("auth3DSecure", &pairs).code(), "950");
    let made = shop.call("auth3DSecure", &[("authenticationKey", &key), OWN[1]]).key();
    let payment = shop.payment(&made);
    assert_eq!(payment.merchant_reference.as_deref(), Some("order 7"));
    assert_eq!(payment.unique_reference.as_deref(), Some("u-own"));
    let check = shop.find(&[initiation[1]]);
    assert_eq!((check.len(), &check[0]["transactionType"]), (1, &json!("3DSAuthenticatedOnly")));
    assert_eq!(shop.find(&[OWN[1]])[0]["transactionKey"], made.as_str());
}

#[test]
fn a_reference_that_is_too_long_is_refused() {
    let long = "u".repeat(129);
    for method in METHODS {
        let mut shop = Shop::open();
        let (name, key) = ready(&mut shop, method);
        assert_eq!(
            shop.call(method, &[(name, key.as_str()), ("uniqueMerchantReference", &long)]).code(),
            "125",
            "{method}"
        );
    }
}
