//! The checks find bugs: each one that is planted, within the number of seeds that it states.

use pg_simulation::planted::ALL;

#[test]
fn every_planted_bug_is_found() {
    let missed: Vec<&str> = ALL.iter().filter(|bug| bug.first(bug.within).is_none()).map(|bug| bug.name).collect();
    assert!(missed.is_empty(), "{missed:?}");
    assert!(ALL.len() >= 12);
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
