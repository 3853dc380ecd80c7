//! The statements of one payment share the connections of their process, and none of them keeps a connection from the others.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use pg_faulty_intents::{Before, FaultyStore};
use pg_hyper::{Clock, proto::machine::Moment};
use pg_intents::{Fleet, FleetPlan, FleetQuestion, FleetStep, SqliteStore, StoreError};
use tokio::{sync::Notify, task::yield_now};

use crate::{
    machines::token,
    world::{Fault, LEASE, World, by_key},
};

/// A clock at which no time passes: short pauses end at once, and a third of a lease is over when a test says so.
#[derive(Clone, Default)]
pub(crate) struct Beats(Arc<Notify>);

impl Beats {
    pub(crate) fn beat(&self) {
        self.0.notify_one();
    }

    pub(crate) fn plan(&self, name: &str) -> FleetPlan {
        World::plan(name).clock(self.clone())
    }
}

impl Clock for Beats {
    fn now(&self) -> Moment {
        Moment::from_millis(1_700_000_000_000)
    }

    fn sleep_until(&self, moment: Moment) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        let beat = Arc::clone(&self.0);
        let is_beat = moment.since(self.now()) == LEASE / 3;
        Box::pin(async move {
            match is_beat {
                true => beat.notified().await,
                false => yield_now().await,
            }
        })
    }
}

/// The only connection of a process: a statement in progress has it until another statement waits for it.
#[derive(Default)]
struct Connection {
    is_taken: AtomicBool,
    is_wanted: AtomicBool,
    /// Statements that got no connection, since the one that had it was not continued.
    blocked: AtomicUsize,
}

impl Connection {
    async fn keep_until_wanted(&self) {
        self.is_taken.store(true, Ordering::SeqCst);
        while !self.is_wanted.load(Ordering::SeqCst) {
            yield_now().await;
        }
        self.is_taken.store(false, Ordering::SeqCst);
    }

    async fn take(&self) -> Result<(), StoreError> {
        for _ in 0..1_000 {
            if !self.is_taken.load(Ordering::SeqCst) {
                return Ok(());
            }
            self.is_wanted.store(true, Ordering::SeqCst);
            yield_now().await;
        }
        self.blocked.fetch_add(1, Ordering::SeqCst);
        Err(StoreError::Unavailable("no answer".to_owned()))
    }
}

/// While the statement of a machine has the connection, a third of the lease passes, and this other statement wants it.
fn contended(
    world: &World,
    beats: &Beats,
    machine: &'static str,
    other: &'static str,
) -> (Arc<FaultyStore<SqliteStore>>, Arc<Connection>) {
    let connection = Arc::<Connection>::default();
    let (shared, beats) = (Arc::clone(&connection), beats.clone());
    let store = world.faulty(None).before(move |method| -> Before {
        let (connection, beats) = (Arc::clone(&shared), beats.clone());
        Box::pin(async move {
            if method == machine {
                beats.beat();
                connection.keep_until_wanted().await;
            } else if method == other {
                connection.take().await?;
            }
            Ok(())
        })
    });
    (Arc::new(store), connection)
}

#[tokio::test]
async fn a_statement_of_a_machine_does_not_keep_the_connection_that_its_events_need() {
    let (world, beats) = (World::new(), Beats::default());
    let wire = world.wire(None);
    let (store, connection) = contended(&world, &beats, "begin", "events");
    let fleet = Fleet::new(world.client(&wire), store, beats.plan("one")).await.unwrap();
    let opened = fleet.checkout("cart-1", token()).await.unwrap();
    assert!(matches!(&opened, FleetStep::Ask(FleetQuestion::Redirect { .. })), "{opened:?}");
    let is_wanted = connection.is_wanted.load(Ordering::SeqCst);
    assert_eq!((is_wanted, connection.blocked.load(Ordering::SeqCst)), (true, 0));
}

#[tokio::test]
async fn a_statement_of_a_machine_does_not_keep_the_connection_that_its_lease_needs() {
    let (world, beats) = (World::new(), Beats::default());
    let (wire, key) = (world.wire(Some(Fault::Lost)), world.card_key().await);
    let (store, connection) = contended(&world, &beats, "save", "renew");
    let fleet = Fleet::new(world.client(&wire), store, beats.plan("one")).await.unwrap();
    assert_eq!(fleet.charge(by_key(&key, "order-1")).await.unwrap().name(), "approved");
    let is_wanted = connection.is_wanted.load(Ordering::SeqCst);
    assert_eq!((is_wanted, connection.blocked.load(Ordering::SeqCst)), (true, 0));
}
