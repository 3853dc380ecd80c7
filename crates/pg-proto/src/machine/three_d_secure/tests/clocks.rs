//! Pauses across a crash, and clocks that jump.

use super::*;

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn a_crash_does_not_cut_short_what_the_service_wants_to_be_waited_for() {
    for (phase, next) in
        [(Phase::Checking, "getAuthenticationStatus"), (Phase::Authorising, "lookup"), (Phase::LookingUp, "lookup")]
    {
        let mut run = Run::at(phase, plan());
        let start = run.now;
        run.refuse("122").later(10).crash().later(10).crash();
        assert!(run.waits() >= Duration::from_secs(280), "{phase:?}");
        assert_eq!(run.wait().method(), next);
        assert!(run.now >= start.after(Duration::from_secs(300)), "{phase:?}");
    }
}

#[test]
fn a_clock_that_is_set_back_makes_no_pause_longer() {
    for crash in [false, true] {
        let mut run = Run::at(Phase::Checking, plan());
        run.refuse("122").earlier(DAY).step(Event::Woken);
        if crash {
            run.crash();
        }
        assert!((300..=340).contains(&run.waits().as_secs()), "{:?}", run.waits());
    }
    let mut run = Run::at(Phase::Checking, plan());
    run.say(&status("920", "N")).earlier(DAY).input(ThreeDSecureInput::Returned);
    assert_eq!(run.waits(), Duration::from_secs(2));
}

#[test]
fn a_clock_that_is_set_back_extends_no_time_limit() {
    let mut run = Run::at(Phase::Challenged, plan());
    let ThreeDSecureDemand::Challenge { until, .. } = *run.earlier(DAY).step(Event::Woken).asked() else { panic!() };
    assert_eq!(until.since(run.now), plan().challenge);
    let ThreeDSecureDemand::Challenge { until, .. } = *run.later(60).step(Event::Woken).asked() else { panic!() };
    assert_eq!(until.since(run.now), plan().challenge - Duration::from_secs(60));
    assert_eq!(run.later(14 * 60).step(Event::Woken).method(), "getAuthenticationStatus");
    let mut run = Run::at(Phase::Challenged, plan());
    run.earlier(DAY).step(Event::Woken);
    assert_eq!(run.later(2 * 15 * 60).crash().method(), "getAuthenticationStatus");

    let mut run = Run::at(Phase::Deciding, plan());
    let ThreeDSecureDemand::Decide { until, .. } = *run.earlier(DAY).step(Event::Woken).asked() else { panic!() };
    assert_eq!(until.since(run.now), plan().decision);
}

/// The clock was a day ahead when the merchant was asked.
#[test]
fn a_clock_that_was_ahead_extends_no_time_to_decide_over_restarts() {
    let asked = || {
        let mut run = Run::at(Phase::Deciding, plan());
        run.earlier(DAY).crash();
        run
    };
    let mut run = asked();
    assert!(matches!(run.say(&status("923", "N")).asked(), ThreeDSecureDemand::Decide { .. }));
    run.later(600).crash();
    assert!(matches!(run.say(&status("923", "N")).ended(), ThreeDSecureOutcome::NotShifted(_)));
    // A decision that reaches the machine while it requests the status.
    let mut run = asked();
    run.later(600).crash().fail(Failure::MaybeSent).input(ThreeDSecureInput::Proceed).wait();
    assert!(matches!(run.say(&status("923", "N")).ended(), ThreeDSecureOutcome::NotShifted(_)));
    assert_eq!(run.payments(), 0);
}

#[test]
fn a_server_whose_clock_is_behind_does_not_shorten_the_challenge_for_others() {
    let mut run = Run::at(Phase::Challenged, plan());
    run.earlier(Duration::from_secs(600)).crash();
    let ThreeDSecureDemand::Challenge { until, .. } = *run.asked() else { panic!() };
    assert_eq!(until.since(run.now), plan().challenge);
    run.later(600 + 840).crash();
    let ThreeDSecureDemand::Challenge { until, .. } = *run.asked() else { panic!() };
    assert_eq!(until.since(run.now), Duration::from_secs(60));
}

/// Only the service decides how the challenge ended, never a clock.
#[test]
fn a_clock_jump_ends_nothing_by_itself() {
    let mut run = Run::at(Phase::Challenged, plan());
    assert_eq!(run.later(30 * 86_400).step(Event::Woken).method(), "getAuthenticationStatus");
    assert_eq!(run.say(&status("607", "Y")).method(), "auth3DSecure");
}
