use super::*;

#[test]
fn each_key_goes_out_once_in_full_batches_and_every_result_comes_in() {
    let mut world = World::new(plan(), &["a+", "b", "a+", " b ", "c", "", "x,y", "d", "e", "a+", "c"]);
    let summary = world.run();
    assert_eq!(world.submissions(), ["a+,b", "c", "d", "e"]);
    assert_eq!(summary.end, UpdateEnd::Complete);
    assert_eq!(summary.unfinished, []);
    let expected = Progress {
        read: 11,
        duplicates: 4,
        invalid: 2,
        submitted: 5,
        finished: 5,
        updated: 1,
        source_ended: true,
        ..Progress::default()
    };
    assert_eq!(summary.progress, expected);
    let of = |number: u64| &world.results[&number];
    assert_eq!(of(0).entries[0].card_key, "new-a+");
    assert_eq!((of(0).first, of(0).end, of(1).first, of(1).end), (0, 2, 2, 6));
    assert_eq!((of(1).invalid.len(), of(2).invalid.len()), (1, 1));
    assert_eq!(world.takes, world.results.len());
}

#[test]
fn an_empty_source_is_over_at_once_and_one_without_keys_sends_nothing() {
    let mut world = World::new(plan(), &[]);
    assert_eq!(world.run().end, UpdateEnd::Complete);
    let mut world = World::new(plan(), &["", ",", "\u{7}"]);
    let summary = world.run();
    assert_eq!((summary.end, summary.progress.invalid, world.sent.len()), (UpdateEnd::Complete, 3, 0));
    assert_eq!(world.results.values().map(|result| result.invalid.len()).sum::<usize>(), 3);
}

#[test]
fn unexpected_keys_are_ignored() {
    let mut world = World::new(plan().outstanding(1), &["a", "b", "c", "d"]);
    let keys = |from, keys: &[&str]| UpdateInput::Keys { from, keys: keys.iter().map(|&key| key.into()).collect() };
    assert!(matches!(world.step(Event::Begin), Action::Ask(UpdateDemand::Keys { from: 0, at_most: 2 })));
    assert!(matches!(world.input(keys(1, &["b"])), Action::Ask(UpdateDemand::Keys { from: 0, at_most: 2 })));
    let action = world.input(keys(0, &["a", "b", "c", "d"]));
    assert!(matches!(action, Action::Send(_)));
    // The same answer twice, and an answer without a demand while the only batch is open.
    assert!(matches!(world.input(keys(0, &["a", "b"])), Action::WaitUntil(UNTIL_THE_REPLY)));
    assert!(matches!(world.input(keys(2, &["c", "d"])), Action::WaitUntil(UNTIL_THE_REPLY)));
    assert_eq!((world.machine.progress().read, world.machine.progress().open_batches), (2, 1));
    let summary = world.go_on(action);
    assert_eq!((summary.progress.finished, world.submissions()), (4, vec!["a,b", "c,d"]));
}

#[test]
fn never_more_batches_are_open_than_the_plan_says_and_what_is_stored_stays_small() {
    let source: Vec<String> = (0..400).map(|number| format!("k{number}")).collect();
    let source: Vec<&str> = source.iter().map(String::as_str).collect();
    let mut world = World::new(plan().outstanding(5), &source);
    let mut action = world.step(Event::Begin);
    let mut longest = 0;
    let summary = loop {
        assert!(world.machine.progress().open_batches <= 5);
        longest = longest.max(world.machine.save().text().len());
        match world.answer(action) {
            Ok(event) => action = world.step(event),
            Err(summary) => break summary,
        }
    };
    assert_eq!((summary.progress.finished, world.results.len()), (400, 200));
    assert!(longest < 5 * 256 + 512, "{longest}");
}

#[test]
fn an_invalid_plan_is_refused_before_anything_is_read() {
    assert!(AccountUpdate::new(account(), UpdatePlan::new("")).is_err());
    assert!(AccountUpdate::new(account(), plan().callback_url("no address")).is_err());
}
