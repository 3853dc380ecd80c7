use super::*;

fn reply(body: &str) -> Event<UpdateInput> {
    Event::Reply(http::Response::new(Bytes::copy_from_slice(body.as_bytes())))
}

#[test]
fn events_that_do_not_fit_change_nothing() {
    let mut world = World::new(plan(), &["a", "b", "c", "d", "e"]);
    let mut action = world.step(Event::Begin);
    let mut steps = 0;
    loop {
        let before = world.machine.save();
        let awaited = matches!(action, Action::Send(_));
        let done = matches!(action, Action::Done(_));
        for event in [
            Event::Begin,
            Event::Woken,
            Event::Input(UpdateInput::Taken(99)),
            Event::Input(UpdateInput::Keys { from: 99, keys: vec![CardKey::from("z")] }),
            Event::Input(hint(&key_of(999), &["a", "b"])),
        ] {
            let again = world.step(event);
            assert_eq!(before, world.machine.save());
            if awaited {
                assert!(matches!(again, Action::WaitUntil(UNTIL_THE_REPLY)));
            } else {
                assert_eq!(format!("{again:?}"), format!("{action:?}"));
            }
        }
        if !awaited {
            for event in [Event::Failed(Failure::MaybeSent), Event::Failed(Failure::HeldBack), reply(&error("102"))] {
                assert_eq!(format!("{:?}", world.step(event)), format!("{action:?}"));
                assert_eq!(before, world.machine.save());
            }
        }
        if done {
            break;
        }
        action = world.next(action);
        steps += 1;
    }
    assert!(steps > 10);
    assert_eq!((world.batches.len(), world.results.len()), (3, 3));
}

#[test]
fn a_hint_brings_a_batch_forward_and_many_do_not_flood_the_service() {
    let mut world = World::new(plan(), &["a"]);
    world.works = Duration::from_secs(5);
    let mut action = world.step(Event::Begin);
    while !matches!(action, Action::WaitUntil(_)) {
        action = world.next(action);
    }
    world.now = NOON.after(Duration::from_secs(6));
    let action = world.input(hint(&key_of(1), &["whatever"]));
    assert!(matches!(action, Action::Send(_)));
    assert_eq!((world.go_on(action).progress.finished, world.now), (1, NOON.after(Duration::from_secs(6))));

    let mut world = World::new(plan(), &["a"]);
    let mut action = world.step(Event::Begin);
    let mut hints = 0;
    while world.now < NOON.after(Duration::from_secs(60)) {
        action = world.next(action);
        if matches!(action, Action::WaitUntil(_)) {
            action = world.input(hint(&key_of(1), &["a"]));
            hints += 1;
        }
    }
    assert!(hints > 10 && world.sent.len() <= 15, "{hints} {}", world.sent.len());
}

#[test]
fn a_result_is_offered_until_it_is_acknowledged() {
    let mut world = World::new(plan(), &["a"]);
    let mut action = world.step(Event::Begin);
    loop {
        if let Action::Ask(UpdateDemand::Take(result)) = &action {
            for other in [1, 7] {
                let again = world.input(UpdateInput::Taken(other));
                assert!(matches!(again, Action::Ask(UpdateDemand::Take(offered)) if offered == *result));
            }
            assert_eq!(world.machine.progress().finished, 0);
            assert!(matches!(world.input(UpdateInput::Taken(0)), Action::Ask(_) | Action::Done(_)));
            assert_eq!(world.machine.progress().finished, 1);
            let _ = world.input(UpdateInput::Taken(0));
            assert_eq!(world.machine.progress().finished, 1);
            return;
        }
        action = world.next(action);
    }
}
