//! The one database of a world: it commits, it is slow, it loses connections before and after the commit, and it fails over. An
//! acknowledged change is never lost. An unacknowledged one may or may not have been made.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use pg_intents::{IntentRow, SqliteStore, StoreError};
use tokio::sync::{Notify, oneshot};

use super::{seat::Seat, shared::Shared};
use crate::{agenda::Millis, dice::Dice, scenario::Disturbance};

pub(super) struct Database {
    pub(super) shared: Arc<Shared>,
    pub(super) store: Arc<SqliteStore>,
    state: Mutex<Network>,
    pub(super) changed: Notify,
    connections: AtomicU64,
}

/// The link between workers and the database, which planted bugs change.
struct Network {
    up: bool,
    /// Counts failovers.
    epoch: u64,
    dice: Dice,
    /// Chances in a thousand.
    lost: u64,
    slow: u64,
    /// Whether notifications arrive; behind a pooler in transaction mode they do not.
    pub(super) notifies: bool,
}

/// The fate of one request.
struct Way {
    epoch: u64,
    there: Millis,
    back: Millis,
    lost_before: bool,
    lost_after: bool,
}

/// The connections of one process, for as long as it lives.
pub(super) struct Connection {
    pub(super) database: Arc<Database>,
    pub(super) seat: Arc<Seat>,
    pub(super) number: u64,
    /// Whether it writes states of the next version; it reads both.
    pub(super) newer: bool,
    /// Its workers by the names that the database gave them.
    pub(super) owners: Mutex<Vec<String>>,
}

impl Database {
    pub(super) fn new(shared: &Arc<Shared>) -> Arc<Self> {
        let mut dice = Dice::new(shared.scenario.seed, "database");
        // The clock of leases, which differs from all other clocks.
        let ahead = i64::try_from(dice.below(7_200_000)).unwrap_or_default() - 3_600_000;
        let time = shared.time.clone();
        let clock = move || i64::try_from(time.now()).unwrap_or(i64::MAX).saturating_add(ahead);
        let store = SqliteStore::in_memory(clock).expect("an empty store in memory opens");
        let mut chance = |kind, most| {
            let (present, heavy) = (dice.per_mille(500), dice.between(5, most));
            if present && shared.scenario.has(kind) { heavy } else { 0 }
        };
        let (lost, slow) = (chance(Disturbance::LostConnections, 120), chance(Disturbance::SlowDatabase, 60));
        let notifies = dice.per_mille(500);
        Arc::new(Self {
            shared: Arc::clone(shared),
            store: Arc::new(store),
            state: Mutex::new(Network { up: true, epoch: 0, dice, lost, slow, notifies }),
            changed: Notify::new(),
            connections: AtomicU64::new(0),
        })
    }

    pub(super) fn connect(self: &Arc<Self>, seat: &Arc<Seat>, newer: bool) -> Arc<Connection> {
        Arc::new(Connection {
            database: Arc::clone(self),
            seat: Arc::clone(seat),
            number: self.connections.fetch_add(1, Ordering::SeqCst),
            newer,
            owners: Mutex::default(),
        })
    }

    /// Kills the primary; a while later the standby replaces it.
    pub(super) async fn fail_over(&self, pause: Millis) {
        self.network().up = false;
        self.network().epoch += 1;
        self.shared.note(format_args!("the database fails over"));
        self.shared.time.sleep(pause).await;
        self.network().up = true;
        self.shared.note(format_args!("the database is back"));
        self.changed.notify_waiters();
    }

    pub(super) fn notifies(&self) -> bool {
        let mut network = self.network();
        network.notifies && !network.dice.per_mille(100)
    }

    /// Whether any notification ever arrives.
    pub(super) fn is_listening(&self) -> bool {
        self.network().notifies
    }

    fn network(&self) -> MutexGuard<'_, Network> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn way(&self) -> Option<Way> {
        let troubled = self.shared.is_troubled();
        let mut network = self.network();
        let (there, back) = (network.dice.between(1, 12), network.dice.between(1, 12));
        let (lost, slow) = (network.lost, network.slow);
        let (lost, late) = (network.dice.per_mille(lost) && troubled, network.dice.per_mille(slow) && troubled);
        let (after, longer) = (network.dice.per_mille(500), network.dice.between(500, 14_000));
        if !network.up {
            return None;
        }
        Some(Way {
            epoch: network.epoch,
            there: if late && !after { longer } else { there },
            back: if late && after { longer } else { back },
            lost_before: lost && !after,
            lost_after: lost && after,
        })
    }

    /// Returns whether an arriving change is made. A primary that dies may or may not have made a change that was under way.
    fn makes(&self, way: &Way) -> bool {
        let mut network = self.network();
        if network.epoch == way.epoch {
            return network.up && !way.lost_before;
        }
        let either = network.dice.per_mille(500);
        !network.up && either && !way.lost_before
    }

    fn acknowledges(&self, way: &Way) -> bool {
        self.network().epoch == way.epoch && !way.lost_after
    }
}

impl Connection {
    /// Sends a change to the database, which makes it atomically and returns its result. If the process dies meanwhile, the change
    /// may still be made.
    pub(super) async fn travel<R: Send + 'static>(
        &self,
        change: impl Future<Output = Result<R, StoreError>> + Send + 'static,
    ) -> Result<R, StoreError> {
        self.seat.awake().await;
        let time = self.database.shared.time.clone();
        let Some(way) = self.database.way() else {
            time.sleep(20).await;
            return Err(self.away("the connection was refused").await);
        };
        let (tell, told) = oneshot::channel();
        let database = Arc::clone(&self.database);
        tokio::spawn(async move {
            time.sleep(way.there).await;
            if !database.makes(&way) {
                return;
            }
            let result = change.await;
            time.sleep(way.back).await;
            if database.acknowledges(&way) {
                // The process may have ended.
                let _ = tell.send(result);
            }
        });
        match told.await {
            Ok(result) => {
                self.seat.awake().await;
                result
            }
            Err(_) => Err(self.away("the connection was lost").await),
        }
    }

    async fn away(&self, why: &str) -> StoreError {
        self.seat.awake().await;
        self.database.shared.excuse(self.seat.account);
        StoreError::Unavailable(why.to_owned())
    }

    /// Whether a worker of this process has this name.
    pub(super) fn is(&self, owner: &str) -> bool {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|own| own == owner)
    }
}

/// The prefix of states of the next version.
const NEXT: &str = "next version: ";

impl Connection {
    pub(super) const fn version(&self) -> i32 {
        if self.newer { 2 } else { 1 }
    }

    /// Returns a state as this version writes it.
    pub(super) fn written(&self, state: &str) -> String {
        if self.newer { format!("{NEXT}{state}") } else { state.to_owned() }
    }

    /// Returns a row as this version reads it. The old version cannot read states of the next.
    pub(super) fn read(&self, mut row: IntentRow) -> IntentRow {
        if self.newer
            && let Some(state) = row.state.strip_prefix(NEXT)
        {
            row.state = state.to_owned();
        }
        row
    }
}
