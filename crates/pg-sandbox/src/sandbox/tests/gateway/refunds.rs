//! Refunds of an auth or a capture.

use super::*;

// spec: 2 §3.2 Transitions, A97: An Auth or a Capture is refunded: in full without a value, in part with a smaller one,
//   and not at all with a larger one.
// spec: method transaction/refund; codes TransactionType Refund; codes SandboxErrorCode 953
#[test]
fn without_a_value_everything_that_is_left_is_refunded() {
    let mut shop = Shop::open();
    let auth = pay(&mut shop, 1000);
    let answer = shop.operate("refund", &auth, None);
    assert_eq!((answer.code(), answer.text("transactionType")), ("600", "Refund"));
    assert_eq!(answer.basis, "2 4.4, A41, A88, A94, A97, A131");
    assert!(answer.body.get("bankAuthCode").is_none(), "{answer:?}");
    let refund = shop.payment(&answer.key());
    assert_eq!((refund.amount, refund.refundable()), (1000, 0));
    assert_eq!(refund.parent.as_deref(), Some(auth.as_str()));
    let twice = shop.operate("refund", &auth, None);
    assert_eq!((twice.status, twice.code(), twice.rests_on("A97")), (400, "953", true));
}

// spec: 2 §3.2, A97
#[test]
fn parts_add_up_to_the_original_and_no_further() {
    let mut shop = Shop::open();
    for original in [pay(&mut shop, 1000), {
        let preauth = reserve(&mut shop, 5000);
        shop.operate("capturepreauth", &preauth, Some(1000)).key()
    }] {
        let refund = |shop: &mut Shop, value| shop.operate("refund", &original, value).code().to_owned();
        assert_eq!(refund(&mut shop, Some(1001)), "107");
        assert_eq!(refund(&mut shop, Some(0)), "107");
        assert_eq!(refund(&mut shop, Some(1)), "600");
        assert_eq!(refund(&mut shop, Some(1000)), "107");
        assert_eq!(refund(&mut shop, Some(998)), "600");
        assert_eq!(refund(&mut shop, None), "600");
        assert_eq!(refund(&mut shop, Some(1)), "953");
        assert_eq!(refund(&mut shop, Some(0)), "107");
        assert_eq!(shop.payment(&original).refunded, 1000);
    }
}

#[test]
fn each_capture_of_a_preauth_is_refunded_by_itself() {
    let mut shop = Shop::dividing();
    let preauth = reserve(&mut shop, 1000);
    let first = shop.operate("capturepreauth", &preauth, Some(300)).key();
    let second = shop.operate("capturepreauth", &preauth, Some(700)).key();
    assert_eq!(shop.operate("refund", &first, Some(301)).code(), "107");
    assert_eq!(shop.operate("refund", &first, None).code(), "600");
    assert_eq!(shop.operate("refund", &second, None).code(), "600");
    // A refunded amount is not reserved again.
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(1)).code(), "952");
}

// spec: 2 §3.2, A95
#[test]
fn only_an_approved_auth_or_capture_is_refunded() {
    let mut shop = Shop::open();
    let auth = pay(&mut shop, 1000);
    let refund = shop.operate("refund", &auth, Some(10)).key();
    let preauth = reserve(&mut shop, 1000);
    let cancellation = shop.operate("cancelpreauth", &preauth, Some(10)).key();
    let declined = shop.call("auth", &raw(DECLINED, &[])).text("transactionKey").to_owned();
    for key in [&refund, &preauth, &cancellation, &declined] {
        let answer = shop.operate("refund", key, Some(1));
        assert_eq!((answer.status, answer.code()), (400, "951"));
    }
    assert_eq!(shop.operate("refund", NO_KEY, None).code(), "943");
    assert_eq!(shop.operate("refund", "", None).code(), "938");
}

#[test]
fn a_refund_has_no_end() {
    let mut shop = Shop::open();
    let auth = pay(&mut shop, 1000);
    shop.wait(10 * 365 * 24 * 60 * 60);
    assert_eq!(shop.operate("refund", &auth, None).code(), "600");
}

#[test]
fn a_refused_operation_changes_nothing() {
    let mut shop = Shop::open();
    let (auth, preauth) = (pay(&mut shop, 1000), reserve(&mut shop, 1000));
    let before = shop.payments();
    shop.operate("refund", &auth, Some(1001));
    shop.operate("refund", &preauth, None);
    shop.operate("capturepreauth", &preauth, Some(1001));
    shop.operate("cancelpreauth", &auth, None);
    assert_eq!(shop.payments(), before);
}

/// A value of 0 is the sandbox's decision (A96 and A97): the basis of the reply names it.
// spec: 2 §3.2, A97
#[test]
fn a_value_of_zero_is_refused_with_its_assumption() {
    let mut shop = Shop::open();
    let (auth, preauth) = (pay(&mut shop, 1000), reserve(&mut shop, 1000));
    for (method, key, assumption) in
        [("capturepreauth", &preauth, "A96"), ("cancelpreauth", &preauth, "A96"), ("refund", &auth, "A97")]
    {
        let answer = shop.operate(method, key, Some(0));
        assert_eq!((answer.code(), answer.rests_on(assumption)), ("107", true), "{method} {answer:?}");
    }
}

/// Spec 2 §4.4: the currency is taken from the original; one that is sent changes nothing.
// spec: 2 §4.4: Capture, cancel and refund take a key and an optional value in the currency of the original.
#[test]
fn captures_and_refunds_have_the_currency_of_the_payment() {
    let mut shop = Shop::open();
    for currency in ["EUR", "JPY", "BHD"] {
        let preauth = shop.call("preauth", &raw(PAN, &[("currency", currency)])).key();
        let mut operate =
            |method, key: &str| shop.call(method, &[("transactionKey", key), ("transactionValue", "10")]).key();
        let cancellation = operate("cancelpreauth", &preauth);
        let capture = operate("capturepreauth", &preauth);
        let refund = operate("refund", &capture);
        for key in [capture, cancellation, refund] {
            let row = &shop.find(&[("transactionKey", &key)])[0];
            assert_eq!((&row["currency"], &row["transactionValue"]), (&json!(currency), &json!("10")), "{row}");
        }
    }
}
