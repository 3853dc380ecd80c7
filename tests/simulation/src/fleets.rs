//! Worlds of fleets: several workers of `pg-intents` share one simulated database that commits, loses connections and fails over.
//! Service and network are those of the other worlds. A seed determines everything.
//!
//! What this is: [`play`] creates one world and runs it to its end; [`many`] does so for many seeds; [`ALL`] lists bugs that are
//! planted between the workers and their database to test whether the checks find them.
//!
//! ```
//! use pg_simulation::{Scenario, fleets};
//!
//! let played = fleets::play(Scenario::new(7));
//! assert!(played.violation.is_none(), "{}", played.log);
//! assert_eq!(played.log, fleets::play(Scenario::new(7)).log);
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use pg_faulty_intents::StoreBug;
use pg_intents::{IntentFilter, IntentRow, IntentStatus, IntentStore as _, PaymentOutcome};

use self::{
    database::Database,
    orders::{Order, Orders},
    process::Process,
    seat::Seat,
    shared::Shared,
    time::Time,
};
use crate::{
    Many, Played, Scenario,
    agenda::Millis,
    dice::Dice,
    many::{self as runs, shrink},
    scenario::Disturbance,
    world::BEGIN,
};

mod checks;
mod connection;
mod database;
mod fates;
mod orders;
mod outbox;
mod planted;
mod process;
mod seat;
mod shared;
mod shop;
mod time;
mod verdicts;
mod wire;

pub use planted::{ALL, PlantedStore, table};

/// After this time no new fault occurs.
const TROUBLED: Millis = 6 * 60_000;
/// A world with an intent that is still open after this time never ends.
const LONGEST: Millis = 60 * 60_000;

struct World {
    shared: Arc<Shared>,
    database: Arc<Database>,
    processes: Vec<Arc<Process>>,
    orders: Orders,
}

/// Runs a world to its end, or to the first violated check.
#[must_use]
pub fn play(scenario: Scenario) -> Played {
    play_with(scenario, None)
}

/// Runs the worlds of these seeds until one violates a check. Calls `progress` with the number of finished worlds.
pub fn many(first: u64, count: u64, progress: &(dyn Fn(u64) + Sync)) -> Many {
    let mut many = runs::run(first, count, &play, progress);
    many.failing = many.failing.map(|failing| shrink(failing, &play));
    many
}

fn play_with(scenario: Scenario, bug: Option<StoreBug>) -> Played {
    let shared = Shared::new(scenario);
    let time: Time = shared.time.clone();
    let ended = time.run(live(Arc::clone(&shared), bug));
    if ended.is_none() && shared.violation().is_none() {
        shared.violated(checks::ENDS, "nothing more can happen, or too much does".to_owned());
    }
    let mut tally = std::mem::take(&mut shared.state().tally);
    tally.virtual_millis = time.now() - BEGIN;
    Played { scenario, log: shared.log(), violation: shared.violation(), tally }
}

/// A world from its beginning to its end.
async fn live(shared: Arc<Shared>, bug: Option<StoreBug>) {
    let mut dice = Dice::new(shared.scenario.seed, "fleets");
    let accounts = if dice.per_mille(400) { 2 } else { 1 };
    let mut orders = orders::orders(shared.scenario, accounts);
    orders::prepare(&shared, &mut orders);
    let database = Database::new(&shared);
    let of_the_first = usize::try_from(dice.between(2, 4)).unwrap_or(2);
    let processes = (0..of_the_first + accounts - 1).map(|number| {
        let account = usize::from(number >= of_the_first);
        let newer = dice.per_mille(300) && shared.scenario.has(Disturbance::Versions);
        let has_clock = shared.scenario.has(Disturbance::ClockJumps);
        let seat = Seat::new(number, account, &shared.time, &mut dice, has_clock);
        Process::new(seat, Arc::clone(&database), bug, newer)
    });
    let processes = processes.collect();
    let world = Arc::new(World { shared: Arc::clone(&shared), database, processes, orders: Mutex::default() });
    fates::befall(&world);
    for order in orders {
        world.place(Arc::new(order));
    }
    for account in 0..accounts {
        tokio::spawn(outbox::listen(Arc::clone(&world), account));
    }
    shared.time.sleep_until(BEGIN + TROUBLED).await;
    shared.state().heals();
    shared.note(format_args!("from now on nothing goes wrong"));
    // Customers reload their pages, which posts every order once more.
    shared.time.sleep(30_000).await;
    for order in world.all() {
        world.post(&order, shared.below(60));
    }
    world.settles().await;
    world.compare().await;
}

impl World {
    fn all(&self) -> Vec<Arc<Order>> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn rows(&self) -> Vec<IntentRow> {
        let everything = IntentFilter { most: 1_000, ..IntentFilter::default() };
        self.database.store.list(everything).await.expect("the store of the world lists its rows")
    }

    /// Waits until every intent has ended and its outcome was acknowledged.
    async fn settles(&self) {
        let open = |row: &IntentRow| {
            let over = matches!(row.status, IntentStatus::Ended) || row.due == i64::MAX;
            !over || row.told != row.event
        };
        loop {
            self.shared.time.sleep(10_000).await;
            let left: Vec<IntentRow> = self.rows().await.into_iter().filter(open).collect();
            let Some(first) = left.first() else { return };
            if self.shared.time.now() > BEGIN + LONGEST {
                let (name, status, due) = (&first.key.reference, first.status.name(), first.due - first.read_at);
                let what = format!("{name} is {status} after an hour, due in {due} ms: {}", first.history);
                return self.shared.violated(checks::OWNED, what);
            }
        }
    }

    /// Checks the ledger and the intents.
    async fn compare(&self) {
        let rows = self.rows().await;
        for order in self.all() {
            let name = &order.job.name;
            let row = rows.iter().find(|row| row.key.reference == *name);
            let worker = (0..self.processes.len()).find_map(|nth| self.process(order.account, nth));
            let outcome = match (row, worker) {
                (Some(_), Some((_, worker))) => worker.outcome(name).await.ok().flatten(),
                _ => None,
            };
            verdicts::at_the_end(&self.shared, &order, row, outcome.as_ref());
            self.count(&order, outcome.as_ref());
        }
    }

    fn count(&self, order: &Order, outcome: Option<&PaymentOutcome>) {
        let ended = outcome.map_or("never begun", PaymentOutcome::name);
        let claim = format!("{:?} {ended}", order.job.kind);
        *self.shared.state().tally.claims.entry(claim).or_default() += 1;
    }
}
