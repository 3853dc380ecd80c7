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
    assert_eq!(run.later(15 * 60).crash().method(), "getAuthenticationStatus");

    let mut run = Run::at(Phase::Deciding, plan());
    let ThreeDSecureDemand::Decide { until, .. } = *run.earlier(DAY).step(Event::Woken).asked() else { panic!() };
    assert_eq!(until.since(run.now), plan().decision);
}

/// Only the service decides how the challenge ended, never a clock.
#[test]
fn a_clock_jump_ends_nothing_by_itself() {
    let mut run = Run::at(Phase::Challenged, plan());
    assert_eq!(run.later(30 * 86_400).step(Event::Woken).method(), "getAuthenticationStatus");
    assert_eq!(run.say(&status("607", "Y")).method(), "auth3DSecure");
}
