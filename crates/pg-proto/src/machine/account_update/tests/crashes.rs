use super::*;

const SOURCE: &[&str] = &["a+", "b", "a+", "", "c", "d+", "b", "e", "f", "g", "g"];

/// Returns every valid key with the number of answers of the service.
fn answered(world: &World) -> BTreeMap<String, usize> {
    let mut answered = BTreeMap::new();
    for entry in world.results.values().flat_map(|result| &result.entries) {
        *answered.entry(entry.old_card_key.to_string()).or_default() += 1;
    }
    answered
}

#[test]
fn a_crash_after_any_step_from_what_was_stored_then_submits_nothing_twice() {
    for crash_at in 1..200 {
        let mut world = World::new(plan(), SOURCE);
        let mut action = world.step(Event::Begin);
        for _ in 0..crash_at {
            match world.answer(action) {
                Ok(event) => action = world.step(event),
                Err(_) => return assert!(crash_at > 20),
            }
        }
        // A driver that saves after each step: the request may not have been sent.
        let was_to_send = matches!(action, Action::Send(_));
        let saved = world.machine.save();
        world.crash(&saved, plan());
        let summary = world.run();
        assert_eq!((&summary.end, summary.progress.read), (&UpdateEnd::Complete, 11), "{crash_at}");
        let doubtful = if was_to_send && summary.progress.doubtful > 0 { summary.progress.doubtful } else { 0 };
        assert_eq!(summary.progress.doubtful, doubtful);
        assert_eq!(summary.progress.finished + doubtful, 7, "{crash_at}");
        assert!(answered(&world).values().all(|&times| times == 1));
        let mut submitted = world.submissions();
        submitted.sort_unstable();
        submitted.dedup();
        assert_eq!(submitted.len(), world.submissions().len(), "{crash_at}");
    }
    panic!("it never ended");
}

#[test]
fn a_crash_from_what_was_stored_before_a_send_submits_nothing_twice_either() {
    let mut whole = World::new(plan(), SOURCE);
    let _ = whole.run();
    for (at, saved) in whole.saves.clone().iter().enumerate() {
        let mut world = World::new(plan(), SOURCE);
        // The service keeps what it received after the save: the request was executed, or was not.
        world.batches = whole.batches.clone();
        world.now = whole.now;
        world.crash(saved, plan());
        let before = world.sent.len();
        let summary = world.run();
        assert_eq!(summary.end, UpdateEnd::Complete);
        let first_submissions = whole.sent.iter().take(at + 1).filter(|sent| sent.len() != 32);
        for known in first_submissions {
            assert!(!world.sent[before..].contains(known), "{known} again after {at}");
        }
        assert_eq!(summary.progress.finished + summary.progress.doubtful, 7);
    }
}

#[test]
fn another_source_is_detected_before_anything_is_sent() {
    let mut world = World::new(plan(), SOURCE);
    let _ = world.run();
    let saved = world.saves[2].clone();
    for source in [
        &["a+", "b", "a+"][..],
        &["b", "a+", "a+", "", "c", "d+", "b", "e"],
        &[],
        &["a+", "b", "a+", "", "x", "d+", "b"],
    ] {
        let mut other = World::new(plan(), source);
        other.crash(&saved, plan());
        assert_eq!((other.run().end, other.sent.len()), (UpdateEnd::SourceChanged, 0), "{source:?}");
    }
    let longer: Vec<&str> = SOURCE.iter().copied().chain(["h"]).collect();
    let mut other = World::new(plan(), &longer);
    other.batches = world.batches.clone();
    other.crash(&saved, plan());
    assert_eq!(other.run().end, UpdateEnd::Complete);
}

#[test]
fn a_plan_may_change_over_a_crash() {
    let mut world = World::new(plan().batch_size(1).outstanding(4), SOURCE);
    let mut action = world.step(Event::Begin);
    for _ in 0..9 {
        action = world.next(action);
    }
    let saved = world.machine.save();
    world.crash(&saved, plan().batch_size(2).outstanding(1));
    let summary = world.run();
    assert_eq!(summary.progress.finished + summary.progress.doubtful, 7);
}

#[test]
fn unacknowledged_results_are_repeated_with_the_same_number() {
    let mut world =
        World::new(plan(), &["a", "b", "c", "d"]).with([(0, Fault::Say(400, "<e><errorCode>940</errorCode></e>"))]);
    let mut action = world.step(Event::Begin);
    loop {
        if let Action::Ask(UpdateDemand::Take(result)) = &action {
            let (result, saved) = (result.clone(), world.machine.save());
            world.crash(&saved, plan());
            let mut again = world.step(Event::Begin);
            while !matches!(again, Action::Ask(UpdateDemand::Take(_))) {
                again = world.next(again);
            }
            let Action::Ask(UpdateDemand::Take(offered)) = again else { panic!() };
            assert_eq!(offered, result);
            return;
        }
        action = world.next(action);
    }
}

#[test]
fn stored_states_contain_no_card_keys_and_foreign_states_are_refused() {
    let mut world = World::new(plan(), &["card-key-canary", "card-key-canary-2"]);
    let _ = world.run();
    assert!(world.saves.iter().all(|saved| !saved.text().contains("card-key")));
    assert_eq!(world.saves[0].machine().unwrap(), "account update");
    let other = SavedState::from_text(r#"{"machine":"charge","version":1,"state":{}}"#);
    assert!(matches!(AccountUpdate::resume(&other, account(), plan()), Err(ResumeError::OtherMachine { .. })));
    let newer = SavedState::from_text(r#"{"machine":"account update","version":2,"state":{}}"#);
    assert!(matches!(AccountUpdate::resume(&newer, account(), plan()), Err(ResumeError::Newer { .. })));
}

#[test]
fn between_a_submissions_reply_and_a_request_that_is_due_it_can_be_stored_without_doubt() {
    let mut world = World::new(plan(), &["a", "b", "c", "d"]);
    let mut action = world.step(Event::Begin);
    while world.submissions().len() < 2 {
        let event = world.answer(action).unwrap();
        // The second reply comes so late that the first batch is due.
        if world.submissions().len() == 2 {
            world.now = world.now.after(Duration::from_secs(3600));
        }
        action = world.step(event);
    }
    assert!(matches!(action, Action::WaitUntil(until) if until == world.now), "{action:?}");
    let saved = world.machine.save();
    world.crash(&saved, plan());
    let summary = world.run();
    assert_eq!((summary.progress.finished, summary.progress.doubtful), (4, 0));
    assert_eq!(world.submissions(), ["a,b", "c,d"]);
}
