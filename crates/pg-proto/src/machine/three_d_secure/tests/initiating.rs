use super::*;

#[test]
fn both_ways_lead_to_the_challenge() {
    let mut run = Run::new(plan());
    assert_eq!(run.step(Event::Begin).method(), "initiate3DSecureSessionKey");
    let until = NOON.after(Duration::from_secs(900));
    assert_eq!(*run.say(&initiated()).asked(), ThreeDSecureDemand::Challenge { url: PAGE.into(), until });

    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    let request = InitiateThreeDSecureCardKey::new("canary-card-key", order).card_cv2("739");
    let mut run = Run::of(ThreeDSecure::new(account(), request.clone(), plan()).unwrap());
    assert_eq!(run.step(Event::Begin).method(), "initiate3DSecureCardKey");
    let shown = format!("{:?}", Initiation::from(request));
    assert!(ThreeDSecure::CANARIES.iter().all(|canary| !shown.contains(canary)));
}

#[test]
fn without_a_reference_nothing_begins() {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
    let request = InitiateThreeDSecureCardKey::new("card", order.clone());
    assert_eq!(ThreeDSecure::new(account(), request, plan()).unwrap_err(), Misuse::NoUniqueReference);
    let request = InitiateThreeDSecureCardKey::new("", order.unique_merchant_reference("order-7"));
    assert!(matches!(ThreeDSecure::new(account(), request, plan()), Err(Misuse::Invalid(_))));
}

#[test]
fn a_failed_initiation_and_an_unknown_status_are_outcomes() {
    for code in ["608", "777"] {
        let mut run = Run::at(Phase::Initiating, plan());
        run.say(&initiated().replace("607", code));
        assert!(
            matches!(run.ended(), ThreeDSecureOutcome::NotInitiated(record) if record.transaction_status_code == code)
        );
    }
    let mut run = Run::at(Phase::Initiating, plan());
    run.say(&initiated().replace(KEY, ""));
    assert!(matches!(run.ended(), ThreeDSecureOutcome::NotInitiated(_)));
}

/// A forgotten machine may have paid under the reference, and the service may answer a used one like a declined payment.
#[test]
fn an_initiation_that_is_declined_is_looked_up_unless_used_references_get_an_error() {
    for named in [true, false] {
        let mut dialect = (*crate::spoken::sandbox()).clone();
        dialect.errors.retain(|entry| named || entry.situations != ["duplicate-unique-reference"]);
        let mut run = Run::of(ThreeDSecure::new(account().with_dialect(dialect), request(), plan()).unwrap());
        run.step(Event::Begin).say(&initiated().replace("607", "901"));
        if !named {
            run.wait().say(&found(&[transaction("600", "Auth", "GBP")]));
            assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(_)), "{:?}", run.ended());
            continue;
        }
        assert!(matches!(run.ended(), ThreeDSecureOutcome::NotInitiated(_)), "{:?}", run.ended());
    }
}

/// The documents list 600 for an approved payment (spec 2 §2.3), and 607 and 608 for an initiation.
#[test]
fn an_initiation_that_is_answered_like_a_payment_is_looked_up() {
    let said = initiated().replace("607", "600");
    let typed =
        |kind| initiated().replace("607", "777").replace("<transactionKey>", &format!("{kind}<transactionKey>"));
    for reply in
        [said, typed("<transactionType>Auth</transactionType>"), typed("<transactionType>preauth</transactionType>")]
    {
        let mut run = Run::at(Phase::Initiating, plan());
        assert_eq!(run.say(&reply).wait().method(), "lookup", "{reply}");
        run.say(&found(&[transaction("600", "Auth", "GBP")]));
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(_)), "{:?}", run.ended());

        let mut run = Run::at(Phase::Initiating, plan());
        run.say(&reply).wait();
        while run.method() == "lookup" {
            run.say(&found(&[])).wait();
        }
        let ThreeDSecureOutcome::Unknown { why: UnknownReason::NothingFound, .. } = run.ended() else {
            panic!("{:?}", run.ended())
        };
        assert_eq!(run.payments(), 0);
    }
}

/// The reply does not show the type in the documents (spec 2 §4.4); a service may send that of the payment to come.
#[test]
fn a_challenge_begins_whatever_type_the_reply_names() {
    let said = initiated().replace("<transactionKey>", "<transactionType>Auth</transactionType><transactionKey>");
    let mut run = Run::at(Phase::Initiating, plan());
    run.say(&said);
    assert_eq!(run.machine.state.phase, Phase::Challenged);
}

/// The reason is in the request, in the credentials, or in what a payment does not change.
#[test]
fn a_refusal_that_no_earlier_payment_can_cause_ends_it() {
    for code in ["101", "102", "103", "104", "105", "106", "107", "108", "109", "110", "111", "120", "123"] {
        let mut run = Run::at(Phase::Initiating, plan());
        run.refuse(code);
        let ThreeDSecureOutcome::Refused(refused) = run.ended() else { panic!("{code} {:?}", run.ended()) };
        assert_eq!((refused.code().as_str(), run.sent.len()), (code, 1));
    }
}

/// The documents do not say whether a session pays more than once (spec 2 §3.1). A payment may have ended it, or may have been
/// made before it expired.
#[test]
fn a_refused_session_is_looked_up_before_the_refusal_is_reported() {
    for code in ["129", "136", "940", "942"] {
        let at_the_lookup = || {
            let mut run = Run::at(Phase::Initiating, plan());
            assert_eq!(run.refuse(code).wait().method(), "lookup", "{code}");
            run
        };
        let mut run = at_the_lookup();
        run.say(&found(&[transaction("600", "Auth", "GBP")]));
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(_)), "{code} {:?}", run.ended());

        let mut run = at_the_lookup();
        run.say(&found(&[]));
        let ThreeDSecureOutcome::Refused(refused) = run.ended() else { panic!("{code} {:?}", run.ended()) };
        assert_eq!(refused.code().as_str(), code);

        let mut run = at_the_lookup();
        run.crash().wait();
        assert_eq!(run.method(), "lookup", "{code}: the machine has forgotten the refusal");
    }
    // No dialect: an empty lookup proves nothing.
    let silent = account().with_dialect(Dialect::documented());
    let mut run = Run::of(ThreeDSecure::new(silent, request(), plan()).unwrap());
    run.step(Event::Begin).refuse("136").wait();
    while run.method() == "lookup" {
        run.say(&found(&[])).wait();
    }
    let ThreeDSecureOutcome::Unknown { why: UnknownReason::Refused(refused), .. } = run.ended() else {
        panic!("{:?}", run.ended())
    };
    assert_eq!(refused.code().as_str(), "136");
}

/// It may be this service's code for a used reference.
#[test]
fn an_unlisted_code_is_looked_up_and_never_taken_for_a_refusal() {
    let mut run = Run::at(Phase::Initiating, plan());
    assert_eq!(run.refuse("777").wait().method(), "lookup");
    while run.method() == "lookup" {
        run.say(&found(&[])).wait();
    }
    assert!(
        matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::Refused(_), .. }),
        "{:?}",
        run.ended()
    );
}

/// A forgotten machine may have paid under this reference.
#[test]
fn a_reference_that_was_used_is_looked_up_and_never_paid() {
    for code in ["950", "125"] {
        let mut run = Run::at(Phase::Initiating, plan());
        assert_eq!(run.refuse(code).wait().method(), "lookup", "{code}");
        run.say(&found(&[transaction("607", "3DSecureCheck", "GBP"), transaction("600", "Auth", "GBP")]));
        assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(_)), "{code}");

        let mut run = Run::at(Phase::Initiating, plan());
        run.refuse(code).wait().crash().wait();
        while run.method() == "lookup" {
            run.say(&found(&[])).wait();
        }
        let ThreeDSecureOutcome::Unknown { why: UnknownReason::NothingFound | UnknownReason::ReferenceUsed(_), .. } =
            run.ended()
        else {
            panic!("{:?}", run.ended())
        };
        assert_eq!(run.payments(), 0);
        run.crash().wait();
        assert_eq!(run.method(), "lookup", "an end that may be a payment is looked up again");
    }
    let mut run = Run::at(Phase::Initiating, plan());
    run.refuse("950").wait();
    while run.method() == "lookup" {
        run.say(&found(&[])).wait();
    }
    assert!(
        matches!(run.ended(), ThreeDSecureOutcome::Unknown { why: UnknownReason::ReferenceUsed(_), .. }),
        "{:?}",
        run.ended()
    );
}

#[test]
fn a_lost_reply_ends_it_unpaid_and_it_is_never_sent_again() {
    for run in [
        Run::at(Phase::Initiating, plan()).fail(Failure::MaybeSent),
        Run::at(Phase::Initiating, plan()).say("<html>"),
        Run::at(Phase::Initiating, plan()).say_with(502, "no"),
        Run::at(Phase::Initiating, plan()).refuse("999"),
        Run::at(Phase::Initiating, plan()).crash(),
        Run::new(plan()).crash(),
    ] {
        assert_eq!(*run.ended(), ThreeDSecureOutcome::NotSent(NotSentReason::InitiationUnclear));
    }
}

#[test]
fn unsent_and_throttled_requests_are_retried_a_few_times() {
    for code in ["121", "122", "936", ""] {
        let mut run = Run::at(Phase::Initiating, plan());
        for _ in 0..7 {
            if code.is_empty() {
                run.fail(Failure::NotSent)
            } else {
                run.refuse(code)
            };
            run.wait();
            assert_eq!(run.method(), "initiate3DSecureSessionKey");
        }
        if code.is_empty() {
            run.fail(Failure::NotSent)
        } else {
            run.refuse(code)
        };
        assert_eq!(*run.ended(), ThreeDSecureOutcome::NotSent(NotSentReason::Unreachable));
    }
    let mut run = Run::at(Phase::Initiating, plan());
    assert_eq!(*run.fail(Failure::HeldBack).ended(), ThreeDSecureOutcome::NotSent(NotSentReason::HeldBack));
}
