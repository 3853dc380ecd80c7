//! Short stories: a customer who may pay, reports and requests that may be lost, a crash at any step.

use super::*;

/// Returns whether it was paid in the end, and the machine's outcome. The customer pays while the token is open, or
/// never; reports of it arrive, or of other payments.
fn story(seed: u64) -> (bool, CheckoutOutcome) {
    let mut run = Run::new((!seed.is_multiple_of(3)).then_some("order-7"));
    let (mut choices, mut was_paid) = (seed, false);
    run.step(Event::Begin);
    for step in 0..600 {
        // The multiplier of PCG: the upper bits are well mixed, for any seed.
        choices = choices.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let choice = (choices >> 33) % 4;
        match run.last.take() {
            Some(Action::Done(outcome)) => return (was_paid, outcome),
            // As long as the machine asks, the token is open.
            Some(Action::Ask(_)) => match choice {
                0 | 1 => {
                    was_paid = true;
                    run.tell(if choice == 0 { "key-1" } else { "made-up" })
                }
                2 => run.withdraw(),
                _ => run.at(NOON.after(HOUR)),
            },
            Some(Action::WaitUntil(until)) => {
                run.now = until;
                run.step(Event::Woken)
            }
            Some(Action::Send(sent)) => {
                let about_it = String::from_utf8_lossy(sent.body()).contains("key-1");
                run.last = Some(Action::Send(sent));
                let body = match run.method() {
                    "gettoken" => token(),
                    "transaction_lookup" if was_paid && about_it => paid(),
                    "transaction_lookup" => looked_up("Success", "token-9", "1,000.00", "GBP"),
                    "canceltoken" => cancelled("1"),
                    _ => found(if was_paid { &["key-0", "key-1"] } else { &["key-0"] }),
                };
                match choice {
                    0 | 1 => run.say(&body),
                    2 => run.fail(Failure::MaybeSent),
                    _ if step < 100 => run.crash(),
                    _ => run.say(&body),
                }
            }
            None => unreachable!(),
        };
    }
    panic!("{seed} does not end");
}

#[test]
fn the_claim_always_matches_the_ledger() {
    let mut seen = [0; 4];
    for seed in 0..3_000_u64 {
        let (was_paid, claim) = story(seed);
        let kind = match claim {
            CheckoutOutcome::Paid { trans_key } => {
                assert!(was_paid && trans_key == "key-1", "{seed}");
                0
            }
            CheckoutOutcome::Lapsed { .. } => {
                assert!(!was_paid, "{seed}");
                1
            }
            CheckoutOutcome::NotOpened(_) => {
                assert!(!was_paid, "{seed}");
                2
            }
            CheckoutOutcome::Unknown { .. } => 3,
        };
        seen[kind] += 1;
    }
    assert!(seen.iter().all(|&times| times > 5), "{seen:?}");
}
