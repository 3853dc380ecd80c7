//! Runs many worlds on all processors, adds up the results, and shrinks a failing world.

use std::{
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use crate::{
    Played, Scenario, Tally,
    conduct::{MakeStore, Over, Right},
    playing,
};

/// The result of many worlds.
#[derive(Debug, Default)]
pub struct Many {
    /// Number of worlds that ran to their end.
    pub seeds: u64,
    /// All counts.
    pub tally: Tally,
    /// The failing world with the smallest seed, shrunk as far as possible.
    pub failing: Option<Played>,
}

/// Runs the worlds of these seeds until one violates a check. Calls `progress` with the number of finished worlds.
pub fn many(first: u64, count: u64, progress: &(dyn Fn(u64) + Sync)) -> Many {
    let play = |scenario| playing::play(scenario, &Right);
    let mut many = run(first, count, &play, progress);
    many.failing = many.failing.map(|failing| shrink(failing, &play));
    many
}

/// The same with services over another store than SQLite in memory.
pub fn many_over(store: &MakeStore, first: u64, count: u64) -> Many {
    run(first, count, &|scenario| playing::play(scenario, &Over(store)), &|_| {})
}

/// The same for any kind of world, and without shrinking the failing one.
pub(crate) fn run(
    first: u64,
    count: u64,
    play: &(dyn Fn(Scenario) -> Played + Sync),
    progress: &(dyn Fn(u64) + Sync),
) -> Many {
    let (next, stop, sum) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::new(Many::default()));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let played = play(Scenario::new(first.wrapping_add(number)));
            let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
            sum.seeds += 1;
            sum.tally.add(&played.tally);
            if played.violation.is_some() {
                stop.store(true, Ordering::Relaxed);
                if sum.failing.as_ref().is_none_or(|failing| played.scenario.seed < failing.scenario.seed) {
                    sum.failing = Some(played);
                }
            }
            progress(sum.seeds);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
    sum.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Leaves out orders and faults of a failing world one by one, as long as the same check fails. Returns the smallest world found that violates the same check, or the given one if it violates none.
pub(crate) fn shrink(failing: Played, play: &dyn Fn(Scenario) -> Played) -> Played {
    let Some(check) = failing.violation.as_ref().map(|violation| violation.check) else { return failing };
    let mut smallest = failing;
    loop {
        let smaller = smallest.scenario.smaller().map(play).find(|played| {
            let same = played.violation.as_ref().is_some_and(|violation| violation.check == check);
            same && played.log.len() <= smallest.log.len()
        });
        match smaller {
            Some(played) => smallest = played,
            None => return smallest,
        }
    }
}
