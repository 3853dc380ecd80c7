//! Pauses across a crash, clocks that jump, and long downtimes.

use super::*;

const DAY: Duration = Duration::from_secs(86_400);
const LOCKED: &str = "<serviceResponse><errorCode>122</errorCode></serviceResponse>";

/// Runs until the machine waits.
fn waiting(mut world: World) -> (World, Moment) {
    let mut action = world.step(Event::Begin);
    loop {
        if let Action::WaitUntil(until) = action
            && until > world.now
        {
            return (world, until);
        }
        action = world.next(action);
    }
}

/// After a crash: until it waits, or wants to send something.
fn resumed(world: &mut World) -> Action<UpdateDemand, Summary> {
    let saved = world.machine.save();
    world.crash(&saved, plan());
    let mut action = world.step(Event::Begin);
    while matches!(action, Action::Ask(UpdateDemand::Keys { .. })) {
        action = world.next(action);
    }
    action
}

fn set_back(world: &mut World, by: Duration) {
    world.now = Moment::from_millis(world.now.millis() - by.as_millis() as u64);
}

#[test]
fn a_crash_does_not_cut_short_what_the_service_wants_to_be_waited_for() {
    let (mut world, until) = waiting(World::new(plan(), &["a", "b"]).with([(0, Fault::Say(403, LOCKED))]));
    assert!(until >= NOON.after(Duration::from_secs(300)));
    assert!(matches!(resumed(&mut world), Action::WaitUntil(still) if still == until));
    assert_eq!(world.run().progress.finished, 2);
}

#[test]
fn a_batch_that_finished_while_no_process_ran_is_not_overdue() {
    for crash in [false, true] {
        let (mut world, _) = waiting(World::new(plan(), &["a", "b"]));
        world.now = NOON.after(30 * DAY);
        let summary = if crash {
            let action = resumed(&mut world);
            world.go_on(action)
        } else {
            world.run_from(Event::Woken)
        };
        assert_eq!((summary.progress.finished, summary.progress.failed), (2, 0), "{crash}");
    }
}

#[test]
fn a_batch_is_overdue_if_it_is_pending_after_its_time_or_lookups_keep_failing() {
    for (fault, looks) in [(None, 1), (Some(Fault::Garble(200, "{")), 30)] {
        let (mut world, _) = waiting(World::new(plan(), &["a", "b"]));
        world.works = 60 * DAY;
        world.now = NOON.after(30 * DAY);
        world.instead = fault.into_iter().flat_map(|fault| (1..100).map(move |at| (at, fault.clone()))).collect();
        let summary = world.run_from(Event::Woken);
        assert_eq!((&world.results[&0].how, world.sent.len()), (&BatchEnd::Overdue, 1 + looks));
        assert_eq!(summary.end, UpdateEnd::Complete);
    }
}

#[test]
fn a_callback_received_before_a_crash_is_followed_however_late() {
    for policy in [DoubtfulPolicy::Report, DoubtfulPolicy::SubmitAgain] {
        let patient = plan().doubtful(policy, Duration::from_secs(26 * 3600));
        let (mut world, _) = waiting(World::new(patient, &["a", "b"]).with([(0, Fault::LoseReply)]));
        world.now = NOON.after(Duration::from_secs(121));
        let Action::Send(_) = world.input(hint(&key_of(1), &[])) else { panic!("a reason to look") };
        world.now = NOON.after(30 * DAY);
        let action = resumed(&mut world);
        let summary = world.go_on(action);
        assert_eq!((world.submissions().len(), summary.progress.finished), (1, 2), "{policy:?}");
    }
}

#[test]
fn repeated_hints_do_not_extend_a_doubt() {
    let (mut world, until) = waiting(World::new(plan(), &["a", "b"]).with([(0, Fault::Lose(Failure::MaybeSent))]));
    world.now = until;
    let mut action = world.input(hint(&key_of(1), &[]));
    for number in 2..1_000 {
        match action {
            Action::Done(_) => return,
            Action::Send(_) => {
                let event = world.answer(action).unwrap();
                let _ = world.input(hint(&key_of(number), &[]));
                action = world.step(event);
            }
            Action::WaitUntil(moment) => {
                assert!(moment > world.now);
                world.now = moment;
                action = world.input(hint(&key_of(number), &[]));
            }
            Action::Ask(_) => {
                action = world.next(action);
            }
        }
    }
    panic!("it does not end");
}

#[test]
fn a_clock_that_is_set_back_makes_nothing_longer() {
    // What the service wants, a look, a doubt.
    let (mut world, _) = waiting(World::new(plan(), &["a", "b"]).with([(0, Fault::Say(403, LOCKED))]));
    set_back(&mut world, DAY);
    let Action::WaitUntil(until) = world.step(Event::Woken) else { panic!() };
    assert!(until.since(world.now) <= Duration::from_secs(340));

    let (mut world, until) = waiting(World::new(plan(), &["a", "b"]));
    let first = until.since(world.now);
    set_back(&mut world, DAY);
    let Action::WaitUntil(until) = world.step(Event::Woken) else { panic!() };
    assert!(until.since(world.now) <= first.max(Duration::from_secs(30 * 60)), "{until:?}");

    let (mut world, until) = waiting(World::new(plan(), &["a", "b"]).with([(0, Fault::LoseReply)]));
    let doubt = until.since(world.now);
    set_back(&mut world, 30 * DAY);
    let Action::WaitUntil(until) = resumed(&mut world) else { panic!() };
    assert_eq!(until.since(world.now), doubt);

    // The next look at a batch that is pending.
    let (mut world, _) = waiting(World::new(plan(), &["a", "b"]).with([(0, Fault::LoseReply)]));
    world.works = 60 * DAY;
    let mut action = world.input(hint(&key_of(1), &[]));
    while world.sent.len() < 7 {
        action = world.next(action);
    }
    let Action::WaitUntil(until) = action else { panic!() };
    let pause = until.since(world.now);
    set_back(&mut world, DAY);
    let Action::WaitUntil(until) = world.step(Event::Woken) else { panic!() };
    assert_eq!(until.since(world.now), pause);
}

#[test]
fn a_plan_without_callbacks_looks_up_a_callbacks_batch_once_after_a_resume() {
    for seen in [false, true] {
        let (mut world, _) = waiting(World::new(plan(), &["a", "b"]).with([(0, Fault::LoseReply)]));
        world.works = 2 * DAY;
        let mut action = world.input(hint(&key_of(1), &[]));
        while seen && world.sent.len() < 2 {
            action = world.next(action);
        }
        let (saved, before) = (world.machine.save(), world.now);
        world.crash(&saved, plan().doubtful(DoubtfulPolicy::Report, Duration::ZERO));
        let summary = world.run();
        assert_eq!((summary.progress.doubtful, world.sent.len()), (2, 2 + usize::from(seen)), "{seen}");
        assert!(world.now.since(before) <= Duration::from_secs(1), "{seen}");
    }
}
