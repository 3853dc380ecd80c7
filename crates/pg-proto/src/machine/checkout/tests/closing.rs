use super::*;

#[test]
fn at_the_deadline_the_token_is_cancelled_and_late_results_still_count() {
    let mut run = Run::waiting(Some("order-7"));
    assert_eq!(run.at(NOON.after(HOUR)).method(), "canceltoken");
    run.say(&cancelled("1"));
    assert_eq!(run.machine.state.late_reports.map(LateReports::left), Some(CheckoutPlan::default().linger));
    run.tell("key-1").say(&paid());
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
}

#[test]
fn a_payment_without_a_hint_is_searched_for() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait();
    assert_eq!(run.method(), "lookup");
    // A payment of another checkout with the same reference, and the payment.
    run.say(&found(&["key-1", "key-2"]));
    assert_eq!(run.method(), "transaction_lookup");
    run.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait().say(&paid());
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-2".to_owned() });
}

#[test]
fn a_search_looks_at_payments_of_the_same_amount_first_and_settles_none_of_another() {
    let of = |key: &str, value: &str| {
        found(&[key])
            .replace("<merchantReference>", &format!("<transactionValue>{value}</transactionValue><merchantReference>"))
    };
    let both = of("key-1", "99999").replace("</transactions></serviceResponse>", "")
        + of("key-2", "100000").trim_start_matches("<serviceResponse><transactions>");
    let searched = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait().say(&both);
        run
    };
    let mut run = searched();
    assert_eq!(
        *run.say(&paid()).ended(),
        CheckoutOutcome::Paid { trans_key: "key-2".to_owned() },
        "the first looked up"
    );
    // The other one has the token: paid with another amount, which is neither paid nor lapsed.
    let mut run = searched();
    run.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    run.say(&looked_up("Success", "token-1", "999.99", "GBP")).wait();
    let CheckoutOutcome::Unknown { reconcile, why: UnknownReason::Unclear } = run.ended() else {
        panic!("{:?}", run.ended())
    };
    assert!(matches!(reconcile, Reconcile::Enterprise(lookup) if lookup.trans_key == "key-1"));
    // It belongs to another checkout.
    let mut run = searched();
    run.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    run.say(&looked_up("Success", "token-2", "999.99", "GBP")).wait();
    assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true });
}

#[test]
fn a_list_of_another_reference_proves_nothing() {
    let refund = found(&["key-1"]).replace(">Auth<", ">Refund<");
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait().say(&refund);
    assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true });
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait().say(&refund.replace("order-7", "order-8"));
    assert_eq!(*run.ended(), CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::NotReported });
}

// spec: 3 §4.8, A125: the reply may write the token in capital letters; a payment that a search found under the reference, whose
//   token has another length, proves neither that this checkout was paid nor that it was not
#[test]
fn a_checkout_whose_payment_names_its_token_in_another_form_has_not_lapsed() {
    let searched = |token: &str| {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait().say(&found(&["k-1"]));
        run.say(&looked_up("Success", token, "1,000.00", "GBP")).wait();
        run
    };
    assert!(matches!(searched("TOKEN-1").ended(), CheckoutOutcome::Paid { trans_key } if trans_key == "k-1"));
    let unknown = CheckoutOutcome::Unknown { reconcile: by_key("k-1"), why: UnknownReason::Unclear };
    assert_eq!(*searched("other-form").ended(), unknown);
}

#[test]
fn a_checkout_has_lapsed_only_when_it_is_closed_and_a_search_found_nothing() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait().say(&found(&[]));
    assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true });
    // Not cancelled: it waits for the expiry.
    let mut run = Run::waiting(Some("order-7"));
    until_expiry(run.withdraw().say(&cancelled("0")));
    assert_eq!(run.say(&cancelled("0")).wait().method(), "lookup");
    assert_eq!(*run.say(&found(&[])).ended(), CheckoutOutcome::Lapsed { cancelled: false });
}

/// The customer may still be paying: only the clock says that the token has expired.
#[test]
fn a_clock_jump_expires_no_token() {
    let jumped = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw();
        run.loses(8, "canceltoken");
        run.at(NOON.after(2 * HOUR)).wait();
        run
    };
    let mut run = jumped();
    while !matches!(run.last, Some(Action::Done(_))) {
        run.loses(8, "canceltoken");
        assert_eq!(run.wait().method(), "lookup");
        run.say(&found(&[]));
    }
    let open = CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::StillOpen };
    assert_eq!(*run.ended(), open);

    let mut run = jumped();
    assert_eq!(run.method(), "canceltoken");
    assert_eq!(run.say(&cancelled("1")).crash().wait().method(), "lookup");
    assert_eq!(*run.say(&found(&[])).ended(), CheckoutOutcome::Lapsed { cancelled: true });

    let mut run = jumped();
    run.say(&cancelled("1")).wait().say(&found(&["key-1"]));
    assert_eq!(run.method(), "transaction_lookup");
    assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
}

#[test]
fn without_a_search_that_saw_everything_it_is_unknown() {
    let unknown = |reconcile| CheckoutOutcome::Unknown { reconcile, why: UnknownReason::NotReported };
    for reference in [None, Some("a-reference-of-more-than-32-characters")] {
        let mut run = Run::waiting(reference);
        assert_eq!(*run.withdraw().say(&cancelled("1")).wait().ended(), unknown(Reconcile::AskOperator));
    }
    let unknown = unknown(by_reference());
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait();
    run.loses(8, "lookup");
    assert_eq!(*run.wait().ended(), unknown);
    // More transactions than the machine looks up.
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait();
    let many: Vec<String> = (0..17).map(|number| format!("key-{number}")).collect();
    run.say(&found(&many.iter().map(String::as_str).collect::<Vec<_>>()));
    for _ in 0..16 {
        assert_eq!(run.wait().method(), "transaction_lookup");
        run.say(&looked_up("Success", "token-0", "1,000.00", "GBP"));
    }
    assert_eq!(*run.wait().ended(), unknown);
}

/// What an earlier search proved does not count: the customer may have paid since.
#[test]
fn only_the_last_search_proves_that_there_is_no_payment() {
    // The token was still open at the first search, and is cancelled after it.
    let mut run = Run::waiting(Some("order-7"));
    until_expiry(run.withdraw().say(&cancelled("0")));
    run.refuse("943").say(&found(&[]));
    assert!(matches!(run.ended(), CheckoutOutcome::Unknown { why: UnknownReason::StillOpen, .. }));
    again(&mut run).withdraw().reply(found(&[]));
    assert_eq!(run.wait().method(), "canceltoken");
    assert_eq!(run.say(&cancelled("1")).wait().method(), "lookup");
    let unknown = CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::NotReported };
    assert_eq!(*run.refuse("106").ended(), unknown);
    // A report arrives while the result of the first search is looked up.
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait().say(&found(&["key-1"])).tell("key-2");
    run.reply(looked_up("Success", "token-0", "1,000.00", "GBP"));
    assert_eq!(run.wait().method(), "transaction_lookup");
    assert_eq!(run.refuse("943").wait().method(), "lookup");
    assert_eq!(*run.refuse("106").ended(), unknown);
}

/// As a driver resumes it after an unknown end.
pub(super) fn again(run: &mut Run) -> &mut Run {
    run.machine = Checkout::resume(&run.machine.save(), account(), CheckoutPlan::default()).unwrap().look_again();
    run.step(Event::Begin)
}

#[test]
fn after_an_unknown_end_it_looks_up_reports_and_searches_again() {
    for (reference, searches) in [(Some("order-7"), 8), (None, 0)] {
        let search = |run: &mut Run| {
            run.loses(searches, "lookup");
            assert!(matches!(run.wait().ended(), CheckoutOutcome::Unknown { .. }));
        };
        let mut run = Run::waiting(reference);
        run.withdraw().say(&cancelled("1")).wait();
        search(&mut run);
        // A forged report is looked up, and changes nothing.
        again(&mut run).tell("forged").wait();
        assert_eq!(run.method(), "transaction_lookup");
        run.refuse("943");
        search(&mut run);
        // The last of many reports is the genuine one.
        again(&mut run);
        for number in 0..63 {
            run.tell(&format!("forged-{number}"));
        }
        run.tell("genuine");
        for _ in 0..63 {
            assert_eq!(run.wait().method(), "transaction_lookup");
            run.refuse("943");
        }
        run.wait().say(&paid());
        assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "genuine".to_owned() });
    }
}

#[test]
fn after_an_unknown_end_a_candidate_is_looked_up_again_and_its_failure_is_believed() {
    for (status, expected) in [("Success", None), ("Failed", Some(UnknownReason::NotReported))] {
        let mut run = Run::waiting(None);
        run.tell("key-1").say(&looked_up("Odd", "token-1", "1,000.00", "GBP"));
        run.wait();
        run.withdraw().say(&cancelled("1")).wait().say(&looked_up("Odd", "token-1", "1,000.00", "GBP"));
        let unclear = CheckoutOutcome::Unknown { reconcile: by_key("key-1"), why: UnknownReason::Unclear };
        assert_eq!(*run.wait().ended(), unclear);
        again(&mut run).wait();
        assert_eq!(run.method(), "transaction_lookup");
        run.say(&looked_up(status, "token-1", "1,000.00", "GBP")).wait();
        match expected {
            None => assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() }),
            Some(why) => {
                let unknown = CheckoutOutcome::Unknown { reconcile: Reconcile::AskOperator, why };
                assert_eq!(*run.ended(), unknown);
            }
        }
    }
}

#[test]
fn a_crash_at_each_place_goes_on_from_there() {
    let mut run = Run::waiting(Some("order-7"));
    assert_eq!(run.crash().redirect().1, NOON.after(HOUR));
    assert_eq!(run.withdraw().crash().method(), "canceltoken");
    run.say(&cancelled("1")).crash();
    assert!(matches!(run.last, Some(Action::WaitUntil(_))));
    assert_eq!(run.wait().crash().wait().method(), "lookup");
    run.say(&found(&["key-1"]));
    assert_eq!(run.crash().wait().method(), "transaction_lookup");
    run.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true });
    assert_eq!(*run.crash().wait().ended(), CheckoutOutcome::Lapsed { cancelled: true });
}

/// The service itself named it, under the reference of this checkout.
#[test]
fn a_payment_found_by_search_only_may_be_the_payment() {
    let expected = CheckoutOutcome::Unknown { reconcile: by_key("key-1"), why: UnknownReason::Unclear };
    for (status, code) in [(400, "943"), (400, "777"), (403, "777"), (400, "950")] {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait().say(&found(&["key-1"]));
        run.say_with(status, &format!("<serviceResponse><errorcode>{code}</errorcode></serviceResponse>")).wait();
        assert_eq!(*run.ended(), expected, "{status} {code}");
    }
}

/// The documents do not show the fields of a listed transaction.
#[test]
fn a_search_looks_up_what_may_be_the_payment_however_the_list_spells_its_type() {
    let searched = |listed: &str| {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait().say(listed).wait();
        run
    };
    let of_type = |kind: &str| found(&["key-1"]).replace("<transactionType>Auth</transactionType>", kind);
    for kind in ["auth", "AUTH", "preauth", "Sale", "Auth3DSecure", ""] {
        let mut run = searched(&of_type(&format!("<transactionType>{kind}</transactionType>")));
        assert_eq!(run.method(), "transaction_lookup", "{kind}");
        assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
    }
    assert_eq!(searched(&of_type("")).method(), "transaction_lookup");
    for kind in ["Refund", "refund", "Capture", "CancelPreAuth", "3DSecureCheck", "3dsauthenticatedonly"] {
        let run = searched(&of_type(&format!("<transactionType>{kind}</transactionType>")));
        assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true }, "{kind}");
    }
}

#[test]
fn a_search_whose_list_omits_a_key_proves_nothing() {
    for listed in [found(&[""]), found(&["key-1", ""]), found(&[""]).replace("<transactionKey></transactionKey>", "")] {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait().say(&listed);
        if run.method() == "transaction_lookup" {
            run.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
        }
        let expected = CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::NotReported };
        assert_eq!(*run.ended(), expected, "{listed}");
    }
}

#[test]
fn a_transaction_without_a_token_lets_no_checkout_lapse() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait().say(&found(&["key-1"]));
    run.say(&paid().replace("<token>token-1</token>", "")).wait();
    let expected = CheckoutOutcome::Unknown { reconcile: by_key("key-1"), why: UnknownReason::Unclear };
    assert_eq!(*run.ended(), expected);
    // The search found it under the checkout's reference, so another amount does not make it a foreign payment.
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait().say(&found(&["key-1"]));
    run.say(&looked_up("Success", "", "999.00", "GBP")).wait();
    assert_eq!(*run.ended(), expected);
}

#[test]
fn late_results_are_awaited_after_a_token_was_cancelled() {
    let mut run = Run::waiting(None);
    run.withdraw().say(&cancelled("0")).wait();
    // It was not closed before: the customer may have paid just now.
    run.say(&cancelled("1"));
    assert_eq!(run.machine.state.late_reports.map(LateReports::left), Some(CheckoutPlan::default().linger));
    run.tell("key-1").say(&paid());
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
}

#[test]
fn a_token_that_allows_more_payments_is_withdrawn_after_the_first() {
    let several = || {
        let mut request = request(Some("order-7"));
        request.token_uses = Some(5);
        let mut run = Run::of(Checkout::new(account(), request, CheckoutPlan::default()).unwrap());
        run.step(Event::Begin).say(&token());
        run.tell("key-1").say(&paid());
        assert_eq!(run.method(), "canceltoken");
        run
    };
    let outcome = CheckoutOutcome::Paid { trans_key: "key-1".to_owned() };
    assert_eq!(*several().say(&cancelled("1")).ended(), outcome);
    assert_eq!(*several().say(&cancelled("0")).ended(), outcome);
    assert_eq!(*several().refuse("943").ended(), outcome);
    assert_eq!(*several().fail(Failure::HeldBack).ended(), outcome);
    // A crash forgets neither the payment nor the withdrawal.
    let mut run = several();
    assert_eq!(run.crash().method(), "canceltoken");
    assert_eq!(*run.say(&cancelled("1")).ended(), outcome);
    let mut run = several();
    for attempt in 1..=8 {
        run.fail(Failure::MaybeSent);
        if attempt < 8 {
            assert_eq!(run.wait().method(), "canceltoken", "{attempt}");
        }
    }
    assert_eq!(*run.ended(), outcome);
    // It was withdrawn before.
    let mut run = several_withdrawn();
    assert_eq!(*run.tell("key-1").say(&paid()).ended(), outcome);
}

/// A token of five payments that the merchant has withdrawn.
fn several_withdrawn() -> Run {
    let mut request = request(Some("order-7"));
    request.token_uses = Some(5);
    let mut run = Run::of(Checkout::new(account(), request, CheckoutPlan::default()).unwrap());
    run.step(Event::Begin).say(&token());
    run.withdraw().say(&cancelled("1"));
    run
}

// spec: 2 §4.4, A100
/// The documents do not say that a lookup of version 3 finds payments on the hosted page.
#[test]
fn a_search_proves_nothing_if_it_may_not_find_payments_on_the_hosted_page() {
    let searching = || {
        let mut dialect = (**account().dialect()).clone();
        dialect.checkout.found_by_reference = false;
        let mut run = Run::of(
            Checkout::new(account().with_dialect(dialect), request(Some("order-7")), CheckoutPlan::default()).unwrap(),
        );
        run.step(Event::Begin).say(&token());
        run.withdraw().say(&cancelled("1")).wait();
        run
    };
    let unknown = CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::NotReported };
    assert_eq!(*searching().say(&found(&[])).ended(), unknown);
    let mut run = searching();
    run.say(&found(&["key-1"])).say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    assert_eq!(*run.ended(), unknown);
    // What it finds is the payment.
    let mut run = searching();
    run.say(&found(&["key-1"])).say(&paid());
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
}

#[test]
fn answers_that_cannot_be_read_are_named() {
    let named = |run: &Run, by: Reconcile| match run.ended() {
        CheckoutOutcome::Unknown { reconcile, why: UnknownReason::LookupUnreadable(_) } => *reconcile == by,
        other => panic!("{other:?}"),
    };
    let searching = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait();
        run
    };
    let mut run = searching();
    for _ in 0..8 {
        assert_eq!(run.wait().method(), "lookup");
        run.say("<html>");
    }
    assert!(named(run.wait(), by_reference()));
    let mut run = searching();
    run.say(&found(&["key-1"]));
    for _ in 0..8 {
        assert_eq!(run.wait().method(), "transaction_lookup");
        run.say("<html>");
    }
    assert!(named(run.wait(), by_key("key-1")));
}

// spec: 2 §4.4, A43: a body that names no list is no empty lookup
#[test]
fn a_search_whose_reply_names_no_list_is_repeated_and_proves_nothing() {
    let bodies = ["{}", "<serviceResponse/>", "<serviceResponse></serviceResponse>", r#"{"transactions":null}"#];
    for body in bodies {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait().say(body);
        assert_eq!(run.wait().method(), "lookup", "{body}");
        assert_eq!(run.say(&found(&["key-1"])).method(), "transaction_lookup", "{body}");
        assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait();
        for _ in 0..8 {
            assert_eq!(run.wait().method(), "lookup", "{body}");
            run.say(body);
        }
        let ended = run.wait().ended();
        assert!(matches!(ended, CheckoutOutcome::Unknown { why: UnknownReason::LookupUnreadable(_), .. }), "{ended:?}");
    }
}

/// The list may spell a currency otherwise, and the page may have converted it: only the lookup names the token.
#[test]
fn a_search_looks_up_what_it_lists_with_another_currency() {
    for currency in ["EUR", "826"] {
        let field = format!("<currency>{currency}</currency><merchantReference>");
        let listed = found(&["key-1"]).replace("<merchantReference>", &field);
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait().say(&listed);
        assert_eq!(run.method(), "transaction_lookup", "{currency}");
        assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
    }
}

#[test]
fn a_list_with_something_unreadable_beside_it_proves_nothing() {
    let mut run = Run::waiting(Some("order-7"));
    let listed = found(&["key-1"]).replace("</serviceResponse>", "<more>1</more></serviceResponse>");
    run.withdraw().say(&cancelled("1")).wait().say(&listed);
    run.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    assert_eq!(*run.ended(), CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::NotReported });
}

// spec: 3 §3.1, A126
/// The documents say that a cancelled token cannot be redeemed later, and nothing of a page that is already open.
#[test]
fn a_cancelled_token_may_be_paid_on_an_open_page_unless_the_dialect_excludes_it() {
    let mut dialect = (**account().dialect()).clone();
    dialect.checkout.cancel_closes_open_pages = false;
    let machine =
        Checkout::new(account().with_dialect(dialect), request(Some("order-7")), CheckoutPlan::default()).unwrap();
    let mut run = Run::of(machine);
    run.step(Event::Begin).say(&token());
    run.withdraw().say(&cancelled("1")).wait().say(&found(&[]));
    assert_eq!(*run.ended(), CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::StillOpen });
}

#[test]
fn what_an_earlier_dialect_proved_does_not_count_after_its_correction() {
    let concluding = |run: &mut Run, correct: fn(&mut pg_model::dialect::CheckoutStatuses)| {
        let mut dialect = (**account().dialect()).clone();
        correct(&mut dialect.checkout);
        run.machine =
            Checkout::resume(&run.machine.save(), account().with_dialect(dialect), CheckoutPlan::default()).unwrap();
        run.step(Event::Begin).wait();
    };
    let unknown = |why| CheckoutOutcome::Unknown { reconcile: by_reference(), why };
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait().say(&found(&["key-1"]));
    concluding(&mut run, |checkout| checkout.found_by_reference = false);
    run.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    assert_eq!(*run.ended(), unknown(UnknownReason::NotReported));
    let mut run = Run::waiting(Some("order-7"));
    until_expiry(run.withdraw().say(&cancelled("0")));
    run.say(&cancelled("0")).wait().say(&found(&["key-1"]));
    concluding(&mut run, |checkout| checkout.refused_cancel_means_ended = false);
    run.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    assert_eq!(*run.ended(), unknown(UnknownReason::StillOpen));
}
