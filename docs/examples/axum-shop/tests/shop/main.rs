//! The shop over real HTTP, against a sandbox that listens: a browser that follows forms and redirects, replies that get
//! lost, and a shop that is killed and started again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod fleet;
mod place;

use http::StatusCode;
use place::{Card, Place};

const CHALLENGED: Card = Card("4000000000005001");
const APPROVED_TOO: &str = "4111111111111111";

#[test]
fn a_card_is_paid_with_3d_secure_also_when_every_reply_is_lost_once() {
    let place = Place::new();
    for fault in [
        "",
        "transaction/initiate3DSecureSessionKey",
        "transaction/getAuthenticationStatus",
        "transaction/auth3DSecure",
    ] {
        let order = place.buy();
        let challenge = place.enter_card(&order, CHALLENGED);
        // A lost initiation cannot be resumed: the shop says that nothing was paid, and the customer tries again.
        assert!(challenge.contains("/3ds/"), "{challenge}");
        if !fault.is_empty() {
            place.fault(fault, "drop-reply");
        }
        if fault.contains("initiate") {
            let another = place.buy();
            assert_eq!(place.enter_card(&another, CHALLENGED), another);
            assert!(place.settled(&another).contains("Not paid"), "{fault}");
            assert_eq!(place.again(&another, CHALLENGED), "Paid");
            place.one_payment(&another);
        }
        place.answer_challenge(&challenge, "authenticate");
        assert!(place.settled(&order).contains("Paid"), "{fault}");
        place.one_payment(&order);
        // Reloaded, everything stays as it is.
        assert_eq!(place.get(&format!("{order}/card")).status(), StatusCode::SEE_OTHER);
        assert_eq!(place.get(&format!("{order}/back")).status(), StatusCode::SEE_OTHER);
        place.one_payment(&order);
    }
}

#[test]
fn a_customer_who_leaves_the_challenge_has_not_paid_and_can_try_again() {
    let place = Place::new();
    let order = place.buy();
    for button in ["fail", "abandon"] {
        let challenge = place.enter_card(&order, CHALLENGED);
        place.answer_challenge(&challenge, button);
        assert!(place.settled(&order).contains("Not paid"), "{button}");
        assert_eq!(place.payments(&order), 0);
        place.post(&format!("{order}/again"), &[]);
    }
    let challenge = place.enter_card(&order, CHALLENGED);
    place.answer_challenge(&challenge, "authenticate");
    assert!(place.settled(&order).contains("Paid"));
    place.one_payment(&order);
    // A customer does not pay twice by trying again.
    place.post(&format!("{order}/again"), &[]);
    assert!(place.settled(&order).contains("Paid"));
}

#[test]
fn the_card_form_is_shown_again_with_its_mistakes() {
    let place = Place::new();
    let order = place.buy();
    let (action, hidden) = place.card_form(&order);
    let reply = place.post_card(&action, &hidden, &Card("41111111"));
    let page = place.page(&reply);
    assert!(page.contains("<li>cardNumber: ") && page.contains(&hidden[0].1), "{page}");
    assert_eq!(place.payments(&order), 0);
    assert!(place.settled(&order).contains("To pay"));
}

#[test]
fn killed_while_the_reply_is_on_its_way_it_finds_the_payment_and_makes_no_other() {
    let mut place = Place::new();
    let order = place.buy();
    let challenge = place.enter_card(&order, CHALLENGED);
    // The service has paid, and answers in an hour.
    place.fault_with(r#"{"method": "transaction/auth3DSecure", "kind": "delay", "delaySeconds": 3600}"#);
    place.answer_challenge(&challenge, "authenticate");
    while place.payments(&order) == 0 {}
    place.restart();
    assert!(place.settled(&order).contains("Paid"));
    place.one_payment(&order);
}

#[test]
fn started_again_while_the_customer_is_at_the_bank_it_goes_on_when_they_come_back() {
    let mut place = Place::new();
    let order = place.buy();
    let challenge = place.enter_card(&order, CHALLENGED);
    place.restart();
    place.answer_challenge(&challenge, "authenticate");
    assert!(place.settled(&order).contains("Paid"));
    place.one_payment(&order);
}

#[test]
fn the_hosted_page_is_paid_and_callback_and_return_tell_of_it_also_after_a_restart() {
    let mut place = Place::new();
    for (restarted, returns) in [(false, true), (false, false), (true, true), (true, false)] {
        let order = place.buy();
        let page = place.post(&format!("{order}/hosted"), &[]);
        if restarted {
            place.restart();
        }
        let success = place.pay_hosted(&page, APPROVED_TOO);
        assert!(success.contains(&format!("{order}/paid?trans_key=")), "{success}");
        // Without the browser the callback tells of it.
        if returns {
            place.get(&success);
        }
        assert!(place.settled(&order).contains("Paid"), "{restarted} {returns}");
    }
}

// spec: 3 §6, A133
#[test]
fn a_forged_return_pays_nothing() {
    let place = Place::new();
    let order = place.buy();
    let _page = place.post(&format!("{order}/hosted"), &[]);
    let forged = place.get(&format!("{order}/paid?trans_key=0123456789abcdef0123456789abcdef"));
    assert_eq!(forged.status(), StatusCode::SEE_OTHER);
    let page = place.until(&order, |page| page.contains("Continue with your payment"));
    assert!(!page.contains("Paid"));
    for path in ["/orders/0123", "/orders/0123/card", "/callbacks/0123456789abcdef0123456789abcdef"] {
        assert_eq!(place.get(&place.address(path)).status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn after_a_stop_a_payment_in_progress_continues_at_the_next_start() {
    let mut place = Place::new();
    let order = place.buy();
    let challenge = place.enter_card(&order, CHALLENGED);
    place.stop().unwrap();
    place.start();
    let page = place.until(&order, |page| page.contains("Continue with your payment"));
    assert!(page.contains(&challenge), "{page}");
    assert_eq!(place.get(&order).headers()["referrer-policy"], "no-referrer");
}
