//! Withdrawals during a search, and after an unknown end.

use super::{closing::again, *};

/// The page may still be open, and an operator withdraws it.
#[test]
fn after_an_unknown_end_a_withdrawal_cancels_the_token_if_it_is_not_cancelled() {
    let open = CheckoutOutcome::Unknown { reconcile: by_reference(), why: UnknownReason::StillOpen };
    let looking = || {
        let mut run = Run::waiting(Some("order-7"));
        run.withdraw();
        run.loses(8, "canceltoken");
        run.at(NOON.after(2 * HOUR));
        while !matches!(run.wait().last, Some(Action::Done(_))) {
            match run.method() {
                "lookup" => run.say(&found(&[])),
                _ => run.fail(Failure::MaybeSent),
            };
        }
        assert_eq!(*run.ended(), open);
        again(&mut run);
        run
    };
    let closes = |run: &mut Run| {
        assert_eq!(run.wait().method(), "canceltoken");
        assert_eq!(run.say(&cancelled("1")).until_the_search(), CheckoutPlan::default().linger);
        assert_eq!(*run.say(&found(&[])).ended(), CheckoutOutcome::Lapsed { cancelled: true });
    };
    closes(looking().withdraw());
    closes(looking().withdraw().crash());
    // The search is in flight, or the lookup of what it found: the search is repeated after the cancellation.
    let mut run = looking();
    assert_eq!(run.wait().method(), "lookup");
    closes(run.withdraw().reply(found(&["key-0"])));
    let mut run = looking();
    assert_eq!(run.wait().say(&found(&["key-1", "key-2"])).method(), "transaction_lookup");
    run.withdraw().reply(looked_up("Success", "token-0", "1,000.00", "GBP"));
    closes(&mut run);
    // It ends, and is still unknown if the service is still not reached.
    let mut run = looking();
    run.withdraw();
    let mut sent = 0;
    while !matches!(run.wait().last, Some(Action::Done(_))) {
        run.fail(Failure::MaybeSent);
        sent += 1;
    }
    assert!(sent <= 40, "{sent}");
    assert_eq!(*run.ended(), open);
    // What is cancelled is only searched for.
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw().say(&cancelled("1")).wait();
    run.loses(8, "lookup");
    run.wait();
    assert_eq!(again(&mut run).withdraw().wait().method(), "lookup");
}

#[test]
fn a_withdrawal_during_an_early_search_cancels_the_token_at_once() {
    let mut run = Run::waiting(Some("order-7"));
    run.withdraw();
    run.loses(8, "canceltoken");
    assert_eq!(run.wait().method(), "canceltoken");
    assert_eq!(run.say(&cancelled("0")).method(), "lookup");
    run.withdraw().reply(found(&[]));
    assert_eq!(run.method(), "canceltoken");
    assert_eq!(run.say(&cancelled("1")).wait().method(), "lookup");
    assert_eq!(*run.say(&found(&[])).ended(), CheckoutOutcome::Lapsed { cancelled: true });
}
