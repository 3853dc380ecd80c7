use super::*;

#[test]
fn the_merchant_decides() {
    let mut run = Run::at(Phase::Deciding, plan());
    let ThreeDSecureDemand::Decide { status: seen, until } = run.asked().clone() else { panic!() };
    assert_eq!((seen.transaction_status_code.as_str(), until), ("923", NOON.after(Duration::from_secs(600))));
    assert_eq!(run.input(ThreeDSecureInput::Proceed).method(), "auth3DSecure");
    let mut run = Run::at(Phase::Deciding, plan());
    assert_eq!(*run.input(ThreeDSecureInput::Stop).ended(), ThreeDSecureOutcome::NotShifted(seen));
    assert_eq!(run.payments(), 0);
}

#[test]
fn a_late_decision_does_not_pay() {
    let mut run = Run::at(Phase::Deciding, plan());
    run.later(599).step(Event::Woken);
    assert!(matches!(run.asked(), ThreeDSecureDemand::Decide { .. }));
    run.later(1).step(Event::Woken);
    assert!(matches!(run.ended(), ThreeDSecureOutcome::NotShifted(_)));
}

#[test]
fn the_customers_returns_decide_nothing() {
    let mut run = Run::at(Phase::Deciding, plan());
    let before = run.asked().clone();
    for input in [ThreeDSecureInput::Returned, ThreeDSecureInput::Closed, ThreeDSecureInput::Returned] {
        assert_eq!(*run.input(input).asked(), before);
    }
}

#[test]
fn after_a_crash_the_status_is_fetched_again() {
    let mut run = Run::at(Phase::Deciding, plan());
    assert_eq!(run.crash().method(), "getAuthenticationStatus");
    assert!(matches!(run.say(&status("923", "N")).asked(), ThreeDSecureDemand::Decide { .. }));
}

/// A program that stored the machine resumes it to pass the decision on.
fn resumed() -> Run {
    let mut run = Run::at(Phase::Deciding, plan());
    assert_eq!(run.crash().method(), "getAuthenticationStatus");
    run.fail(Failure::MaybeSent);
    run
}

#[test]
fn a_decision_that_arrives_while_the_status_is_requested_again_is_kept() {
    for crashes in [false, true] {
        let decided = |input: ThreeDSecureInput| {
            let mut run = resumed();
            run.input(input);
            if crashes {
                run.crash();
            }
            assert_eq!(run.wait().method(), "getAuthenticationStatus");
            run.say(&status("923", "N"));
            run
        };
        assert_eq!(decided(ThreeDSecureInput::Proceed).method(), "auth3DSecure");
        let run = decided(ThreeDSecureInput::Stop);
        assert!(matches!(run.ended(), ThreeDSecureOutcome::NotShifted(_)));
        assert_eq!(run.payments(), 0);
    }
    // The last decision counts, also while a reply is awaited.
    let mut run = resumed();
    run.wait().input(ThreeDSecureInput::Proceed).input(ThreeDSecureInput::Stop);
    run.step(Event::Reply(http::Response::new(Bytes::from(status("923", "N")))));
    assert!(matches!(run.ended(), ThreeDSecureOutcome::NotShifted(_)));
}

#[test]
fn only_a_timely_decision_about_a_status_that_was_asked_about_is_kept() {
    let mut run = resumed();
    run.input(ThreeDSecureInput::Proceed).later(600).step(Event::Woken);
    assert_eq!(run.say(&status("923", "N")).method(), "auth3DSecure", "it was in time");
    let mut run = resumed();
    run.later(600).input(ThreeDSecureInput::Proceed);
    assert!(matches!(run.say(&status("923", "N")).ended(), ThreeDSecureOutcome::NotShifted(_)), "it was late");
    // The merchant was not asked yet.
    let mut run = Run::at(Phase::Checking, plan());
    run.fail(Failure::MaybeSent).input(ThreeDSecureInput::Proceed).wait();
    assert!(matches!(run.say(&status("923", "N")).asked(), ThreeDSecureDemand::Decide { .. }));
    // The customer is back at the challenge: the status to decide about is another one.
    let mut run = resumed();
    run.input(ThreeDSecureInput::Proceed).wait().say(&status("920", "N"));
    assert!(matches!(run.asked(), ThreeDSecureDemand::Challenge { .. }));
    run.input(ThreeDSecureInput::Returned).wait().say(&status("923", "N"));
    assert!(matches!(run.asked(), ThreeDSecureDemand::Decide { .. }));
    // A status that needs no decision.
    let mut run = resumed();
    run.input(ThreeDSecureInput::Stop).wait();
    assert_eq!(*run.say(&status("608", "N")).ended(), ThreeDSecureOutcome::Failed);
}
