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
