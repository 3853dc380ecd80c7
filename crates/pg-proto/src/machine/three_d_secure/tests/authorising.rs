use pg_model::dialect::ErrorEntry;

use super::*;

#[test]
fn the_reply_is_the_outcome() {
    let mut run = Run::at(Phase::Authorising, plan());
    assert!(
        matches!(run.say(&payment("600")).ended(), ThreeDSecureOutcome::Approved(paid) if paid.transaction_key == "paid-600")
    );
    for code in ["901", "902", "907"] {
        assert!(matches!(
            Run::at(Phase::Authorising, plan()).say(&payment(code)).ended(),
            ThreeDSecureOutcome::Declined(_)
        ));
    }
    let preauth = ThreeDSecurePlan { pay: PaymentType::Preauth, ..plan() };
    assert_eq!(Run::at(Phase::Authorising, preauth).method(), "preauth3DSecure");
}

/// A payment that was sent, under a dialect that names no error of a used authentication.
fn sent() -> Run {
    let mut dialect = (*crate::spoken::sandbox()).clone();
    dialect.errors.retain(|entry| entry.situations != ["authentication-already-used"]);
    Run::under(dialect)
}

fn is_unconfirmed(run: &Run) -> bool {
    matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::DeclineUnconfirmed(_), .. })
}

/// A service that answers a second copy like a declined payment.
// spec: 2 §3.3, A141: A decline of the last step answers its first copy only if lookups list it and the request was answered, or if
//   the dialect names the error of a used authentication.
#[test]
fn a_decline_may_be_the_reply_to_a_second_copy() {
    let declined = || {
        let mut run = sent();
        assert_eq!(run.say(&payment("901")).wait().method(), "lookup");
        run
    };
    let listed = || found(&[transaction("901", "Auth", "GBP")]);
    let approved = || found(&[transaction("600", "Auth", "GBP")]);
    assert!(matches!(declined().say(&approved()).ended(), ThreeDSecureOutcome::Approved(_)));
    assert!(matches!(declined().say(&listed()).wait().say(&approved()).ended(), ThreeDSecureOutcome::Approved(_)));
    // A crash after the answer forgets no answer.
    let mut crashed = declined();
    crashed.machine = ThreeDSecure::resume(&crashed.machine.save(), Arc::clone(&crashed.machine.account)).unwrap();
    crashed.step(Event::Begin);
    for mut run in [declined(), crashed] {
        for _ in 0..3 {
            assert_eq!(run.wait().method(), "lookup");
            run.say(&listed());
        }
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Declined(_)), "{:?}", run.ended());
    }
    let mut run = declined();
    while run.method() == "lookup" {
        run.say(&found(&[])).wait();
    }
    assert!(is_unconfirmed(&run), "{:?}", run.ended());
}

/// A service that records the rejection of a second copy, so that lookups list it while the bank decides on the first one.
// spec: 2 §3.3, A141: A listed decline does not end the payment as declined while its request has no answer.
#[test]
fn a_listed_decline_may_be_the_rejection_of_a_second_copy() {
    let rejected = || {
        let mut run = sent();
        assert_eq!(run.fail(Failure::MaybeSent).wait().method(), "lookup");
        run
    };
    let declined = transaction("901", "Auth", "GBP");
    let mut run = rejected();
    for _ in 0..3 {
        run.wait().say(&found(std::slice::from_ref(&declined)));
    }
    assert!(is_unconfirmed(&run), "{:?}", run.ended());
    let mut run = rejected();
    run.say(&found(std::slice::from_ref(&declined))).wait();
    run.say(&found(&[declined, transaction("600", "Auth", "GBP")]));
    assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(paid) if paid.transaction_key == "paid-600"));
}

#[test]
fn after_any_doubt_there_are_lookups_only() {
    let doubts: [fn(&mut Run) -> &mut Run; 9] = [
        |run| run.fail(Failure::MaybeSent),
        |run| run.say("<html>"),
        |run| run.say_with(503, ""),
        |run| run.refuse("119"),
        |run| run.refuse("999"),
        |run| run.refuse("962"),
        |run| run.say(&payment("777")),
        Run::crash,
        |run| run.refuse("121").crash(),
    ];
    for (at, doubt) in doubts.into_iter().enumerate() {
        let mut run = Run::at(Phase::Authorising, plan());
        doubt(&mut run);
        for _ in 0..8 {
            assert_eq!(run.wait().method(), "lookup", "{at}");
            assert_eq!(run.payments(), 1);
            run.say(&found(&[]));
        }
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { .. }), "{at}");
    }
}

#[test]
fn the_authorisation_is_sent_again_only_after_it_certainly_did_nothing() {
    let mut run = Run::at(Phase::Authorising, plan());
    assert_eq!(run.fail(Failure::NotSent).wait().refuse("122").wait().method(), "lookup");
    assert!(run.now >= NOON.after(Duration::from_secs(300)));
    assert_eq!(run.say(&found(&[])).method(), "auth3DSecure");
    assert!(matches!(run.say(&payment("600")).ended(), ThreeDSecureOutcome::Approved(_)));

    let mut run = Run::at(Phase::Authorising, plan());
    for _ in 0..7 {
        assert_eq!(run.fail(Failure::NotSent).wait().method(), "auth3DSecure");
    }
    assert_eq!(*run.fail(Failure::NotSent).ended(), ThreeDSecureOutcome::NotSent(NotSentReason::Unreachable));

    // Temporarily refused several times: a copy may still be in transit.
    let mut run = Run::at(Phase::Authorising, plan());
    for _ in 0..7 {
        assert_eq!(run.refuse("121").wait().method(), "lookup");
        assert_eq!(run.say(&found(&[])).method(), "auth3DSecure");
    }
    run.refuse("121").wait();
    for _ in 0..8 {
        run.wait();
        assert_eq!((run.method(), run.payments()), ("lookup", 8));
        run.say(&found(&[]));
    }
    assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::NothingFound, .. }));
}

/// The dialects under which an empty lookup by the reference of the initiation proves nothing.
fn unproven() -> [Dialect; 3] {
    let mut late = (*crate::spoken::sandbox()).clone();
    let mut apart = late.clone();
    late.lookup.immediate = false;
    apart.lookup.found_by_initiation = false;
    [Dialect::documented(), late, apart]
}

/// The network may have delivered the request twice: then this answers the second copy.
#[test]
fn a_request_that_was_not_examined_is_sent_again_only_if_a_lookup_proves_that_no_copy_was_executed() {
    let refusals: [fn(&mut Run) -> &mut Run; 4] = [
        |run| run.refuse("121"),
        |run| run.refuse("122"),
        |run| run.say_with(429, "<serviceResponse><errorCode>777</errorCode></serviceResponse>"),
        |run| run.say_with(429, "<serviceResponse><errorCode>121</errorCode></serviceResponse>"),
    ];
    for (at, refuse) in refusals.into_iter().enumerate() {
        let refused = |mut run: Run| {
            assert_eq!(refuse(&mut run).wait().method(), "lookup", "{at}");
            run
        };
        // The list may continue elsewhere.
        let mut run = refused(Run::at(Phase::Authorising, plan()));
        let more = found(&[]).replace("</serviceResponse>", "<more>true</more></serviceResponse>");
        assert_eq!(run.say(&more).wait().method(), "lookup", "{at}");
        assert_eq!(run.payments(), 1);

        let mut run = refused(Run::at(Phase::Authorising, plan()));
        run.say(&found(&[transaction("600", "Auth", "GBP")]));
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(_)), "{at}");
        assert_eq!(run.payments(), 1);

        let mut run = refused(Run::at(Phase::Authorising, plan()));
        assert_eq!(run.fail(Failure::MaybeSent).wait().say(&found(&[])).method(), "auth3DSecure", "{at}");
        run.fail(Failure::MaybeSent);
        for _ in 0..8 {
            run.wait();
            assert_eq!((run.method(), run.payments()), ("lookup", 2), "{at}");
            run.say(&found(&[]));
        }
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { .. }), "{at}");

        for dialect in unproven() {
            let mut run = refused(Run::under(dialect));
            for _ in 0..8 {
                run.wait();
                assert_eq!((run.method(), run.payments()), ("lookup", 1), "{at}");
                run.say(&found(&[]));
            }
            assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { .. }), "{at}");
        }
    }
}

// spec: 2 §4.4, A109
#[test]
fn a_refusal_needs_a_lookup_that_would_find_the_payment() {
    for dialect in unproven() {
        let mut run = Run::under(dialect);
        run.refuse("106");
        for _ in 0..8 {
            assert_eq!(run.wait().method(), "lookup");
            run.say(&found(&[]));
        }
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::Refused(_), .. }));
    }
    // The payment is listed under a type that the documents do not show, or under none.
    for kind in ["Auth3DSecure", ""] {
        let mut run = Run::at(Phase::Authorising, plan());
        run.refuse("777").say(&found(&[transaction("600", kind, "GBP")]));
        let ThreeDSecureOutcome::Unknown { why, .. } = run.ended() else { panic!("{:?}", run.ended()) };
        assert!(matches!(why, UnknownReason::OtherPayment(_, "type")), "{why:?}");
    }
}

#[test]
fn an_initiation_refused_for_a_used_reference_is_looked_up_whatever_its_http_status() {
    for status in [400, 401, 403, 429] {
        let mut dialect = (*crate::spoken::sandbox()).clone();
        dialect.errors.retain(|entry| entry.code.as_str() != "950");
        let mut entry = ErrorEntry::new("777", 92);
        entry.situations.push("duplicate-unique-reference".to_owned());
        dialect.errors.push(entry);
        let machine = ThreeDSecure::new(account().with_dialect(dialect), request(), plan()).unwrap();
        let mut run = Run::of(machine);
        run.step(Event::Begin).say_with(status, "<serviceResponse><errorCode>777</errorCode></serviceResponse>");
        assert_eq!(run.wait().method(), "lookup", "{status}");
        assert!(matches!(
            run.say(&found(&[transaction("600", "Auth", "GBP")])).ended(),
            ThreeDSecureOutcome::Approved(_)
        ));
    }
}

#[test]
fn a_crash_grants_no_new_attempts_and_questions_begin_anew() {
    let twice = ThreeDSecurePlan { attempts: 2, lookups: 2, ..plan() };
    let mut run = Run::at(Phase::Authorising, twice);
    run.fail(Failure::NotSent).crash().wait();
    assert_eq!((run.method(), run.payments()), ("auth3DSecure", 2));
    assert_eq!(*run.fail(Failure::NotSent).ended(), ThreeDSecureOutcome::NotSent(NotSentReason::Unreachable));

    let mut run = Run::at(Phase::Checking, twice);
    run.fail(Failure::NotSent).crash().wait().fail(Failure::NotSent).wait();
    assert_eq!(run.method(), "getAuthenticationStatus");
    let mut run = Run::at(Phase::LookingUp, twice);
    run.fail(Failure::NotSent).crash().wait().fail(Failure::NotSent).wait();
    assert_eq!(run.method(), "lookup");
}

#[test]
fn a_state_stored_by_an_earlier_version_continues() {
    let mut run = Run::at(Phase::Authorising, plan());
    let saved = run.fail(Failure::NotSent).machine.save().text().to_owned();
    let (before, attempts) = saved.split_once(r#","tries":1"#).unwrap();
    let saved = format!("{before}{}", &attempts[attempts.find(r#","authentication_key""#).unwrap()..]);
    let saved = saved.replace(r#","over":false"#, "");
    assert!(["tries", "hold", "over"].iter().all(|new| !saved.contains(new)), "{saved}");
    let mut run = Run::of(ThreeDSecure::resume(&SavedState::from_text(saved), account()).unwrap());
    assert_eq!(run.step(Event::Begin).method(), "auth3DSecure");
}

#[test]
fn held_back_is_not_sent_unless_something_left_before() {
    let mut run = Run::at(Phase::Authorising, plan());
    assert_eq!(*run.fail(Failure::HeldBack).ended(), ThreeDSecureOutcome::NotSent(NotSentReason::HeldBack));
    let mut run = Run::at(Phase::Authorising, plan());
    run.refuse("121").wait().say(&found(&[])).fail(Failure::HeldBack);
    assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::HeldBack, .. }));
}

/// Another drive has stored its state, and may have paid.
#[test]
fn a_superseded_payment_is_unknown_in_every_phase() {
    for phase in [Phase::Initiating, Phase::Challenged, Phase::Checking, Phase::Deciding, Phase::Authorising] {
        let mut run = Run::at(phase, plan());
        let (why, sent) = (UnknownReason::Superseded, run.sent.len());
        let end = run.step(Event::Failed(Failure::Superseded)).ended();
        assert!(matches!(end, ThreeDSecureOutcome::Unknown { why: found, .. } if *found == why), "{phase:?}: {end}");
        assert_eq!(run.sent.len(), sent);
        // Its own state does not say that nothing was charged.
        assert_eq!(run.crash().method(), "lookup", "{phase:?}");
    }
}

#[test]
fn a_refusal_ends_it_at_once_only_where_it_holds_for_every_copy() {
    for code in ["103", "937", "938"] {
        let mut run = Run::at(Phase::Authorising, plan());
        assert!(matches!(run.refuse(code).ended(), ThreeDSecureOutcome::Refused(_)), "{code}");
    }
    for code in ["106", "960", "961", "777"] {
        let mut run = Run::at(Phase::Authorising, plan());
        assert_eq!(run.refuse(code).wait().method(), "lookup", "{code}");
        assert!(matches!(run.say(&found(&[])).ended(), ThreeDSecureOutcome::Refused(_)), "{code}");
        let mut run = Run::at(Phase::Authorising, plan());
        run.refuse(code).say(&found(&[transaction("600", "Auth", "GBP")]));
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(_)), "{code}");
    }
    // A copy of an earlier request may be executed.
    let mut run = Run::at(Phase::Authorising, plan());
    assert_eq!(run.refuse("121").wait().say(&found(&[])).refuse("103").wait().method(), "lookup");
    for code in ["102", "123"] {
        let mut run = Run::at(Phase::Authorising, plan());
        run.refuse(code);
        assert!(
            matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::Credentials(_), .. }),
            "{code}"
        );
    }
    let mut run = Run::at(Phase::Authorising, plan());
    run.refuse("121").wait().say(&found(&[])).refuse("102");
    assert!(matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::Credentials(_), .. }));
}

#[test]
fn no_return_sends_it_again() {
    let mut run = Run::at(Phase::Authorising, plan());
    for input in
        [ThreeDSecureInput::Returned, ThreeDSecureInput::Proceed, ThreeDSecureInput::Closed, ThreeDSecureInput::Stop]
    {
        run.input(input).step(Event::Woken).step(Event::Begin);
        assert!(matches!(run.last, Some(Action::WaitUntil(UNTIL_THE_REPLY))));
    }
    assert_eq!(run.payments(), 1);
}

#[test]
fn the_reply_to_something_else_is_no_outcome() {
    let mut run = Run::at(Phase::Authorising, plan());
    assert_eq!(run.say(&payment("600").replace("order-7", "order-8")).wait().method(), "lookup");
    assert_eq!(run.payments(), 1);
}

/// Whether the bank has executed the payment shows later.
#[test]
fn a_payment_that_was_answered_without_a_reply_of_the_bank_has_no_answer() {
    let mut run = sent();
    run.refuse("119");
    for _ in 0..3 {
        assert_eq!(run.wait().method(), "lookup");
        run.say(&found(&[transaction("901", "Auth", "GBP")]));
    }
    assert!(is_unconfirmed(&run), "{:?}", run.ended());
}

/// A service that records the rejection of a second copy, and then lists nothing.
#[test]
fn after_a_listed_decline_an_empty_lookup_proves_nothing() {
    for code in ["121", "136"] {
        let mut run = sent();
        run.refuse(code).wait().say(&found(&[transaction("901", "Auth", "GBP")]));
        for _ in 0..7 {
            assert_eq!(run.wait().method(), "lookup", "{code}");
            run.say(&found(&[]));
        }
        assert_eq!(run.payments(), 1, "{code}");
        assert!(is_unconfirmed(&run), "{code}: {:?}", run.ended());
    }
}

/// A connection may deliver the reply to the status request twice, the second time in place of the payment's. The documents define
/// no code of a status, so it may have that of an approved payment.
// spec: 2 §4.4, A106: The reply to the status request names no type of a transaction, and is no payment.
#[test]
fn the_status_delivered_again_is_no_payment() {
    let mut run = Run::at(Phase::Authorising, plan());
    assert_eq!(run.say(&status("600", "Y")).wait().method(), "lookup");
    assert!(matches!(run.say(&found(&[transaction("901", "Auth", "GBP")])).ended(), ThreeDSecureOutcome::Declined(_)));
}

/// Two services that answer and record a used reference like a declined payment. The initiation has the reference too.
// spec: 2 §4.3, A141: A listed decline may be the rejection of a second copy of the initiation.
#[test]
fn a_listed_decline_may_be_the_rejection_of_a_second_copy_of_the_initiation() {
    let look_three_times = |run: &mut Run, key: &str| {
        for _ in 0..3 {
            assert_eq!(run.wait().method(), "lookup");
            run.say(&found(&[transaction("901", "Auth", "GBP").replace("paid-901", key)]));
        }
    };
    // The dialect names the error of a used authentication, and the payment is still on its way.
    let mut dialect = (*crate::spoken::sandbox()).clone();
    dialect.errors.retain(|entry| entry.situations != ["duplicate-unique-reference"]);
    let mut run = Run::under(dialect);
    look_three_times(run.fail(Failure::MaybeSent), "rejected");
    assert!(is_unconfirmed(&run), "{:?}", run.ended());
    // The dialect does not name it, and the reply to the payment names another transaction, also after a crash.
    for (crashes, key) in [(false, "rejected"), (true, "rejected"), (false, "paid-777"), (true, "paid-777")] {
        let mut run = sent();
        run.say(&payment("777")).wait();
        if crashes {
            run.machine = ThreeDSecure::resume(&run.machine.save(), Arc::clone(&run.machine.account)).unwrap();
            run.step(Event::Begin);
        }
        look_three_times(&mut run, key);
        assert_eq!(is_unconfirmed(&run), key == "rejected", "{key}: {:?}", run.ended());
    }
}
