//! The shop over real HTTP, against a sandbox that listens: a browser that follows forms and redirects, replies that get
//! lost, and a shop that is killed and started again.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod fleet;
mod place;

use http::StatusCode;
use place::{APPROVED_TOO, CHALLENGED, Card, Place};

#[test]
fn a_program_that_cannot_start_says_why_and_what_to_do() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for program in [env!("CARGO_BIN_EXE_axum-shop"), env!("CARGO_BIN_EXE_fleet-shop")] {
        let said = |variables: &[(&str, &str)]| {
            let account =
                ["PG_API_KEY", "PG_API_PASSWORD", "PG_SHA_KEY", "PG_ENTERPRISE_API_KEY", "PG_ENTERPRISE_API_PASSWORD"];
            let mut command = std::process::Command::new(program);
            command.env("PG_BASE_URL", "http://127.0.0.1:1").env("PG_ENTERPRISE_BASE_URL", "http://127.0.0.1:1");
            command.envs(account.map(|name| (name, "any"))).envs(variables.iter().copied());
            let ended = command.output().unwrap();
            assert_eq!(ended.status.code(), Some(1), "{ended:?}");
            String::from_utf8(ended.stderr).unwrap()
        };
        let told = said(&[("SHOP_LISTEN", &taken)]);
        assert!(told.starts_with(&format!("cannot listen on {taken}: ")), "{told}");
        assert!(told.ends_with("; choose another with SHOP_LISTEN\n"), "{told}");
        let told = said(&[("SHOP_LISTEN", "127.0.0.1:0"), ("SHOP_DIALECT", "nope.toml")]);
        assert!(told.starts_with("SHOP_DIALECT: cannot read nope.toml: "), "{told}");
    }
}

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
    // The input has the focus, and a screen reader says the mistake with it.
    let input =
        r#"<input id="cardNumber" name="cardNumber" aria-invalid="true" aria-describedby="cardNumber-error" autofocus"#;
    assert!(page.contains(input) && page.contains(r#"<p id="cardNumber-error">Invalid card number"#), "{page}");
    assert!(page.contains("<title>Error: Your card</title>") && page.contains(&hidden[0].1), "{page}");
    assert_eq!(page.matches("aria-invalid").count(), 1, "{page}");
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
    place.until_paid_anything();
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

/// The shop is looking up a made-up transaction, whose reply takes an hour.
fn busy_with_a_made_up_return(place: &Place, order: &str) {
    place.fault_with(r#"{"method": "enterprise/transaction_lookup", "kind": "delay", "delaySeconds": 3600}"#);
    assert_eq!(place.get(&format!("{order}/paid?trans_key=madeup")).status(), StatusCode::SEE_OTHER);
    while place.calls("enterprise/transaction_lookup") == 0 {}
}

#[test]
fn a_return_that_was_answered_is_kept_when_the_shop_is_killed() {
    let mut place = Place::new();
    place.control("callbacks/behaviour", r#"{"kind": "fail"}"#);
    let order = place.buy();
    let page = place.post(&format!("{order}/hosted"), &[]);
    busy_with_a_made_up_return(&place, &order);
    let success = place.pay_hosted(&page, APPROVED_TOO);
    assert_eq!(place.get(&success).status(), StatusCode::SEE_OTHER);
    place.restart();
    assert!(place.settled(&order).contains("Paid"));
}

#[test]
fn a_callback_is_looked_up_before_made_up_returns_and_a_return_without_room_is_not_confirmed() {
    let place = Place::new();
    let order = place.buy();
    let page = place.post(&format!("{order}/hosted"), &[]);
    let mut stored = 0;
    while place.get(&format!("{order}/paid?trans_key=madeup{stored}")).status() == StatusCode::SEE_OTHER {
        stored += 1;
    }
    // Each waits a second for its lookup.
    assert!((16..100).contains(&stored), "{stored}");
    let success = place.pay_hosted(&page, APPROVED_TOO);
    assert!(place.settled(&order).contains("Paid"));
    assert!(place.calls("enterprise/transaction_lookup") < stored, "the callback was looked up first");
    assert_eq!(place.get(&success).status(), StatusCode::SEE_OTHER);
}

#[test]
fn a_return_from_the_bank_that_was_stored_before_a_stop_is_acted_on_at_the_next_start() {
    let mut place = Place::new();
    let order = place.buy();
    let challenge = place.enter_card(&order, CHALLENGED);
    place.post(&challenge, &[("outcome".to_owned(), "authenticate".to_owned())]);
    place.stop().unwrap();
    // The shop stored it, and did no more.
    place.edit(&order, r#""returned":false"#, r#""returned":true"#);
    place.start();
    assert!(place.settled(&order).contains("Paid"));
    place.one_payment(&order);
}

#[test]
fn an_unknown_payment_is_looked_up_until_it_is_found() {
    let place = Place::new();
    let hosted = place.paid_unnoticed();
    let card = place.paid_without_a_reply();
    place.post(&format!("{hosted}/withdraw"), &[]);
    for order in [&hosted, &card] {
        place.until(order, |page| page.contains("do not know yet"));
    }
    place.clear_faults();
    for order in [&hosted, &card] {
        assert!(place.until(order, |page| !page.contains("do not know yet")).contains("Paid"));
    }
    for order in [&hosted, &card] {
        place.one_payment(order);
    }
}

#[test]
fn a_callback_that_comes_after_the_search_failed_settles_the_order_also_after_a_restart() {
    for restarts in [false, true] {
        let mut place = Place::new();
        let order = place.paid_unnoticed();
        place.lose_lookups();
        place.post(&format!("{order}/withdraw"), &[]);
        place.until(&order, |page| page.contains("do not know yet"));
        if restarts {
            place.restart();
            assert!(place.page(&order).contains("do not know yet"));
        }
        let callbacks = place.listed("callbacks");
        place.control(&format!("callbacks/{}/redeliver", callbacks[0]["id"].as_str().unwrap()), "");
        assert!(place.until(&order, |page| !page.contains("do not know yet")).contains("Paid"));
        place.clear_faults();
        place.one_payment(&order);
    }
}

#[test]
fn an_unknown_order_whose_payment_cannot_be_resumed_keeps_its_callback() {
    let mut place = Place::new();
    let order = place.paid_unnoticed();
    place.lose_lookups();
    place.post(&format!("{order}/withdraw"), &[]);
    place.until(&order, |page| page.contains("do not know yet"));
    place.stop().unwrap();
    // As a newer version of the shop saves it.
    let (this, newer) = (r#"\"version\":1,"#, r#"\"version\":9,"#);
    place.edit(&order, this, newer);
    place.start();
    assert!(place.page(&order).contains("do not know yet"));
    let callbacks = place.listed("callbacks");
    let called = format!("callbacks/{}/redeliver", callbacks[0]["id"].as_str().unwrap());
    place.control(&called, "");
    // Other orders are paid.
    place.clear_faults();
    let another = place.buy();
    assert_eq!(place.again(&another, CHALLENGED), "Paid");
    place.stop().unwrap();
    place.edit(&order, newer, this);
    place.lose_lookups();
    place.start();
    assert!(place.until(&order, |page| !page.contains("do not know yet")).contains("Paid"));
    place.clear_faults();
    place.one_payment(&order);
}

#[test]
fn a_payment_that_was_declined_without_a_reply_can_be_tried_again() {
    let mut place = Place::new();
    let order = place.buy();
    place.stop().unwrap();
    place.edit(&order, r#""Open":{"sessions":[]}"#, r#""Unknown":{"why":"the reply was lost"}"#);
    place.decline(&order);
    place.start();
    assert!(place.until(&order, |page| !page.contains("do not know yet")).contains("Not paid: your bank has declined"));
}

#[test]
fn a_payment_that_was_refunded_or_has_another_amount_does_not_pay_an_unknown_order() {
    let mut place = Place::new();
    let hosted = place.paid_unnoticed();
    place.refund_all();
    let card = place.paid_without_a_reply();
    place.post(&format!("{hosted}/withdraw"), &[]);
    for order in [&hosted, &card] {
        place.until(order, |page| page.contains("do not know yet"));
    }
    place.stop().unwrap();
    place.edit(&card, "\"pence\":499", "\"pence\":498");
    place.clear_faults();
    place.start();
    let before = place.calls("transaction/lookup");
    // Several of both orders.
    while place.calls("transaction/lookup") < before + 8 {}
    for order in [&hosted, &card] {
        assert!(place.page(order).contains("do not know yet"), "{order}");
    }
    place.stop().unwrap();
    place.edit(&card, "\"pence\":498", "\"pence\":499");
    place.start();
    assert!(place.until(&card, |page| !page.contains("do not know yet")).contains("Paid"));
}

#[test]
fn a_card_is_paid_with_the_session_of_its_form_whatever_other_tabs_open() {
    let place = Place::new();
    let order = place.buy();
    let (action, hidden) = place.card_form(&order);
    let back = place.post_card(&action, &hidden, &CHALLENGED);
    // Another tab shows the form, a return that cannot be read does, and so does an expired session.
    place.card_form(&order);
    assert!(place.page(&format!("{order}/card?formId=x&data=junk&iv=junk")).contains("Card number"));
    let (action, hidden) = place.card_form(&order);
    let failed = place.post(&action, &hidden);
    assert!(place.page(&failed).contains("Please enter your card again"));
    let challenge = place.location(&place.get(&back));
    assert!(challenge.contains("/3ds/"), "{challenge}");
    place.answer_challenge(&challenge, "authenticate");
    assert!(place.settled(&order).contains("Paid"));
    place.one_payment(&order);
}

#[test]
fn a_card_of_an_earlier_attempt_is_not_paid_by_a_later_one() {
    let place = Place::new();
    let order = place.buy();
    let (action, hidden) = place.card_form(&order);
    let back = place.post_card(&action, &hidden, &CHALLENGED);
    let challenge = place.location(&place.get(&back));
    place.answer_challenge(&challenge, "fail");
    assert!(place.settled(&order).contains("Not paid"));
    place.post(&format!("{order}/again"), &[]);
    place.card_form(&order);
    assert!(place.page(&back).contains("Please enter your card again"));
    assert!(place.settled(&order).contains("To pay"));
}

#[test]
fn after_an_expired_session_the_form_says_so_and_has_another_session() {
    let place = Place::new();
    let order = place.buy();
    let (action, hidden) = place.card_form(&order);
    place.control("clock", r#"{"advanceSeconds": 1860}"#);
    let back = place.post_card(&action, &hidden, &CHALLENGED);
    assert!(place.page(&back).contains("Session expired"));
    // Reloaded, it is an old return, and opens no further session.
    let sessions = place.calls("session/initiate");
    assert!(place.page(&back).contains("Session expired"));
    assert_eq!(place.calls("session/initiate"), sessions);
    assert!(place.enter_card(&order, CHALLENGED).contains("/3ds/"));
}

#[test]
fn a_customer_who_leaves_the_hosted_page_can_pay_in_another_way() {
    let place = Place::new();
    let order = place.buy();
    let page = place.post(&format!("{order}/hosted"), &[]);
    assert!(place.page(&order).contains("Pay in another way"));
    place.post(&format!("{order}/withdraw"), &[]);
    assert!(place.settled(&order).contains("Not paid: the payment page is closed"));
    assert_eq!(place.get(&page).status(), StatusCode::GONE);
    assert_eq!(place.again(&order, CHALLENGED), "Paid");
    place.one_payment(&order);
}

#[test]
fn a_payment_without_confirmation_says_why_in_the_words_of_the_service() {
    let place = Place::new();
    let order = place.buy();
    let away = place.enter_card(&order, Card("4000000000007007"));
    let back = place.location(&place.get(&away));
    place.get(&back);
    assert!(place.settled(&order).contains("has not confirmed it (Card does not support 3-D Secure)"));
    // The bank cannot be asked.
    let order = place.buy();
    assert_eq!(place.enter_card(&order, Card("4000000000004004")), order);
    assert!(place.settled(&order).contains("could not be asked to confirm it"));
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
    assert_eq!(place.get(&order).headers()["referrer-policy"], "same-origin");
}
