//! Many worlds, on as many threads as there are processors, with one sum.

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
    conduct::{ClientBehaviour, Right},
    shrink::shrink,
    world,
};

/// What became of many worlds.
#[derive(Debug, Default)]
pub struct Many {
    /// How many were lived to their end.
    pub seeds: u64,
    /// Everything that there was to count.
    pub tally: Tally,
    /// The failing one with the smallest seed among those that were found, made as small as it gets.
    pub failing: Option<Played>,
}

/// Lives the worlds of these seeds, until one violates a check. `progress` is told now and then how many are over.
pub fn many(first: u64, count: u64, progress: &(dyn Fn(u64) + Sync)) -> Many {
    let mut many = run(first, count, &Right, progress);
    many.failing = many.failing.map(|failing| shrink(failing, &Right));
    many
}

/// The same with planted conduct, and without making the failing world small.
pub(crate) fn run(first: u64, count: u64, conduct: &dyn ClientBehaviour, progress: &(dyn Fn(u64) + Sync)) -> Many {
    let (next, stop, sum) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::new(Many::default()));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            let played = world::play(Scenario::new(first.wrapping_add(number)), conduct);
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
