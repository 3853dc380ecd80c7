//! Worlds of fleets: a small number of them, since this build is not optimised. `cargo xtask test` lives 40 more.

use pg_simulation::{Scenario, fleets};

#[test]
fn worlds_of_fleets_violate_nothing() {
    let many = fleets::many(1, 16, &|_| {});
    if let Some(failing) = many.failing {
        panic!("{}\n{}", failing.log, failing.scenario);
    }
    assert_eq!(many.seeds, 16);
    // Every kind of machine was at work, and most of them paid.
    for claim in
        ["Auth approved", "CardKey approved", "ThreeDSecure approved", "Checkout paid-on-page", "Refund approved"]
    {
        assert!(many.tally.claims.contains_key(claim), "no {claim}: {:?}", many.tally.claims);
    }
}

#[test]
fn the_same_seed_is_the_same_world_of_fleets_to_the_last_byte() {
    for seed in 50..52 {
        let once = fleets::play(Scenario::new(seed));
        let again = std::thread::spawn(move || fleets::play(Scenario::new(seed))).join().expect("it ends");
        assert_eq!(once.log, again.log, "seed {seed}");
        assert_ne!(once.log, fleets::play(Scenario::new(seed + 1)).log);
    }
}

/// Those that are found at once. The program looks for all of them: `cargo xtask simulate --fleets --planted`.
#[test]
fn planted_bugs_of_the_store_are_found_by_random_worlds() {
    let at_once: Vec<_> = fleets::ALL.iter().filter(|bug| bug.within <= 20).collect();
    assert!(at_once.len() >= 7);
    for bug in at_once {
        assert!(bug.first(bug.within).is_some(), "{} is not found", bug.name);
    }
}
