//! Cancellations of a preauth.

use super::*;

// spec: 2 §3.2 Transitions, A96: A PreAuth is cancelled, in full or in part.
// spec: method transaction/cancelpreauth; codes TransactionType CancelPreAuth
#[test]
fn without_a_value_everything_that_is_left_is_cancelled() {
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    let answer = shop.operate("cancelpreauth", &preauth, None);
    assert_eq!((answer.code(), answer.text("transactionType")), ("600", "CancelPreAuth"));
    assert_eq!(answer.basis, "2 4.4, A41, A88, A94, A96, A131");
    assert!(answer.body.get("bankAuthCode").is_none(), "{answer:?}");
    let cancellation = shop.payment(&answer.key());
    assert_eq!((cancellation.amount, cancellation.refundable(), cancellation.reserved()), (1000, 0, 0));
    for method in ["capturepreauth", "cancelpreauth"] {
        assert_eq!(shop.operate(method, &preauth, None).code(), "952");
    }
}

// spec: 2 §3.2, A96
#[test]
fn captures_and_cancellations_share_the_reserved_amount() {
    let mut shop = Shop::dividing();
    let preauth = reserve(&mut shop, 1000);
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(0)).code(), "107");
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(1001)).code(), "107");
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(600)).code(), "600");
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(401)).code(), "107");
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(300)).code(), "600");
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(101)).code(), "107");
    let rest = shop.operate("cancelpreauth", &preauth, None).key();
    assert_eq!(shop.payment(&rest).amount, 100);
    let payment = shop.payment(&preauth);
    assert_eq!((payment.captured, payment.cancelled, payment.reserved()), (600, 400, 0));
    assert_eq!(shop.operate("capturepreauth", &preauth, None).code(), "952");
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(0)).code(), "107");
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(0)).code(), "107");
}

// spec: 2 §3.2, A96
#[test]
fn a_partial_cancellation_leaves_the_rest() {
    let mut shop = Shop::open();
    let preauth = reserve(&mut shop, 1000);
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(300)).code(), "600");
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(200)).code(), "600");
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(501)).code(), "107");
    assert_eq!(shop.operate("capturepreauth", &preauth, Some(499)).code(), "600");
    assert_eq!(shop.operate("cancelpreauth", &preauth, Some(1)).code(), "952");
}
