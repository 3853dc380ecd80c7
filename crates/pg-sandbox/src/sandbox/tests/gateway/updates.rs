//! Updates of a transaction's references.

use super::*;

fn update(shop: &mut Shop, key: &str, reference: Option<&str>, customer: Option<&str>) -> Answer {
    let mut pairs = vec![("transactionKey", key)];
    pairs.extend(reference.map(|value| ("merchantReference", value)));
    pairs.extend(customer.map(|value| ("merchantCustomerReference", value)));
    shop.call("update", &pairs)
}

// spec: 2 §4.4: update sets one field or two and returns result OK.
// spec: method transaction/update; codes SandboxErrorCode 954
#[test]
fn a_field_is_set_once() {
    let mut shop = Shop::open();
    let key = pay(&mut shop, 100);
    let answer = update(&mut shop, &key, Some("order 7"), None);
    assert_eq!(
        (answer.status, answer.body, answer.basis.as_str()),
        (200, json!({"result": "OK"}), "2 4.4, A41, A98, A131")
    );
    assert_eq!(shop.payment(&key).merchant_reference.as_deref(), Some("order 7"));
    for value in ["order 7", "order 8"] {
        let again = update(&mut shop, &key, Some(value), None);
        assert_eq!((again.status, again.code(), again.rests_on("A98")), (400, "954", true));
    }
    assert_eq!(update(&mut shop, &key, None, Some("customer-7")).status, 200);
    assert_eq!(update(&mut shop, &key, None, Some("customer-7")).code(), "954");
    let payment = shop.payment(&key);
    assert_eq!(payment.merchant_reference.as_deref(), Some("order 7"));
    assert_eq!(payment.customer_reference.as_deref(), Some("customer-7"));
}

// spec: 2 §4.4, A98: update is rejected if a given field already has a value; then it sets nothing.
#[test]
fn one_field_that_is_taken_refuses_both() {
    let mut shop = Shop::open();
    let key = shop.call("auth", &raw(PAN, &[("merchantReference", "order 7")])).key();
    assert_eq!(update(&mut shop, &key, Some("order 8"), Some("customer-7")).code(), "954");
    assert_eq!(shop.payment(&key).customer_reference, None);
}

// spec: 2 §4.4: update ignores a blank field; no field can be unset.
// spec: 2 §4.4, A98; codes SandboxErrorCode 955
#[test]
fn a_blank_field_is_ignored_and_unsets_nothing() {
    let mut shop = Shop::open();
    let key = shop.call("auth", &raw(PAN, &[("merchantReference", "order 7")])).key();
    assert_eq!(update(&mut shop, &key, Some(""), Some("customer-7")).status, 200);
    assert_eq!(shop.payment(&key).merchant_reference.as_deref(), Some("order 7"));
    for (reference, customer) in [(None, None), (Some(""), None), (None, Some("")), (Some(""), Some(""))] {
        let answer = update(&mut shop, &key, reference, customer);
        assert_eq!((answer.code(), answer.text("errorMessage")), ("955", "No field to update"));
    }
}

// spec: 2 §3.2 Transitions, A98: update sets references of any transaction and changes no state.
#[test]
fn both_fields_of_any_transaction_are_set_at_once() {
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    let cancellation = shop.operate("cancelpreauth", &preauth, Some(10)).key();
    let capture = shop.operate("capturepreauth", &preauth, Some(10)).key();
    let refund = shop.operate("refund", &capture, Some(10)).key();
    let declined = shop.call("auth", &raw(DECLINED, &[])).text("transactionKey").to_owned();
    for key in [preauth, capture, cancellation, refund, declined] {
        let before = shop.payment(&key);
        assert_eq!(update(&mut shop, &key, Some("order 7"), Some("customer-7")).status, 200);
        let after = shop.payment(&key);
        assert_eq!(after.merchant_reference.as_deref(), Some("order 7"));
        assert_eq!(after.customer_reference.as_deref(), Some("customer-7"));
        let unset =
            Payment { merchant_reference: None, customer_reference: None, reference_added: false, ..after.clone() };
        assert_eq!(unset, before, "nothing else has changed");
        assert_eq!(update(&mut shop, &key, Some("order 7"), Some("customer-7")).code(), "954");
    }
}

// spec: 2 §4.4, A98
#[test]
fn references_that_were_copied_count_as_set() {
    let mut shop = Shop::open();
    let auth = shop.call("auth", &raw(PAN, &[("merchantReference", "order 7")])).key();
    let refund = shop.operate("refund", &auth, None).key();
    assert_eq!(update(&mut shop, &refund, Some("order 8"), None).code(), "954");
}

#[test]
fn unsettable_fields_are_refused() {
    let mut shop = Shop::open();
    let key = pay(&mut shop, 100);
    let (long, longer) = ("r".repeat(33), "c".repeat(46));
    assert_eq!(update(&mut shop, &key, Some(&long), None).code(), "125");
    assert_eq!(update(&mut shop, &key, None, Some(&longer)).code(), "125");
    assert_eq!(update(&mut shop, NO_KEY, Some("order 7"), None).code(), "943");
    assert_eq!(update(&mut shop, "", Some("order 7"), None).code(), "938");
    assert_eq!(update(&mut shop, &key, Some(&long[1..]), Some(&longer[1..])).status, 200);
}

// spec: 2 §4.4, A98: update needs one valid field; a second one that is too long is ignored.
#[test]
fn one_valid_field_is_enough() {
    let mut shop = Shop::open();
    let (long, longer) = ("r".repeat(33), "c".repeat(46));
    for (reference, customer, wanted) in [
        (long.as_str(), "customer-7", (None, Some("customer-7"))),
        ("order 7", longer.as_str(), (Some("order 7"), None)),
    ] {
        let key = pay(&mut shop, 100);
        let answer = update(&mut shop, &key, Some(reference), Some(customer));
        assert_eq!((answer.status, answer.rests_on("A98")), (200, true), "{answer:?}");
        assert!(answer.warning.ends_with("was ignored: it is blank or invalid"), "{answer:?}");
        let payment = shop.payment(&key);
        assert_eq!((payment.merchant_reference.as_deref(), payment.customer_reference.as_deref()), wanted);
    }
    let key = pay(&mut shop, 100);
    assert_eq!(update(&mut shop, &key, Some(&long), Some(&longer)).code(), "125");
    // A field that has a value already refuses both, whatever is supplied for it.
    assert_eq!(update(&mut shop, &key, Some("order 7"), None).status, 200);
    assert_eq!(update(&mut shop, &key, Some(&long), Some("customer-7")).code(), "954");
    assert_eq!(shop.payment(&key).customer_reference, None);
}
