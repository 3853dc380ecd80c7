//! Reports and withdrawals that come late, or again.

use super::*;

#[test]
fn a_transaction_that_could_not_be_looked_up_is_looked_up_again_before_the_end() {
    for reference in [None, Some("order-7")] {
        let mut run = Run::waiting(reference);
        run.tell("key-1");
        for _ in 0..8 {
            assert_eq!(run.wait().method(), "transaction_lookup");
            run.fail(Failure::MaybeSent);
        }
        run.wait().withdraw().say(&cancelled("1")).wait();
        assert_eq!(run.method(), "transaction_lookup", "{reference:?}");
        assert_eq!(*run.say(&paid()).ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
    }
}

/// The status of the payment is not final at first. A later attempt with the same token does not replace it.
#[test]
fn every_unclear_transaction_is_looked_up_again_before_the_end() {
    let mut run = Run::waiting(None);
    for key in ["key-1", "key-2"] {
        run.tell(key).wait();
        assert_eq!(run.method(), "transaction_lookup");
        run.reply(looked_up("Odd", "token-1", "1,000.00", "GBP"));
        run.later(60).step(Event::Woken);
    }
    run.crash().withdraw().say(&cancelled("1")).wait();
    while run.method() == "transaction_lookup" {
        let is_first =
            matches!(&run.last, Some(Action::Send(sent)) if sent.body().windows(5).any(|text| text == b"key-1"));
        run.reply(if is_first { paid() } else { looked_up("Odd", "token-1", "1,000.00", "GBP") }).wait();
    }
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-1".to_owned() });
}

/// The replies name no token at first.
#[test]
fn every_transaction_without_a_token_is_looked_up_again_before_the_end() {
    let mut run = Run::waiting(None);
    for key in ["key-1", "key-2", "key-2", "key-3"] {
        run.tell(key).wait();
        assert_eq!(run.method(), "transaction_lookup");
        run.reply(looked_up("Odd", "", "1,000.00", "GBP"));
        run.later(60).step(Event::Woken);
    }
    assert_eq!(run.machine.state.unclear_before.len(), 2, "{:?}", run.machine.state.unclear_before);
    run.crash().withdraw().say(&cancelled("1")).wait();
    let mut looked = 0;
    while run.method() == "transaction_lookup" {
        let is_second =
            matches!(&run.last, Some(Action::Send(sent)) if sent.body().windows(5).any(|text| text == b"key-2"));
        run.reply(if is_second { paid() } else { looked_up("Failed", "token-1", "0.00", "GBP") }).wait();
        looked += 1;
    }
    assert!(looked <= 3, "{looked}");
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "key-2".to_owned() });
}

/// Anyone can send reports.
#[test]
fn transactions_without_a_token_are_kept_up_to_a_limit() {
    let mut run = Run::waiting(None);
    for number in 0..20 {
        run.tell(&format!("key-{number}")).wait().reply(looked_up("Odd", "", "1,000.00", "GBP"));
        run.later(60).step(Event::Woken);
    }
    assert_eq!(run.machine.state.unclear_before.len(), NEWS);
    // The first one is looked up last, and named at the end.
    assert_eq!(run.machine.state.unclear.as_deref(), Some("key-0"));
}

/// Made-up reports must not displace an attempt to pay with this token.
#[test]
fn transactions_of_the_token_displace_those_without_one() {
    let mut run = Run::waiting(None);
    for number in 0..=NEWS {
        run.tell(&format!("key-{number}")).wait().reply(looked_up("Odd", "", "1,000.00", "GBP"));
        run.later(60).step(Event::Woken);
    }
    for key in ["first", "second"] {
        run.tell(key).wait().reply(looked_up("Odd", "token-1", "1,000.00", "GBP"));
        run.later(60).step(Event::Woken);
    }
    assert_eq!(run.machine.state.unclear_before.len(), NEWS);
    run.crash().withdraw().say(&cancelled("1")).wait();
    while run.method() == "transaction_lookup" {
        let is_first =
            matches!(&run.last, Some(Action::Send(sent)) if sent.body().windows(5).any(|text| text == b"first"));
        run.reply(if is_first { paid() } else { looked_up("Odd", "token-1", "1,000.00", "GBP") }).wait();
    }
    assert_eq!(*run.ended(), CheckoutOutcome::Paid { trans_key: "first".to_owned() });
}

/// Each of them may be the payment until it has failed. The reports are limited, since anyone can send them.
#[test]
fn a_checkout_lapses_only_if_each_unclear_transaction_has_failed() {
    for failed in [&["key-1", "key-2"][..], &["key-1"], &["key-2"], &[]] {
        let mut run = Run::waiting(Some("order-7"));
        for key in ["key-1", "key-2"] {
            run.tell(key).wait().reply(looked_up("Odd", "token-1", "1,000.00", "GBP"));
            run.later(60).step(Event::Woken);
        }
        run.withdraw().say(&cancelled("1")).wait();
        while matches!(run.last, Some(Action::Send(_))) {
            if run.method() == "lookup" {
                run.say(&found(&[])).wait();
                continue;
            }
            let has_failed = failed.iter().any(|key| {
                matches!(&run.last, Some(Action::Send(sent)) if sent.body().windows(5).any(|text| text == key.as_bytes()))
            });
            run.reply(looked_up(if has_failed { "Failed" } else { "Odd" }, "token-1", "1,000.00", "GBP")).wait();
        }
        let why = UnknownReason::Unclear;
        let expected = match failed {
            ["key-1", "key-2"] => CheckoutOutcome::Lapsed { cancelled: true },
            ["key-2"] => CheckoutOutcome::Unknown { reconcile: by_key("key-1"), why },
            _ => CheckoutOutcome::Unknown { reconcile: by_key("key-2"), why },
        };
        assert_eq!(*run.ended(), expected, "{failed:?}");
    }
    let mut run = Run::waiting(None);
    for at in 0..NEWS + 4 {
        run.tell(&format!("key-{at}")).wait().reply(looked_up("Odd", "token-1", "1,000.00", "GBP"));
        run.later(60).step(Event::Woken);
    }
    let state = &run.machine.state;
    assert_eq!((state.unclear_before.len(), state.unclear.as_deref()), (NEWS, Some("key-19")));
    // The last one has failed.
    run.tell("key-19").wait().reply(looked_up("Failed", "token-1", "1,000.00", "GBP"));
    let state = &run.machine.state;
    assert_eq!((state.unclear_before.len(), state.unclear.as_deref()), (NEWS - 1, Some("key-18")));
}

#[test]
fn a_token_that_could_not_be_cancelled_is_cancelled_at_another_request() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw();
    run.loses(8, "canceltoken");
    assert_eq!(run.withdraw().wait().method(), "canceltoken");
    run.say(&cancelled("1"));
    assert_eq!(run.machine.state.late_reports.map(LateReports::left), Some(CheckoutPlan::default().linger));
    // It is cancelled.
    run.withdraw();
    assert!(matches!(run.last, Some(Action::WaitUntil(_))));
}

/// Without a search that proves something, a report is all that can settle the checkout.
#[test]
fn a_report_counts_while_the_search_runs_and_afterwards() {
    let outcome = CheckoutOutcome::Paid { trans_key: "key-1".to_owned() };
    let searching = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw().say(&cancelled("1")).wait();
        assert_eq!(run.method(), "lookup");
        run
    };
    let mut run = searching();
    run.tell("key-1").reply(found(&[])).wait();
    assert_eq!(run.method(), "transaction_lookup");
    assert_eq!(*run.say(&paid()).ended(), outcome);
    // While the search's findings are looked up.
    let mut run = searching();
    run.say(&found(&["key-2"]));
    assert_eq!(run.method(), "transaction_lookup");
    run.tell("key-1").reply(looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    assert_eq!(run.method(), "transaction_lookup");
    assert_eq!(*run.say(&paid()).ended(), outcome);
    // A forged one delays the end, and proves nothing.
    let mut run = searching();
    run.say(&found(&["key-2"]));
    run.tell("forged").reply(looked_up("Success", "token-0", "1,000.00", "GBP")).wait();
    run.refuse("943").wait();
    assert_eq!(run.method(), "lookup");
    run.say(&found(&[]));
    assert_eq!(*run.ended(), CheckoutOutcome::Lapsed { cancelled: true });
}
