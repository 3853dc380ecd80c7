use super::*;

const DAY: Duration = Duration::from_secs(86_400);

/// Runs until the machine waits, with one doubtful batch.
fn in_doubt(plan: UpdatePlan, fault: Fault) -> (World, Moment) {
    let mut world = World::new(plan, &["a", "b"]).with([(0, fault)]);
    let mut action = world.step(Event::Begin);
    loop {
        if let Action::WaitUntil(until) = action {
            return (world, until);
        }
        action = world.next(action);
    }
}

#[test]
fn nothing_doubtful_is_submitted_again_and_the_keys_are_named() {
    for fault in [
        Fault::LoseReply,
        Fault::Lose(Failure::MaybeSent),
        Fault::Garble(200, "<html>"),
        Fault::Garble(502, "bad gateway"),
        Fault::Garble(500, "<serviceResponse><errorCode>999</errorCode></serviceResponse>"),
        Fault::Garble(200, "<serviceResponse><result>OK</result></serviceResponse>"),
    ] {
        let (mut world, until) = in_doubt(plan(), fault);
        assert_eq!(until, NOON.after(Duration::from_secs(26 * 3600)));
        world.now = until;
        let summary = world.run_from(Event::Woken);
        assert_eq!((world.submissions(), summary.end), (vec!["a,b"], UpdateEnd::Complete));
        assert_eq!((summary.progress.doubtful, summary.unfinished.len()), (2, 1));
        let result = &world.results[&0];
        assert_eq!((&result.how, result.unanswered.len(), &result.batch_key), (&BatchEnd::Doubtful, 2, &None));
    }
}

#[test]
fn without_a_callback_address_no_callback_is_waited_for() {
    let plan = UpdatePlan::new(UPDATER_KEY).batch_size(2);
    let mut world = World::new(plan, &["a", "b", "c"]).with([(0, Fault::LoseReply)]);
    let summary = world.run();
    assert_eq!((summary.progress.doubtful, summary.progress.finished), (2, 1));
    assert!(world.now < NOON.after(Duration::from_secs(3600)));
}

/// A proxy gives the reply to the first submission again.
#[test]
fn a_batch_that_is_accepted_under_the_key_of_another_one_is_doubtful() {
    let accepted =
        "<serviceResponse><result>OK</result><batchKey>00000000000000000000000000000001</batchKey></serviceResponse>";
    for outstanding in [1, 2] {
        // With one batch at a time, the first one has ended and its result was taken: retrieval is request 1.
        let at = if outstanding == 1 { 2 } else { 1 };
        let plan = UpdatePlan::new(UPDATER_KEY).batch_size(2).outstanding(outstanding);
        let mut world = World::new(plan, &["a", "b", "c", "d"]).with([(at, Fault::Garble(200, accepted))]);
        let summary = world.run();
        assert_eq!(world.submissions(), ["a,b", "c,d"], "{outstanding}");
        assert_eq!((summary.progress.finished, summary.progress.doubtful), (2, 2), "{outstanding}");
        let result = &world.results[&1];
        assert_eq!(
            (&result.how, &result.batch_key, result.strangers),
            (&BatchEnd::Doubtful, &None, 0),
            "{outstanding}"
        );
    }
}

#[test]
fn a_hint_that_holds_exactly_its_keys_settles_a_doubtful_batch() {
    let (mut world, _) = in_doubt(plan(), Fault::LoseReply);
    world.now = NOON.after(Duration::from_secs(121));
    let action = world.input(hint(&key_of(1), &[]));
    let summary = world.go_on(action);
    assert_eq!((world.submissions(), summary.progress.finished, summary.progress.submitted), (vec!["a,b"], 2, 2));
    assert_eq!(world.results[&0].batch_key.as_ref().unwrap().as_str(), key_of(1));
}

#[test]
fn a_result_that_is_older_than_the_submission_settles_no_doubt_and_is_counted() {
    let (mut world, until) = in_doubt(plan(), Fault::LoseReply);
    world.now = NOON.after(Duration::from_secs(121));
    world.batches[0].1 = Moment::from_millis(NOON.millis() - 3_601_000);
    let mut action = world.input(hint(&key_of(1), &[]));
    while !matches!(action, Action::WaitUntil(_)) {
        action = world.next(action);
    }
    let progress = world.machine.progress();
    assert_eq!((progress.misdated_answers, progress.doubtful_batches), (1, 1));
    world.now = until;
    let summary = world.run_from(Event::Woken);
    assert_eq!((summary.progress.doubtful, summary.progress.misdated_answers), (2, 1));
}

#[test]
fn a_hint_before_or_after_a_crash_settles_the_batch() {
    let (mut world, _) = in_doubt(plan(), Fault::LoseReply);
    world.now = NOON.after(Duration::from_secs(121));
    let _ = world.input(hint(&key_of(1), &[]));
    let saved = world.machine.save();
    world.crash(&saved, plan());
    assert_eq!(world.run().progress.finished, 2);
}

#[test]
fn forged_hints_are_not_believed() {
    let (mut world, until) = in_doubt(plan(), Fault::Lose(Failure::MaybeSent));
    // Another batch of this account, one with these keys from the day before, and keys that do not exist.
    world.batches = vec![
        (key_of(1), NOON, vec!["a".into(), "c".into()]),
        (key_of(2), NOON, vec!["a".into()]),
        (key_of(3), NOON, vec!["a".into(), "b".into(), "c".into()]),
        (key_of(4), Moment::from_millis(NOON.millis() - 2 * 3_600_000), vec!["a".into(), "b".into()]),
    ];
    world.now = NOON.after(Duration::from_secs(200));
    let mut action = world.step(Event::Woken);
    for number in 1..=40 {
        action = world.input(hint(&key_of(number), &["a", "b"]));
        if matches!(action, Action::Send(_)) {
            action = world.next(action);
        }
    }
    let _ = world.input(hint("no batch key", &["a", "b"]));
    let summary = world.go_on(action);
    assert_eq!((summary.progress.doubtful, world.submissions().len()), (2, 1));
    assert!(world.now >= until && world.sent.len() < 3 * 40 + 20, "{}", world.sent.len());
}

#[test]
fn a_callback_is_not_kept_waiting_by_forged_ones() {
    let (mut world, _) = in_doubt(plan(), Fault::LoseReply);
    world.now = NOON.after(Duration::from_secs(121));
    for number in 2..=40 {
        let action = world.input(hint(&key_of(number), &[]));
        let _ = world.next(action);
    }
    // All of them are due again.
    world.now = world.now.after(Duration::from_secs(3_600));
    let action = world.input(hint(&key_of(1), &[]));
    let _ = world.next(action);
    assert_eq!(world.sent.last(), Some(&key_of(1)), "{:?}", world.sent);
}

/// A callback may be early, or a copy of the service may lag.
#[test]
fn a_hint_for_a_pending_batch_is_kept_until_its_doubt_ends_and_costs_eight_lookups() {
    const HOUR: Duration = Duration::from_secs(3_600);
    for (works, finished) in [(HOUR / 60, 2), (HOUR, 2), (HOUR * 10, 2), (HOUR * 26, 2), (DAY * 30, 0)] {
        for crash in [None, Some(2), Some(6), Some(8)] {
            let (mut world, until) = in_doubt(plan(), Fault::LoseReply);
            world.works = works;
            let mut action = world.input(hint(&key_of(1), &[]));
            while crash.is_some_and(|at| world.sent.len() < at) && world.results.is_empty() {
                action = world.next(action);
            }
            let summary = if crash.is_some() && world.results.is_empty() {
                let saved = world.machine.save();
                world.crash(&saved, plan());
                world.run()
            } else {
                world.go_on(action)
            };
            assert_eq!((summary.progress.finished, summary.progress.doubtful), (finished, 2 - finished), "{works:?}");
            let most = 9 + usize::from(crash == Some(8));
            assert!(world.sent.len() <= most && world.now <= until, "{works:?} {crash:?} {}", world.sent.len());
        }
    }
}

#[test]
fn a_hint_for_a_pending_batch_is_looked_up_at_the_end_of_each_doubt() {
    let mut world = World::new(plan(), &["a", "b", "c", "d"]).with([(0, Fault::LoseReply), (1, Fault::LoseReply)]);
    let mut action = world.step(Event::Begin);
    while world.batches.len() < 2 || !matches!(action, Action::WaitUntil(_)) {
        action = world.next(action);
    }
    assert!(world.batches[0].1 < world.batches[1].1);
    world.works = Duration::from_secs(26 * 3_600);
    let action = world.input(hint(&key_of(2), &[]));
    let summary = world.go_on(action);
    assert_eq!((&world.results[&0].how, &world.results[&1].how), (&BatchEnd::Doubtful, &BatchEnd::Finished));
    assert_eq!((summary.progress.finished, world.sent.len()), (2, 2 + 8 + 1));
}

#[test]
fn the_policy_may_submit_again_and_the_result_says_so() {
    let again = plan().doubtful(DoubtfulPolicy::SubmitAgain, Duration::from_secs(600));
    let (mut world, until) = in_doubt(again.clone(), Fault::LoseReply);
    world.now = until;
    let summary = world.run_from(Event::Woken);
    assert_eq!((world.submissions(), summary.progress.finished), (vec!["a,b", "a,b"], 2));
    assert_eq!(world.results[&0].submitted_again, 1);

    let always = (0..100).map(|at| (at, Fault::LoseReply));
    let mut world = World::new(again, &["a", "b"]).with(always);
    let summary = world.run();
    assert_eq!((world.submissions().len(), summary.progress.doubtful), (4, 2));
    assert_eq!(world.results[&0].submitted_again, 3);
}

#[test]
fn a_late_hint_for_the_first_submission_settles_the_second_too() {
    let again = plan().doubtful(DoubtfulPolicy::SubmitAgain, Duration::from_secs(600));
    let (mut world, until) = in_doubt(again, Fault::LoseReply);
    world.now = until;
    let action = world.step(Event::Woken);
    assert!(matches!(world.next(action), Action::WaitUntil(_)));
    let action = world.input(hint(&key_of(1), &[]));
    let summary = world.go_on(action);
    assert_eq!((summary.progress.finished, summary.progress.submitted, world.now), (2, 2, until));
    assert_eq!(world.results[&0].batch_key.as_ref().unwrap().as_str(), key_of(1));
}

#[test]
fn late_callbacks_about_batches_that_are_over_leave_room_for_the_one_in_doubt() {
    let keys: Vec<String> = (0..40).map(|at| format!("k{at}")).collect();
    let source: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut world = World::new(plan(), &source).with([(0, Fault::LoseReply)]);
    let mut action = world.step(Event::Begin);
    while world.results.len() < 19 || !matches!(action, Action::WaitUntil(_)) {
        action = world.next(action);
    }
    // Each of the others was polled before its callback came.
    for number in (2..=20).chain([1]) {
        action = world.input(hint(&key_of(number), &[]));
    }
    let sent = world.sent.len();
    let summary = world.go_on(action);
    assert_eq!((summary.progress.finished, summary.progress.doubtful), (40, 0));
    assert_eq!(world.sent[sent..], [key_of(1)]);
}

/// A gateway between the service and its caller answers with its own JSON, which may look like an error of the service.
#[test]
fn a_batch_that_is_answered_with_an_unlisted_code_is_doubtful_and_the_code_is_kept() {
    let other = "<serviceResponse><errorCode>321</errorCode><errorMessage>Bad gateway</errorMessage></serviceResponse>";
    let end = BatchEnd::DoubtfulRefusal { code: "321".to_owned(), message: "Bad gateway".to_owned() };
    for status in [200, 400, 404, 429] {
        // The service accepted it.
        let (mut world, until) = in_doubt(plan(), Fault::Garble(status, other));
        let saved = world.machine.save();
        world.crash(&saved, plan());
        world.now = until;
        let summary = world.run();
        assert_eq!((world.submissions(), summary.progress.doubtful, summary.progress.refused), (vec!["a,b"], 2, 0));
        assert_eq!(world.results[&0].how, end, "{status}");
        // Its callback settles it.
        let (mut world, _) = in_doubt(plan(), Fault::Garble(status, other));
        world.now = NOON.after(Duration::from_secs(121));
        let action = world.input(hint(&key_of(1), &[]));
        assert_eq!(world.go_on(action).progress.finished, 2, "{status}");
    }
    // A code of the documents is a refusal.
    let refused = "<serviceResponse><errorCode>107</errorCode></serviceResponse>";
    let mut world = World::new(plan(), &["a", "b"]).with([(0, Fault::Say(400, refused))]);
    assert_eq!(world.run().progress.refused, 2);
}

/// A proxy repeats the submission without its body: the service accepts the first copy, and only the reply to the second arrives.
// spec: 1 §4.8, A141: The refusal of an empty request says nothing about the batch.
#[test]
fn a_batch_that_is_answered_with_no_data_sent_is_doubtful() {
    let no_data = "<serviceResponse><errorCode>101</errorCode></serviceResponse>";
    let (mut world, until) = in_doubt(plan(), Fault::Garble(401, no_data));
    world.now = until;
    let summary = world.run_from(Event::Woken);
    assert_eq!(
        (world.submissions(), summary.progress.doubtful, summary.unfinished[0].status),
        (vec!["a,b"], 2, Some(401))
    );
    let (mut world, _) = in_doubt(plan(), Fault::Garble(401, no_data));
    world.now = NOON.after(Duration::from_secs(121));
    let action = world.input(hint(&key_of(1), &[]));
    assert_eq!(world.go_on(action).progress.finished, 2);
}

#[test]
fn a_result_of_an_unknown_time_settles_no_doubt_and_is_counted() {
    let dated = finished(&key_of(1), NOON, &["a".to_owned(), "b".to_owned()]);
    let time = "2024-05-01T12:00:00+00:00";
    for undated in [dated.replace(&format!("<createdOn>{time}</createdOn>"), ""), dated.replace(time, "yesterday")] {
        assert_ne!(undated, dated);
        let (mut world, until) = in_doubt(plan(), Fault::LoseReply);
        world.instead.insert(1, Fault::Say(200, undated.leak()));
        let action = world.input(hint(&key_of(1), &[]));
        let summary = world.go_on(action);
        assert_eq!((summary.progress.doubtful, summary.progress.misdated_answers, world.now), (2, 1, until));
    }
}

#[test]
fn callbacks_for_all_batches_in_doubt_at_once_settle_all() {
    let keys: Vec<String> = (0..80).map(|at| format!("k{at}")).collect();
    let source: Vec<&str> = keys.iter().map(String::as_str).collect();
    let faults = (0..40).map(|at| (at, Fault::LoseReply));
    let mut world = World::new(plan().outstanding(40).attempts(100), &source).with(faults);
    let mut action = world.step(Event::Begin);
    while world.batches.len() < 40 || !matches!(action, Action::WaitUntil(_)) {
        action = world.next(action);
    }
    world.now = world.now.after(Duration::from_secs(121));
    // They arrive before the reply to the first retrieval.
    let first = world.input(hint(&key_of(1), &[]));
    for number in 2..=40 {
        let _ = world.input(hint(&key_of(number), &[]));
    }
    let summary = world.go_on(first);
    assert_eq!((summary.progress.finished, summary.progress.doubtful, world.submissions().len()), (80, 0, 40));
}

#[test]
fn a_callback_is_not_forgotten_while_its_result_cannot_be_retrieved() {
    let unlisted = "<serviceResponse><errorCode>321</errorCode></serviceResponse>";
    let no_data = "<serviceResponse><errorCode>101</errorCode></serviceResponse>";
    let refused = ["103", "104", "183", "940"].map(|code| {
        let body = format!("<serviceResponse><errorCode>{code}</errorCode></serviceResponse>");
        (Fault::Say(400, body.leak()), 2)
    });
    let faults = [
        (Fault::Say(503, ""), 24),
        (Fault::Say(200, "<html>"), 24),
        (Fault::Lose(Failure::NotSent), 24),
        (Fault::Say(400, unlisted), 7),
        (Fault::Say(401, no_data), 7),
    ];
    for (fault, times) in faults.into_iter().chain(refused) {
        for crash in [false, true] {
            let (mut world, until) = in_doubt(plan(), Fault::LoseReply);
            world.instead.extend((1..=times).map(|at| (at, fault.clone())));
            world.now = NOON.after(Duration::from_secs(121));
            let mut action = world.input(hint(&key_of(1), &[]));
            while crash && world.sent.len() < usize::min(times, 20) {
                action = world.next(action);
            }
            let summary = if crash {
                // The next process does not wait for callbacks.
                let saved = world.machine.save();
                world.instead.clear();
                world.crash(&saved, plan().doubtful(DoubtfulPolicy::Report, Duration::ZERO));
                world.run()
            } else {
                world.go_on(action)
            };
            assert_eq!((summary.progress.finished, summary.progress.doubtful), (2, 0), "{crash}");
            assert!(world.now < until);
        }
        // The doubt ends if there is never an answer.
        let (mut world, until) = in_doubt(plan().attempts(1_000), Fault::LoseReply);
        world.instead.extend((1..1_000).map(|at| (at, fault.clone())));
        let action = world.input(hint(&key_of(1), &[]));
        assert_eq!(world.go_on(action).progress.doubtful, 2);
        assert!(world.now >= until && world.now < until.after(Duration::from_secs(3_600)));
    }
}

/// The service may refuse a key that it does not know with 401 and an unlisted code, which stops the update.
#[test]
fn no_callback_stops_an_update_for_ever() {
    let unlisted = "<serviceResponse><errorCode>321</errorCode></serviceResponse>";
    let (mut world, until) = in_doubt(plan(), Fault::LoseReply);
    world.instead.extend((1..100).map(|at| (at, Fault::Say(401, unlisted))));
    world.now = NOON.after(Duration::from_secs(121));
    let action = world.input(hint(&key_of(1), &[]));
    let mut summary = world.go_on(action);
    let mut runs = 1;
    while summary.end != UpdateEnd::Complete {
        let saved = world.machine.save();
        world.now = until.after(Duration::from_secs(3_600));
        world.crash(&saved, plan());
        summary = world.run();
        runs += 1;
        assert!(runs < 12, "{summary:?}");
    }
    assert!(world.sent.len() < 12);
}
