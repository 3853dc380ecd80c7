//! Bugs between the workers and their database. Random worlds find each of them.

use pg_faulty_intents::StoreBug;

use super::{checks, play_with};
use crate::{Played, Scenario};

/// A planted bug of the store.
#[derive(Debug)]
pub struct PlantedStore {
    /// The wrong behaviour.
    pub name: &'static str,
    /// The check that finds it.
    pub check: &'static str,
    /// The number of seeds, counted from 1, within which it is found.
    pub within: u64,
    bug: StoreBug,
}

const fn planted(name: &'static str, check: &'static str, within: u64, bug: StoreBug) -> PlantedStore {
    PlantedStore { name, check, within, bug }
}

/// The bugs of [`StoreBug`], except three that random worlds cannot show. Scenarios in the tests of `pg-intents` find those.
///
/// - The probe share by process needs processes that send their first request in the same moment.
/// - Places by process and forgotten failures need more than five requests that are in flight while the credentials of running processes become
///   invalid. In a world wrong credentials come with a start of the process, which then sends with the probe share alone.
pub const ALL: &[PlantedStore] = &[
    planted("a save without the lease is acknowledged", checks::SAVED, 100, StoreBug::NoFence),
    planted("leases end by the clock of the worker", checks::ALIVE, 10, StoreBug::LeaseByLocalClock),
    planted("a claim returns rows that others hold", checks::ALIVE, 10, StoreBug::ClaimWithoutLock),
    planted("an outcome is told and not stored", checks::STORED, 10, StoreBug::ToldBeforeStored),
    planted("a second begin is taken for the first", checks::SAVED, 10, StoreBug::BegunTwice),
    planted("a lost connection is taken for a commit", checks::SAVED, 20, StoreBug::DoubtTakenForSuccess),
    planted("a claim takes the intents of every account", checks::ACCOUNT, 20, StoreBug::OtherAccountClaimed),
    planted("a claim takes states of later versions", checks::VERSION, 10, StoreBug::LaterVersionClaimed),
    planted("a stop stays in the process that was refused", checks::LOCKOUT, 100, StoreBug::StopNotShared),
    planted("every process has the whole limit", checks::THROTTLE, 200, StoreBug::ThrottleByProcess),
    planted("a used block of the limit is free at once", checks::THROTTLE, 200, StoreBug::BlocksNeverRest),
];

/// Returns the bugs as a table for the page about reliability.
#[must_use]
pub fn table() -> String {
    let rows = ALL.iter().map(|bug| format!("| {} | {} | {} |\n", bug.name, bug.check, bug.within));
    let head = "| planted bug of the store | found by the check | within seeds |\n|---|---|---|\n";
    format!("{head}{}", rows.collect::<String>())
}

impl PlantedStore {
    /// Returns the first world from seed 1 in which its check finds it.
    #[must_use]
    pub fn first(&self, seeds: u64) -> Option<Played> {
        let found = |played: &Played| played.violation.as_ref().is_some_and(|found| found.check == self.check);
        (1..=seeds).map(|seed| self.play(seed)).find(found)
    }

    /// Returns how many of this many worlds violate any check.
    #[must_use]
    pub fn count(&self, seeds: u64) -> usize {
        (1..=seeds).filter(|seed| self.play(*seed).violation.is_some()).count()
    }

    fn play(&self, seed: u64) -> Played {
        play_with(Scenario::of_the_sandbox(seed), Some(self.bug))
    }
}
