use super::*;

#[test]
fn a_return_only_causes_a_lookup() {
    let mut run = Run::at(Phase::Challenged, plan());
    assert_eq!(run.input(ThreeDSecureInput::Returned).method(), "getAuthenticationStatus");
    run.say(&status("920", "N"));
    assert!(matches!(run.asked(), ThreeDSecureDemand::Challenge { .. }));
    // At most one lookup is sent in two seconds, however often the customer returns.
    run.input(ThreeDSecureInput::Returned);
    assert!(matches!(run.last, Some(Action::WaitUntil(until)) if until == NOON.after(Duration::from_secs(2))));
    assert_eq!(run.wait().method(), "getAuthenticationStatus");
    assert_eq!(run.say(&status("607", "Y")).method(), "auth3DSecure");
}

#[test]
fn a_customer_who_left_has_abandoned_the_challenge_unless_it_was_complete() {
    let mut run = Run::at(Phase::Challenged, plan());
    run.input(ThreeDSecureInput::Closed).say(&status("920", "N"));
    assert_eq!(*run.ended(), ThreeDSecureOutcome::Abandoned);
    let mut run = Run::at(Phase::Challenged, plan());
    assert_eq!(run.input(ThreeDSecureInput::Closed).say(&status("607", "Y")).method(), "auth3DSecure");
}

#[test]
fn after_the_deadline_the_status_decides() {
    let mut run = Run::at(Phase::Challenged, plan());
    run.later(899).step(Event::Woken);
    assert!(matches!(run.asked(), ThreeDSecureDemand::Challenge { .. }));
    assert_eq!(run.later(1).step(Event::Woken).method(), "getAuthenticationStatus");
    assert_eq!(*run.say(&status("920", "N")).ended(), ThreeDSecureOutcome::TimedOut);
    let mut run = Run::at(Phase::Challenged, plan());
    assert_eq!(run.later(900).step(Event::Woken).say(&status("607", "Y")).method(), "auth3DSecure");
}

#[test]
fn a_crash_leads_the_customer_there_again_with_the_same_time() {
    let mut run = Run::at(Phase::Challenged, plan());
    let before = run.asked().clone();
    assert_eq!(*run.later(60).crash().asked(), before);
}

#[test]
fn an_unexpected_decision_changes_nothing() {
    let mut run = Run::at(Phase::Challenged, plan());
    let before = run.asked().clone();
    for input in [ThreeDSecureInput::Proceed, ThreeDSecureInput::Stop] {
        assert_eq!(*run.input(input).asked(), before);
    }
    assert_eq!(*run.step(Event::Failed(Failure::MaybeSent)).asked(), before);
    assert_eq!(*run.step(Event::Reply(http::Response::new(Bytes::from(payment("600"))))).asked(), before);
}
