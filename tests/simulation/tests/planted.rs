//! The checks find bugs: each one that is planted, within the number of seeds that it states.

use std::thread;

use pg_simulation::planted::{ALL, NAIVE, Planted};

// spec: 1 §5, A144
#[test]
fn every_planted_bug_is_found() {
    assert!(ALL.len() >= 12);
    let half = |first: usize| ALL.iter().skip(first).step_by(2).for_each(|bug| is_found(bug));
    thread::scope(|scope| {
        scope.spawn(|| half(0));
        half(1);
    });
}

/// Where a bug needs a certain trouble, the same world without it does not show the bug: so it is this trouble that bites.
/// The same holds for the world with a client that lacks only the bug.
fn is_found(bug: &Planted) {
    let found = bug.first(bug.within);
    assert!(found.is_some(), "{} is not found", bug.name);
    for other in found.iter().flat_map(|found| [bug.spared(found), bug.without(found)]).flatten() {
        assert!(other.violation.is_none(), "{}: {:?}\n{}", bug.name, other.violation, other.log);
    }
}

#[test]
fn a_naive_client_without_a_bug_violates_nothing() {
    let failing = NAIVE.first_of_any(60);
    assert!(failing.is_none(), "{:?}", failing.map(|played| (played.scenario, played.violation, played.log)));
}

#[test]
fn a_failing_world_is_made_small() {
    let bug = ALL.iter().find(|bug| bug.check == "one payment an intent").expect("one of them");
    let failing = bug.first(bug.within).expect("it is found");
    let (length, scenario) = (failing.log.len(), failing.scenario);
    let small = bug.smallest(failing);
    assert!(small.log.len() < length, "{}", small.log);
    assert!(small.scenario != scenario);
    assert!(small.log.contains("VIOLATED one payment an intent"));
    assert!(small.scenario.to_string().starts_with("seed "), "{}", small.scenario);
}
