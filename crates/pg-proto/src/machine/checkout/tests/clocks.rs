//! Pauses across a crash, and clocks that jump.

use super::*;

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn a_crash_does_not_cut_short_what_the_service_wants_to_be_waited_for() {
    let checking = || {
        let mut run = Run::waiting(Some("order-7"));
        run.tell("key-1");
        run
    };
    let cancelling = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw();
        run
    };
    let searching = || {
        let mut run = cancelling();
        run.say(&cancelled("1")).wait();
        run
    };
    for (mut run, next) in [(checking(), "transaction_lookup"), (cancelling(), "canceltoken"), (searching(), "lookup")]
    {
        assert_eq!(run.method(), next);
        run.refuse("936").later(10).crash();
        assert!(run.waits() >= Duration::from_secs(50), "{next}: {:?}", run.waits());
        assert_eq!(run.wait().method(), next);
    }
}

#[test]
fn a_crash_grants_no_new_attempts() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw();
    for _ in 0..8 {
        assert_eq!(run.wait().method(), "canceltoken");
        run.fail(Failure::MaybeSent).crash();
    }
    assert_eq!(run.machine.state.phase, Phase::Lingering);
}

#[test]
fn a_clock_that_is_set_back_makes_nothing_longer() {
    let mut run = Run::waiting(Some("order-7"));
    run.earlier(30 * DAY).step(Event::Woken);
    assert_eq!(run.redirect().1.since(run.now), 7 * DAY);
    run.tell("key-1").refuse("936").earlier(DAY).step(Event::Woken);
    assert!((60..=70).contains(&run.waits().as_secs()), "{:?}", run.waits());

    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).earlier(DAY).crash();
    assert_eq!(run.waits(), CheckoutPlan::default().linger);
}

/// Neither the expiry that the service states nor a clock bounds the wait.
#[test]
fn waiting_for_an_unlimited_token_is_bounded() {
    let mut run = Run::new(Some("order-7"));
    run.step(Event::Begin).say(&token().replace("2024-05-01T13", "9999-05-01T13"));
    run.withdraw().refuse("777").wait();
    assert!(run.now <= NOON.after(8 * DAY), "{:?}", run.now);
    assert_eq!(run.method(), "canceltoken");
    run.say(&cancelled("1")).wait().say(&found(&[]));
    assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true });
}
