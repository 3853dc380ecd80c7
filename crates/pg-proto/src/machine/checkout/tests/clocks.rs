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
    assert_eq!(run.until_the_search(), CheckoutPlan::default().linger);
}

/// The clock of another server may be ahead, and the clock of one server may be set forward.
#[test]
fn a_clock_that_is_ahead_does_not_end_the_time_for_late_reports() {
    let linger = CheckoutPlan::default().linger;
    for crashes in [true, false] {
        for hours in [1, 2, 8_760] {
            let mut run = Run::waiting(Some("order-7"));
            run.withdraw().say(&cancelled("1")).later(hours * 3_600);
            if crashes {
                run.crash()
            } else {
                run.step(Event::Woken)
            };
            assert!(run.until_the_search() >= linger * 19 / 20, "{crashes} {hours}");
            run.say(&found(&[]));
            assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true });
        }
    }
    // A token that was not cancelled may be paid until it expires, and the service says when that is.
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().refuse("777").later(2 * 3_600).crash();
    while !matches!(run.last, Some(Action::Done(_))) {
        assert_eq!(run.wait().method(), "canceltoken");
        assert_eq!(run.refuse("777").method(), "lookup");
        run.say(&found(&[]));
    }
    assert!(run.now.since(NOON.after(2 * HOUR)) >= linger * 19 / 20);
}

/// The token could be paid until a moment ago, if the clock is ahead and the last cancellations were lost.
#[test]
fn the_time_for_late_reports_starts_again_when_the_service_says_that_the_token_has_ended() {
    let linger = CheckoutPlan::default().linger;
    let ended = || {
        let mut run = Run::waiting(Some("order-7"));
        until_expiry(run.withdraw().say(&cancelled("0")));
        run.say(&cancelled("0"));
        run
    };
    let mut run = ended();
    assert_eq!(run.crash().until_the_search(), linger);
    assert_eq!(*run.say(&found(&[])).ended(), CheckoutOutcome::Lapsed { cancelled: false });
    // The report of a payment of the last second.
    assert_eq!(ended().tell("key-1").say(&paid()).ended().label(), "paid");
    // Nothing is left to cancel, and the clock may be wrong by any time.
    for (back, forward) in [(0, 86_400), (86_400, 0)] {
        let mut run = ended();
        run.earlier(Duration::from_secs(back)).later(forward).withdraw();
        assert!(run.until_the_search() >= linger * 19 / 20);
    }
}

/// One event on a clock that is ahead must not move the end of a token that may still be paid.
#[test]
fn a_clock_that_was_ahead_does_not_keep_an_uncancelled_token_open_after_its_expiry() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().refuse("777").later(3 * 86_400).step(Event::Woken);
    assert_eq!(run.method(), "canceltoken");
    run.refuse("777").earlier(3 * DAY).crash();
    while !matches!(run.last, Some(Action::Done(_))) {
        match run.wait().method() {
            "canceltoken" => run.refuse("777"),
            _ => run.say(&found(&[])),
        };
    }
    assert!(run.now < NOON.after(3 * HOUR), "{:?}", run.now);
}

/// A driver that saves the machine and stops while it waits.
#[test]
fn restarts_during_the_time_for_late_reports_end() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1"));
    let mut runs = 0;
    while run.method().is_empty() {
        run.later(86_400).crash();
        runs += 1;
    }
    // In the last one it takes reports that have waited.
    assert_eq!((run.method(), runs), ("lookup", 21));
}

#[test]
fn a_state_of_an_earlier_version_waits_for_late_reports_again() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1"));
    let mut saved: serde_json::Value = serde_json::from_str(run.machine.save().text()).unwrap();
    assert!(saved["state"].as_object_mut().unwrap().remove("late_reports").is_some());
    let earlier = SavedState::from_text(saved.to_string());
    let mut run = Run::of(Checkout::resume(&earlier, account(), CheckoutPlan::default()).unwrap());
    run.step(Event::Begin);
    assert_eq!(run.until_the_search(), CheckoutPlan::default().linger);
}

#[test]
fn a_server_whose_clock_is_behind_does_not_shorten_the_customers_time_for_others() {
    let mut run = Run::waiting(Some("order-7"));
    let plan = CheckoutPlan::default().wait(HOUR);
    run.machine = Checkout::resume(&run.machine.save(), account(), plan).unwrap();
    run.earlier(Duration::from_secs(1_200)).step(Event::Begin);
    assert_eq!(run.redirect().1.since(run.now), HOUR);
    run.machine = Checkout::resume(&run.machine.save(), account(), plan).unwrap();
    run.later(1_200 + 3_540).step(Event::Begin);
    assert_eq!(run.redirect().1.since(run.now), Duration::from_secs(60));
}

/// The service has just issued the token.
#[test]
fn a_clock_that_is_ahead_of_the_expiry_does_not_withdraw_a_new_token() {
    let mut run = Run::new(Some("order-7"));
    run.later(2 * 86_400).step(Event::Begin).say(&token());
    assert_eq!(run.redirect().1.since(run.now), CheckoutPlan::default().wait);
    run.step(Event::Woken);
    assert!(!run.redirect().0.is_empty());
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
