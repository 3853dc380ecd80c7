use super::*;

#[test]
fn hints_are_looked_up_and_only_a_payment_of_this_token_counts() {
    let mut run = Run::waiting(None);
    assert_eq!(run.tell("key-1").method(), "transaction_lookup");
    assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });

    for other in [
        looked_up("Success", "token-2", "1,000.00", "GBP"),
        looked_up("Failed", "token-1", "1,000.00", "GBP"),
        looked_up("Failed", "", "1,000.00", "GBP"),
    ] {
        let mut run = Run::waiting(None);
        run.tell("key-1").say(&other).wait();
        assert!(!run.redirect().0.is_empty());
        assert_eq!(run.machine.state.unclear, None);
    }
    let mut run = Run::waiting(None);
    run.tell("key-1").refuse("943").wait();
    assert!(!run.redirect().0.is_empty() && run.machine.state.unclear.is_none());
}

#[test]
fn an_unclear_lookup_counts_as_neither_paid_nor_failed() {
    for odd in [
        looked_up("Success", "token-1", "999.00", "GBP"),
        looked_up("Success", "token-1", "1,000.00", "EUR"),
        looked_up("Success", "token-1", "1,000.00", ""),
        looked_up("Success", "token-1", "1000", "GBP"),
        looked_up("Refunded", "token-1", "1,000.00", "GBP"),
        looked_up("success", "token-1", "1,000.00", "GBP"),
        // Without a token it may belong to this checkout or to another one.
        looked_up("Success", "", "1,000.00", "GBP"),
        paid().replace("<token>token-1</token>", ""),
    ] {
        let mut run = Run::waiting(Some("order-7"));
        run.tell("key-1").say(&odd).wait();
        assert!(!run.redirect().0.is_empty());
        run.withdraw().say(&cancelled("1")).wait().say(&odd).wait().say(&found(&[])).wait();
        let expected = CheckoutOutcome::Unknown { reconcile: by_key("key-1"), why: UnknownReason::Unclear };
        assert_eq!(*run.ended(), expected);
    }
    // A true payment that comes later still counts.
    let mut run = Run::waiting(None);
    run.tell("key-1").say(&looked_up("Odd", "token-1", "1,000.00", "GBP")).wait().tell("key-2").say(&paid());
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-2".to_owned() });
}

/// A transaction of this token is a better candidate than one without a token.
#[test]
fn a_candidate_without_a_token_replaces_none_of_this_checkout() {
    let mut run = Run::waiting(None);
    run.tell("key-1").say(&looked_up("Odd", "token-1", "1,000.00", "GBP")).wait();
    run.tell("key-2").say(&looked_up("Odd", "", "1,000.00", "GBP")).wait();
    run.withdraw().say(&cancelled("1")).wait().say(&looked_up("Odd", "", "1,000.00", "GBP")).wait();
    run.say(&looked_up("Odd", "token-1", "1,000.00", "GBP")).wait();
    let expected = CheckoutOutcome::Unknown { reconcile: by_key("key-1"), why: UnknownReason::Unclear };
    assert_eq!(*run.ended(), expected);
}

/// Anyone can report the key of a foreign payment of version 3, which belongs to no token.
#[test]
fn a_foreign_payment_without_a_token_keeps_no_checkout_from_lapsing() {
    for foreign in [
        looked_up("Success", "", "0.77", "EUR"),
        looked_up("Success", "", "1,000.00", "EUR"),
        looked_up("Success", "", "0.77", "GBP"),
        looked_up("Odd", "", "0.77", ""),
    ] {
        let mut run = Run::waiting(Some("order-7"));
        run.tell("key-1").say(&foreign).wait().withdraw().say(&cancelled("1")).wait().say(&found(&[])).wait();
        assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true }, "{foreign}");
    }
    // It may be the payment: nothing is paid yet, or the reply does not say how much.
    for value in ["0.00", "", "77"] {
        let mut run = Run::waiting(Some("order-7"));
        run.tell("key-1").say(&looked_up("Odd", "", value, "GBP")).wait();
        assert_eq!(run.machine.state.unclear.as_deref(), Some("key-1"), "{value}");
    }
}

/// The service may refuse a key of another merchant with any status and code.
#[test]
fn a_forged_report_whose_lookup_is_forbidden_ends_no_checkout_and_delays_no_genuine_report() {
    for status in [401, 403] {
        let mut run = Run::waiting(None);
        run.tell("forged").tell("genuine");
        let forbidden = Bytes::from_static(b"<serviceResponse><errorcode>17</errorcode></serviceResponse>");
        run.step(Event::Reply(http::Response::builder().status(status).body(forbidden).unwrap())).wait();
        assert_eq!(run.method(), "transaction_lookup");
        assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "genuine".to_owned() });

        let mut run = Run::waiting(None);
        run.tell("forged").say_with(status, "<serviceResponse><errorcode>17</errorcode></serviceResponse>").wait();
        assert!(!run.redirect().0.is_empty());
        assert_eq!(
            *run.tell("genuine").say(&paid()).ended(),
            CheckoutOutcome::Paid { trans_key: "genuine".to_owned() }
        );
    }
}

#[test]
fn a_token_that_reserves_is_paid_by_a_reservation_whatever_its_value() {
    let reserving = |kind: &str| {
        let mut request = request(None);
        request.trans_type = Some(kind.into());
        let mut run = Run::of(Checkout::new(account(), request, CheckoutPlan::default()).unwrap());
        run.step(Event::Begin).say(&token());
        run
    };
    let reserved = CheckoutOutcome::Paid { trans_key: "key-1".to_owned() };
    for kind in ["PreAuth", "preauth"] {
        for reply in [
            looked_up("Success", "token-1", "0.00", "GBP"),
            looked_up("Success", "token-1", "1,000.00", "GBP"),
            looked_up("Success", "token-1", "400.00", "GBP"),
            looked_up("SUCCESS", "token-1", "", ""),
        ] {
            assert_eq!(*reserving(kind).tell("key-1").say(&reply).ended(), reserved, "{reply}");
            assert_eq!(*reserving(kind).crash().tell("key-1").say(&reply).ended(), reserved, "{reply}");
        }
    }
    for reply in [
        looked_up("Success", "token-1", "0.00", "EUR"),
        looked_up("Success", "", "0.00", "GBP"),
        looked_up("Success", "", "400.00", "GBP"),
        looked_up("Cancelled", "token-1", "0.00", "GBP"),
    ] {
        let mut run = reserving("PreAuth");
        run.tell("key-1").say(&reply).wait();
        assert_eq!(run.machine.state.unclear.as_deref(), Some("key-1"), "{reply}");
    }
    let mut run = reserving("Auth");
    run.tell("key-1").say(&looked_up("Success", "token-1", "0.00", "GBP")).wait();
    assert_eq!(run.machine.state.unclear.as_deref(), Some("key-1"));
}

#[test]
fn a_state_of_an_earlier_version_does_not_say_whether_its_token_reserves() {
    let saved = Run::waiting(None).machine.save().text().to_owned();
    let earlier = saved.replace("\"reserves\":false,", "");
    assert_ne!(earlier, saved);
    let saved = SavedState::from_text(earlier);
    let mut run = Run::of(Checkout::resume(&saved, account(), CheckoutPlan::default()).unwrap());
    run.step(Event::Begin).tell("key-1").say(&looked_up("Success", "token-1", "0.00", "GBP")).wait();
    assert_eq!(run.machine.state.unclear.as_deref(), Some("key-1"));
    assert_eq!(*run.tell("key-2").say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-2".to_owned() });
}

#[test]
fn forged_hints_cost_one_lookup_a_second_and_do_not_extend_the_deadline() {
    let mut run = Run::waiting(None);
    run.now = NOON.after(Duration::from_secs(3_000));
    let (mut lookups, mut news) = (0, 0);
    while !matches!(run.last, Some(Action::Done(_))) {
        match run.last.take() {
            Some(send @ Action::Send(_)) => {
                run.last = Some(send);
                lookups += 1;
                let cancel = run.method() == "canceltoken";
                if cancel {
                    run.say(&cancelled("1"))
                } else {
                    run.refuse("943")
                };
            }
            _ => {
                run.now = run.now.after(Duration::from_millis(700));
                run.tell(&format!("made-up-{news}"));
            }
        }
        news += 1;
    }
    assert!(
        lookups > 100 && Duration::from_secs(lookups) <= run.now.since(NOON.after(Duration::from_secs(3_000))),
        "{lookups}"
    );
    run.tell("made-up");
    assert!(matches!(run.ended(), CheckoutOutcome::Unknown { why: UnknownReason::NotReported, .. }));
}

#[test]
fn hints_without_a_key_are_ignored_and_others_survive_a_crash() {
    let mut run = Run::waiting(None);
    for odd in ["", "a b", "\u{7}", &"k".repeat(33)] {
        run.tell(odd);
        assert!(!run.redirect().0.is_empty());
    }
    run.tell("key-1");
    assert_eq!(run.crash().method(), "transaction_lookup");
    assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
}

#[test]
fn lookups_are_tried_again_and_a_key_that_cannot_be_looked_up_is_not_forgotten() {
    let mut run = Run::waiting(None);
    run.tell("key-1").fail(Failure::MaybeSent).wait().fail(Failure::NotSent).wait().say("<html>").wait();
    assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
    let mut run = Run::waiting(None);
    run.tell("key-1");
    for _ in 0..8 {
        run.fail(Failure::MaybeSent).wait();
    }
    assert!(!run.redirect().0.is_empty());
    run.withdraw().say(&cancelled("1")).wait();
    for _ in 0..8 {
        run.fail(Failure::MaybeSent).wait();
    }
    assert!(
        matches!(run.ended(), CheckoutOutcome::Unknown { reconcile, why: UnknownReason::Unclear } if *reconcile == by_key("key-1"))
    );
    for code in ["3", "102", "106"] {
        let mut run = Run::waiting(None);
        let end = run.tell("k").refuse(code).ended();
        assert!(matches!(end, CheckoutOutcome::Unknown { why: UnknownReason::LookupRefused(_), .. }), "{code}");
    }
    let mut run = Run::waiting(None);
    let end = run.tell("k").fail(Failure::HeldBack).ended();
    assert!(matches!(end, CheckoutOutcome::Unknown { why: UnknownReason::HeldBack, .. }));
}

#[test]
fn events_that_do_not_fit_change_nothing() {
    let mut run = Run::waiting(None);
    let before = run.machine.save();
    run.step(Event::Begin).step(Event::Woken).step(Event::Failed(Failure::MaybeSent));
    run.step(Event::Reply(http::Response::new(Bytes::from(paid()))));
    assert_eq!((run.redirect().1, run.machine.save()), (NOON.after(HOUR), before));
    run.tell("key-1").step(Event::Woken).step(Event::Begin);
    assert!(matches!(run.last, Some(Action::WaitUntil(UNTIL_THE_REPLY))));
    run.step(Event::Reply(http::Response::new(Bytes::from(paid()))));
    let end = run.ended().clone();
    run.tell("key-2").step(Event::Woken).withdraw();
    assert_eq!(*run.ended(), end);
}

#[test]
fn a_pending_payment_is_looked_up_until_it_is_paid_or_the_attempts_end() {
    let pending = || looked_up("Processing", "token-1", "1,000.00", "GBP");
    let mut run = Run::waiting(Some("order-7"));
    run.tell("key-1").say(&pending()).wait();
    assert_eq!(run.method(), "transaction_lookup");
    assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });

    let mut run = Run::waiting(Some("order-7"));
    run.tell("key-1");
    for _ in 0..8 {
        run.say(&pending()).wait();
    }
    run.withdraw().say(&cancelled("1")).wait();
    for _ in 0..8 {
        run.say(&pending()).wait();
    }
    run.say(&found(&[])).wait();
    let expected = CheckoutOutcome::Unknown { reconcile: by_key("key-1"), why: UnknownReason::Unclear };
    assert_eq!(*run.ended(), expected);
}

#[test]
fn another_spelling_of_success_counts_if_the_dialect_has_it() {
    let mut run = Run::waiting(None);
    run.tell("key-1").say(&looked_up("SUCCESS", "token-1", "1,000.00", "GBP"));
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
}
