//! Checkouts that another process goes on with.

use super::{closing::again, *};

/// They waited for a process that goes on with the checkout. It may begin after the time for late reports, during the search, or after
/// the last lookup.
#[test]
fn reports_that_wait_while_no_process_runs_are_looked_up_before_the_end() {
    let lingers = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1"));
        run
    };
    let mut after = lingers();
    while after.machine.lingers() {
        let Some(Action::WaitUntil(until)) = after.last else { panic!("{:?}", after.last) };
        after.at(until);
        after.crash();
    }
    let mut during = lingers();
    assert_eq!(during.wait().method(), "lookup");
    let mut concluding = lingers();
    concluding.wait().say(&found(&["key-0"]));
    assert_eq!(concluding.method(), "transaction_lookup");
    concluding.say(&looked_up("Success", "token-0", "1,000.00", "GBP")).later(2);
    for mut run in [after, during, concluding] {
        run.crash().tell("key-1");
        assert_eq!(run.wait().method(), "transaction_lookup");
        assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
    }
}

/// Its clock may be behind that of the queue that starts it, and anyone can send a callback each second.
#[test]
fn a_driver_that_stops_at_each_wait_and_comes_early_waits_for_reports_once() {
    for report in [None, Some("made-up")] {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait();
        assert_eq!(run.method(), "lookup");
        run.crash();
        let pause = run.waits();
        run.now = run.now.after(pause - Duration::from_millis(50));
        run.crash();
        if let Some(key) = report {
            run.tell(key);
        }
        assert_eq!(run.waits(), Duration::from_millis(50));
        run.now = run.now.after(Duration::from_millis(50));
        assert_eq!(run.crash().method(), report.map_or("lookup", |_| "transaction_lookup"));
    }
}

#[test]
fn a_machine_that_is_resumed_cuts_no_pause_short() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait().refuse("936");
    let pause = run.waits();
    assert!(pause > Duration::from_secs(30), "{pause:?}");
    assert_eq!(run.crash().waits(), pause);
    assert_eq!(again(&mut run).waits(), pause);
}
