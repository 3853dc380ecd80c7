//! Cancellations and searches that are repeated while the token is not cancelled.

use super::{closing::again, *};

#[test]
fn while_the_token_is_not_cancelled_the_cancellation_and_a_search_are_repeated() {
    let withdrawn = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw();
        run.loses(8, "canceltoken");
        let round = run.later(31).step(Event::Woken).waits();
        assert!((260..=600).contains(&round.as_secs()), "{round:?}");
        // A crash does not cut the pause short, and a report is looked up at once.
        assert_eq!(run.crash().waits(), round);
        assert_eq!(run.tell("key-0").method(), "transaction_lookup");
        run.say(&looked_up("Success", "token-0", "1,000.00", "GBP"));
        assert_eq!(run.wait().method(), "canceltoken");
        run
    };
    // The service cancels it, and late reports are waited for.
    let mut run = withdrawn();
    assert_eq!(run.say(&cancelled("1")).until_the_search(), CheckoutPlan::default().linger);
    assert_eq!(*run.say(&found(&[])).ended(), CheckoutOutcome::Lapsed { cancelled: true });
    // It was paid, and no report has named the payment.
    let mut run = withdrawn();
    assert_eq!(run.say(&cancelled("0")).crash().wait().method(), "lookup");
    assert_eq!(run.say(&found(&["key-1"])).crash().wait().method(), "transaction_lookup");
    assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
    // A search that finds nothing proves nothing: the token may still be paid.
    let mut run = withdrawn();
    run.loses(8, "canceltoken");
    run.loses(8, "lookup");
    let pause = run.later(31).step(Event::Woken).waits().as_secs();
    assert!((450..=1200).contains(&pause), "{pause}");
    until_expiry(&mut run);
    let cancellations = run.sent.iter().filter(|method| *method == "canceltoken").count();
    assert!((18..=26).contains(&cancellations), "{cancellations}");
    assert_eq!(*run.say(&cancelled("0")).wait().say(&found(&[])).ended(), CheckoutOutcome::Lapsed { cancelled: false });
}

/// The token may still be paid, so neither a lookup that is held back nor one that is refused for the account ends the checkout.
#[test]
fn an_early_search_ends_the_checkout_only_with_a_payment() {
    let searching = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw();
        run.loses(8, "canceltoken");
        assert_eq!(run.wait().method(), "canceltoken");
        run.say(&cancelled("0")).say(&found(&["key-1"]));
        assert_eq!(run.method(), "transaction_lookup");
        run
    };
    let mut held_back = searching();
    held_back.fail(Failure::HeldBack);
    let mut refused = searching();
    refused.refuse("3");
    for mut run in [held_back, refused] {
        assert_eq!(run.wait().method(), "canceltoken");
        assert_eq!(run.say(&cancelled("1")).wait().method(), "transaction_lookup");
        assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
    }
}

/// The service calls back only once.
#[test]
fn a_report_is_kept_if_its_lookup_is_refused_for_the_account_in_an_early_search() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw();
    run.loses(8, "canceltoken");
    assert_eq!(run.wait().method(), "canceltoken");
    assert_eq!(run.say(&cancelled("0")).method(), "lookup");
    run.tell("key-9");
    run.reply(found(&[]));
    assert_eq!(run.wait().method(), "transaction_lookup");
    run.refuse("106");
    assert!(matches!(run.ended(), CheckoutOutcome::Unknown { why: UnknownReason::LookupRefused(_), .. }));
    again(&mut run);
    assert_eq!(run.wait().method(), "transaction_lookup");
    assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-9".to_owned() });
}

/// Anyone can send reports, and the service sends the genuine one once.
#[test]
fn made_up_reports_during_an_early_search_drop_no_genuine_one() {
    let searching = |finds: &[&str]| {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw();
        run.loses(8, "canceltoken");
        run.loses(8, "canceltoken");
        assert_eq!(run.wait().method(), "lookup");
        if !finds.is_empty() {
            assert_eq!(run.say(&found(finds)).method(), "transaction_lookup");
        }
        run
    };
    for finds in [&[][..], &["key-1"]] {
        let mut run = searching(finds);
        for number in 0..REPORTS {
            run.tell(&format!("made-up-{number}"));
        }
        run.tell("genuine");
        // The reply to the search, or the lookup of what it found.
        run.reply(if finds.is_empty() { found(&[]) } else { looked_up("Failed", "token-1", "1,000.00", "GBP") });
        let mut looks = 0;
        while run.machine.state.news.iter().any(|key| key != "genuine") {
            match run.wait().method() {
                "transaction_lookup" => run.refuse("943"),
                method => panic!("{method} after {looks}"),
            };
            looks += 1;
        }
        assert_eq!(run.wait().method(), "transaction_lookup");
        assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "genuine".to_owned() });
        // A search that is not over neither ends the checkout nor its rounds.
        let mut run = searching(finds);
        for number in 0..3 * REPORTS {
            run.tell(&format!("made-up-{number}"));
        }
        run.reply(if finds.is_empty() { found(&[]) } else { looked_up("Failed", "token-1", "1,000.00", "GBP") });
        while run.wait().method() == "transaction_lookup" {
            run.refuse("943");
        }
        assert_eq!(run.method(), "canceltoken");
    }
}

/// The customer's time may be shorter than the life of the token.
#[test]
fn the_rounds_go_on_until_the_token_expires_however_short_the_customers_time_is() {
    for minutes in [10, 60] {
        let plan = CheckoutPlan::default().wait(Duration::from_secs(minutes * 60));
        let mut run = Run::of(Checkout::new(account(), request(Some("order-7")), plan).unwrap());
        run.step(Event::Begin).say(&token().replace("2024-05-01T13", "2024-05-02T13"));
        run.withdraw().say(&cancelled("0"));
        while run.wait().now < NOON.after(20 * HOUR) {
            assert_eq!(run.method(), "canceltoken", "{:?}", run.now.since(NOON));
            assert_eq!(run.say(&cancelled("0")).method(), "lookup");
            run.say(&found(&[]));
        }
        assert_eq!(run.say(&cancelled("1")).until_the_search(), plan.linger);
        assert_eq!(*run.say(&found(&[])).ended(), CheckoutOutcome::Lapsed { cancelled: true });
    }
}

/// Earlier versions waited for the expiry, and saved no rounds.
#[test]
fn a_checkout_of_an_earlier_version_that_waits_for_the_expiry_begins_with_a_round() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("0"));
    let saved = run.machine.save();
    let mut state: serde_json::Value = serde_json::from_str(saved.text()).unwrap();
    let of_the_machine = state["state"].as_object_mut().unwrap();
    assert!(of_the_machine.remove("rounds").is_some() && of_the_machine.remove("early").is_some());
    let saved = SavedState::from_text(state.to_string());
    run.machine = Checkout::resume(&saved, account(), CheckoutPlan::default()).unwrap();
    assert_eq!(run.step(Event::Begin).method(), "canceltoken");
}

#[test]
fn an_uncancelled_unlimited_token_stays_open() {
    let mut run = Run::new(Some("order-7"));
    run.step(Event::Begin).say(&token().replace("2024-05-01T13:00:00Z", ""));
    run.withdraw();
    run.loses(8, "canceltoken");
    // Once or twice before the plan's time is over, and then once.
    let mut rounds = 0;
    while !matches!(run.wait().last, Some(Action::Done(_))) {
        assert_eq!(run.method(), "canceltoken");
        assert_eq!(run.say(&cancelled("0")).method(), "lookup");
        run.say(&found(&[]));
        rounds += 1;
    }
    assert!((2..=3).contains(&rounds), "{rounds}");
    assert_eq!(*run.ended(), CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::StillOpen });
}
