//! A small number of worlds, since this build is not optimised: `cargo xtask test` lives ten thousand.

use std::thread;

use pg_simulation::{Scenario, Tally, many, many_over, play};
use pg_stores::{Choice, Postgres};

#[test]
fn worlds_violate_nothing() {
    let many = many(1, 60, &|_| {});
    if let Some(failing) = many.failing {
        panic!("{}\n{}", failing.log, failing.scenario);
    }
    assert_eq!(many.seeds, 60);
}

#[test]
fn worlds_over_other_stores_violate_nothing() {
    let mut stores = vec![(Choice::Map, 20)];
    stores.extend(Postgres::for_tests().map(|_| (Choice::Postgres, 12)));
    for (store, count) in stores {
        let many = many_over(&move || store.engine(), 1, count);
        if let Some(failing) = many.failing {
            panic!("over {store:?}\n{}\n{}", failing.log, failing.scenario);
        }
        assert_eq!(many.seeds, count);
    }
}

#[test]
fn the_same_seed_is_the_same_world_to_the_last_byte_on_every_thread() {
    for seed in 100..106 {
        let once = play(Scenario::new(seed));
        let again = thread::spawn(move || play(Scenario::new(seed))).join().expect("it ends");
        assert_eq!(once.log, again.log, "seed {seed}");
        assert_eq!(once.tally, again.tally, "seed {seed}");
        assert_ne!(once.log, play(Scenario::new(seed + 1)).log);
    }
}

/// To say "unknown" is always allowed, so it could be the cheap way out.
#[test]
fn most_payments_end_known() {
    let mut tally = Tally::default();
    for seed in 1_000..1_120 {
        tally.add(&play(Scenario::of_the_sandbox(seed)).tally);
    }
    // With what these worlds do to requests, about one in five; a bank that does not answer is one in nine. One checkout in
    // eight names no reference to search by.
    knows_most(&tally, 25, 20);
    // A client that knows the documents alone says more often that it does not know.
    knows_most(&many(1_000, 120, &|_| {}).tally, 35, 30);
}

/// Checks that of a hundred payments or checkouts fewer than these numbers end as unknown.
fn knows_most(tally: &Tally, unknown_payments: u64, unknown_checkouts: u64) {
    let (payments, unknown) = ended(tally, &["Auth ", "Preauth ", "CardKey ", "Session "]);
    assert!(payments > 300, "{payments}");
    assert!(unknown * 100 < payments * unknown_payments, "{unknown} of {payments}: {:?}", tally.claims);
    let (checkouts, unknown) = ended(tally, &["Checkout "]);
    assert!(checkouts > 80, "{checkouts}");
    assert!(unknown * 100 < checkouts * unknown_checkouts, "{unknown} of {checkouts}: {:?}", tally.claims);
}

/// Machines of these kinds that have ended, and how many of these as unknown.
fn ended(tally: &Tally, kinds: &[&str]) -> (u64, u64) {
    let all = tally.claims.iter().filter(|(name, _)| kinds.iter().any(|kind| name.starts_with(kind)));
    all.fold((0, 0), |(all, unknown), (name, times)| {
        (all + times, unknown + if name.contains("unknown") { *times } else { 0 })
    })
}
