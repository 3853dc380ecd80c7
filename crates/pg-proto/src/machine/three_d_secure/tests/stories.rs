//! All short stories: a service that may pay, a network that may lose messages, a customer who may do anything, a crash
//! at any step.

use super::*;

/// Runs a machine with one of four choices at every step. Returns the service's ledger at the end and the machine's
/// outcome.
fn story(seed: u64) -> (bool, ThreeDSecureOutcome) {
    let mut run = Run::new(ThreeDSecurePlan { challenge: Duration::from_secs(60), ..with(NoLiabilityShift::Proceed) });
    let (mut choices, mut paid, mut late) = (seed, false, false);
    run.step(Event::Begin);
    for step in 0..600 {
        // The multiplier of PCG: the upper bits are well mixed, for any seed.
        choices = choices.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (choice, further) = ((choices >> 33) % 4, (choices >> 40) as usize % 4);
        match run.last.take() {
            Some(Action::Done(outcome)) => return (paid || late, outcome),
            Some(Action::Ask(_)) if choice == 3 => run.input(ThreeDSecureInput::Closed),
            Some(Action::Ask(_)) => run.input(ThreeDSecureInput::Returned),
            Some(Action::WaitUntil(until)) => {
                run.now = until;
                run.step(Event::Woken)
            }
            Some(Action::Send(request)) => {
                let path = request.uri().path();
                let body = if path.contains("initiate") {
                    initiated()
                } else if path.contains("Status") {
                    status(["920", "607", "923", "607"][further], "Y")
                } else if path.contains("lookup") {
                    found(&if paid { vec![transaction("600", "Auth", "GBP")] } else { vec![] })
                } else {
                    // A request without a reply may be executed at once, or after the machine has ended.
                    let at_once = choice == 0 || (choice != 1 && further < 2);
                    paid |= at_once;
                    late |= choice != 1;
                    payment("600")
                };
                run.last = Some(Action::Send(request));
                match choice {
                    0 => run.say(&body),
                    1 => run.fail(Failure::NotSent),
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
    let mut seen = [0; 3];
    for seed in 0..5_000_u64 {
        let (charged, claim) = story(seed);
        match claim {
            ThreeDSecureOutcome::Approved(_) => {
                assert!(charged, "{seed}");
                seen[0] += 1;
            }
            ThreeDSecureOutcome::Unknown { .. } => seen[1] += 1,
            claim => {
                assert!(!charged, "{seed}: {claim:?}");
                seen[2] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&times| times > 5), "{seen:?}");
}

#[test]
fn after_the_end_nothing_changes() {
    let mut run = Run::at(Phase::Authorising, plan());
    let end = run.say(&payment("600")).ended().clone();
    for input in [ThreeDSecureInput::Returned, ThreeDSecureInput::Proceed, ThreeDSecureInput::Closed] {
        assert_eq!(*run.input(input).step(Event::Woken).step(Event::Begin).ended(), end);
    }
    assert_eq!(*run.step(Event::Failed(Failure::MaybeSent)).ended(), end);
    assert_eq!(run.payments(), 1);
}

#[test]
fn foreign_states_are_refused() {
    let other = SavedState::from_text(r#"{"machine":"charge","version":1,"state":{}}"#);
    assert!(matches!(ThreeDSecure::resume(&other, account()), Err(ResumeError::OtherMachine { .. })));
}

/// Its owner may have acted on the outcome, and crashed before it deleted the saved state.
#[test]
fn resuming_a_machine_that_ended_without_a_payment_never_pays() {
    let ends: [fn() -> Run; 7] = [
        || Run::at(Phase::Initiating, plan()),
        || Run::at(Phase::Checking, plan()),
        || Run::at(Phase::Checking, plan()),
        || Run::at(Phase::Checking, plan()),
        || Run::at(Phase::Deciding, plan()),
        || Run::at(Phase::Authorising, plan()),
        || Run::at(Phase::Authorising, plan()),
    ];
    for (at, run) in ends.into_iter().enumerate() {
        let mut run = run();
        match at {
            0 => run.refuse("106"),
            1 => run.say(&status("608", "N")),
            2 => run.say(&status("921", "N")),
            3 => run.fail(Failure::HeldBack),
            4 => run.input(ThreeDSecureInput::Stop),
            5 => run.fail(Failure::HeldBack),
            _ => (0..8).fold(&mut run, |run, _| run.wait().fail(Failure::NotSent)),
        };
        let (end, before) = (run.ended().clone(), run.payments());
        let again = run.crash().ended();
        assert!(matches!(again, ThreeDSecureOutcome::NotSent(_)), "{at}: {end:?}, {again:?}");
        assert_eq!(run.payments(), before, "{at}");
    }
}

/// Its end is unknown because an earlier payment may be the reason. To forget that would report a paid order as not paid.
#[test]
fn resuming_a_machine_whose_earlier_step_may_follow_a_payment_looks_it_up_again() {
    let account = || account().with_dialect(Dialect::documented());
    let at = |phase: Phase| {
        let mut run = Run::at(phase, plan());
        let mut machine = ThreeDSecure::new(account(), request(), plan()).unwrap();
        machine.state = run.machine.state;
        run.machine = machine;
        run.step(Event::Begin);
        run
    };
    let steps: [fn(&mut Run); 4] = [
        |run| _ = run.refuse("136"),
        |run| _ = run.refuse("777"),
        |run| _ = run.say(&initiated().replace("607", "600")),
        |run| _ = run.refuse("125"),
    ];
    for (number, step) in steps.into_iter().enumerate() {
        for phase in [Phase::Initiating, Phase::Checking] {
            if phase == Phase::Checking && number == 2 {
                continue;
            }
            let mut run = at(phase);
            step(&mut run);
            run.wait();
            while matches!(run.last, Some(Action::Send(_))) {
                assert_eq!(run.method(), "lookup", "{number} {phase:?}");
                run.say(&found(&[])).wait();
            }
            assert!(
                matches!(run.ended(), ThreeDSecureOutcome::Unknown { .. }),
                "{number} {phase:?}: {:?}",
                run.ended()
            );
            run.crash().wait();
            assert_eq!(run.method(), "lookup", "{number} {phase:?}");
            run.say(&found(&[transaction("600", "Auth", "GBP")]));
            assert!(matches!(run.ended(), ThreeDSecureOutcome::Approved(_)), "{number} {phase:?}: {:?}", run.ended());
        }
    }
}
