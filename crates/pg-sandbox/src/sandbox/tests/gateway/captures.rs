//! Captures of a preauth.

use super::*;

// spec: 2 §3.2 Transitions, A96: A PreAuth is captured once: in full without a value, in part with a smaller one, and
//   not at all with a larger one; the rest stays reserved.
// spec: 2 §2.3, A03; method transaction/capturepreauth; codes TransactionType Capture
// spec: codes SandboxErrorCode 952
#[test]
fn without_a_value_everything_that_is_left_is_captured() {
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    let answer = shop.operate("capturepreauth", &preauth, None);
    assert_eq!((answer.text("transactionType"), answer.text("transactionStatus")), ("Capture", "Transaction approved"));
    assert_eq!(answer.basis, "2 4.4, A41, A88, A94, A96, A131");
    assert_eq!(answer.text("bankAuthCode").len(), 6);
    let capture = shop.payment(&answer.key());
    assert_eq!((capture.amount, capture.currency.as_str(), capture.refundable()), (1000, "GBP", 1000));
    assert_eq!(capture.parent.as_deref(), Some(preauth.as_str()));
    assert_eq!(shop.payment(&preauth).captured, 1000);
    let after = shop.operate("capturepreauth", &preauth, None);
    assert_eq!((after.status, after.code(), after.rests_on("A96")), (400, "952", true));
}

// spec: 2 §3.2, A96; codes ErrorCode 107
#[test]
fn one_capture_ends_a_preauth() {
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    let capture = |shop: &mut Shop, value| shop.operate("capturepreauth", &preauth, value).code().to_owned();
    for value in [1001, u64::MAX, 0] {
        assert_eq!(capture(&mut shop, Some(value)), "107");
    }
    assert_eq!(capture(&mut shop, Some(400)), "600");
    // The rest stays reserved until the bank releases it.
    for value in [Some(1), Some(600), None] {
        assert_eq!(capture(&mut shop, value), "952");
        assert_eq!(shop.operate("cancelpreauth", &preauth, value).code(), "952");
    }
    let amounts: Vec<u64> = shop.payments()[1..].iter().map(|payment| payment.amount).collect();
    assert_eq!(amounts, [400]);
}

#[test]
fn an_account_may_capture_in_parts() {
    let mut shop = Shop::dividing();
    let preauth = reserve(&mut shop, 1000);
    let capture = |shop: &mut Shop, value| shop.operate("capturepreauth", &preauth, value).code().to_owned();
    assert_eq!(capture(&mut shop, Some(400)), "600");
    assert_eq!(capture(&mut shop, Some(601)), "107");
    assert_eq!(capture(&mut shop, Some(599)), "600");
    assert_eq!(capture(&mut shop, Some(2)), "107");
    assert_eq!(capture(&mut shop, Some(1)), "600");
    assert_eq!(capture(&mut shop, Some(1)), "952");
    let amounts: Vec<u64> = shop.payments()[1..].iter().map(|payment| payment.amount).collect();
    assert_eq!(amounts, [400, 599, 1]);
}

// spec: 2 §4.4
#[test]
fn all_of_it_with_a_value_or_without() {
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(1000)).code(), "600");
    let preauth = reserve(&mut shop, 1000);
    shop.operate("cancelpreauth", &preauth, Some(300));
    let rest = shop.operate("capturepreauth", &preauth, None).key();
    assert_eq!(shop.payment(&rest).amount, 700);
}

// spec: 2 §4.4
#[test]
fn an_empty_value_and_a_malformed_one_are_refused_and_no_value_is_all() {
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    for value in ["1.00", "-1", "+1", " 1", "1e2", "18446744073709551616", ""] {
        let pairs = [("transactionKey", preauth.as_str()), ("transactionValue", value)];
        assert_eq!(shop.call("capturepreauth", &pairs).code(), "107", "{value}");
    }
    let pairs = [("transactionKey", preauth.as_str())];
    let key = shop.call("capturepreauth", &pairs).key();
    assert_eq!(shop.payment(&key).amount, 1000);
}

// spec: 2 §3.2 Transitions, A96: preauth and preauth3DSecure create a PreAuth whose reservation expires.
// spec: 2 §8 Limits, A96: A reservation expires, in the sandbox after 5 days.
#[test]
fn a_reservation_ends_after_five_days() {
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    shop.wait(5 * 24 * 60 * 60 - 1);
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(1)).code(), "600");
    shop.wait(1);
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(1)).code(), "952");
    assert_eq!(shop.operate("cancelpreauth", &preauth, None).code(), "952");
    let payment = shop.payment(&preauth);
    assert_eq!((payment.captured, payment.cancelled), (0, 1));
}

// spec: 2 §3.2, A95; codes SandboxErrorCode 943 951
#[test]
fn only_an_approved_preauth_is_captured_or_cancelled() {
    let mut shop = Shop::open();
    let auth = pay(&mut shop, 1000);
    let preauth = reserve(&mut shop, 1000);
    let cancellation = shop.operate("cancelpreauth", &preauth, Some(10)).key();
    let capture = shop.operate("capturepreauth", &preauth, Some(10)).key();
    let refund = shop.operate("refund", &auth, Some(10)).key();
    let declined = shop.call("preauth", &raw(DECLINED, &[])).text("transactionKey").to_owned();
    for method in ["capturepreauth", "cancelpreauth"] {
        for key in [&auth, &capture, &cancellation, &refund, &declined] {
            let answer = shop.operate(method, key, Some(1));
            assert_eq!((answer.status, answer.code(), answer.rests_on("A95")), (400, "951", true));
        }
        assert_eq!(shop.operate(method, NO_KEY, None).code(), "943");
        assert_eq!(shop.operate(method, "too-short", None).code(), "937");
        assert_eq!(shop.operate(method, "", None).code(), "938");
    }
}

// spec: 2 §3.2, A94: Captures, cancellations and refunds take references of their own. Missing ones are copied from the
//   original, except the unique one.
#[test]
fn references_are_copied_but_the_unique_one() {
    let mut shop = Shop::open();
    let references = [
        ("merchantReference", "order 7"),
        ("uniqueMerchantReference", "u-7"),
        ("merchantCustomerReference", "customer-7"),
        ("terminalKey", "main-web"),
        ("cardholderName", "A Customer"),
    ];
    let preauth = shop.call("preauth", &raw(PAN, &references)).key();
    for method in ["cancelpreauth", "capturepreauth"] {
        let key = shop.operate(method, &preauth, Some(1)).key();
        let made = shop.payment(&key);
        assert_eq!(made.merchant_reference.as_deref(), Some("order 7"));
        assert_eq!(made.customer_reference.as_deref(), Some("customer-7"));
        assert_eq!(made.unique_reference, None);
        let details: Vec<_> = made.details.keys().map(String::as_str).collect();
        assert_eq!(details, ["cardholderName", "terminalKey"]);
        assert_eq!(made.card.unwrap().number(&shop.sandbox.vault, &key).unwrap().expose(), PAN);
    }
}

#[test]
fn a_capture_of_a_no_response_card_is_approved() {
    // The card matters to new payments only, so a reservation with another card shows it.
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    let card = shop.seal(&preauth, SILENT, ("05", "2026"));
    let changed = Payment { card: Some(card), ..shop.payment(&preauth) };
    shop.put(&changed);
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(1)).code(), "600");
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(1)).code(), "600");
}
