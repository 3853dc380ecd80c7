//! A failure or a decline that may be the reply to a second copy of a request.

use super::*;

#[test]
fn a_failed_operation_of_version_3_may_be_the_second_copy_too() {
    fn is_unknown<M: ApiRequest<Output: Clone + fmt::Debug>>(request: M, kind: &str) -> bool {
        let account = account().with_dialect(crate::spoken::sandbox());
        let mut retry = Retry::new(account, request, RetryBounds::default()).unwrap();
        begin(&mut retry, NOW);
        let status = "<transactionStatusCode>901</transactionStatusCode>";
        let body = format!("<serviceResponse><transactionType>{kind}</transactionType>{status}</serviceResponse>");
        matches!(done(retry.step(answer(200, &body), NOW, 0)), RetryOutcome::Unknown { .. })
    }
    let key = "0123456789abcdef0123456789abcdef";
    assert!(is_unknown(CapturePreauth::new(key), "Capture"));
    assert!(is_unknown(CancelPreauth::new(key), "CancelPreAuth"));
    assert!(is_unknown(Refund::new(key), "Refund"));
}

#[test]
fn a_decline_may_be_the_reply_to_a_second_copy_of_a_payment_with_a_reference() {
    let ended = |named, reference| {
        let mut dialect = (*crate::spoken::sandbox()).clone();
        dialect.errors.retain(|entry| named || entry.situations != ["duplicate-unique-reference"]);
        let mut order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
        order.unique_merchant_reference = order.unique_merchant_reference.filter(|_| reference);
        let request = AuthSessionKey::new("0123456789abcdef0123456789abcdef", order);
        let mut retry = Retry::new(account().with_dialect(dialect), request, RetryBounds::default()).unwrap();
        begin(&mut retry, NOW);
        done(retry.step(answer(200, r#"{"transactionStatusCode":"901","transactionType":"Auth"}"#), NOW, 0))
    };
    assert!(matches!(ended(true, true), RetryOutcome::Answered(Outcome::Declined(_))));
    assert!(matches!(ended(false, false), RetryOutcome::Answered(Outcome::Declined(_))));
    let RetryOutcome::Unknown { reconcile, why: UnknownReason::Failed(..) } = ended(false, true) else { panic!() };
    assert!(reconcile.transaction().is_some());
}

/// For example the service refuses a second deletion.
#[test]
fn a_refusal_after_a_crash_may_be_that_of_a_second_copy() {
    let mut retry = lookup(3);
    begin(&mut retry, NOW);
    let mut resumed = Retry::resume(&retry.save(), account(), TokenLookup::new().card_key("card-key")).unwrap();
    begin(&mut resumed, NOW);
    let outcome = done(resumed.step(error(400, "108"), NOW, 0));
    assert!(matches!(outcome, RetryOutcome::Unknown { why: UnknownReason::Refused(_), .. }), "{outcome:?}");
}

#[test]
fn a_request_that_is_held_back_after_another_one_left_is_unknown() {
    let mut retry = lookup(3);
    begin(&mut retry, NOW);
    let pause = wait(retry.step(error(403, "121"), NOW, 0));
    assert!(matches!(retry.step(Event::Woken, NOW.after(pause), 0), Action::Send(_)));
    let outcome = done(retry.step(Event::Failed(Failure::HeldBack), NOW.after(pause), 0));
    assert!(matches!(outcome, RetryOutcome::Unknown { why: UnknownReason::HeldBack, .. }), "{outcome:?}");
}
