//! What a fleet achieves, as a ratio to the same server's own `pgbench`. Only by hand, and optimised:
//! `PG_FLEET_FIGURES=10000 cargo test --release -p pg-intents --all-features figures -- --ignored --nocapture`.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::Request;
use pg_hyper::{
    Client, HyperTransport, Transport as _,
    proto::model::{AuthCardKey, CardKey, TokeniseTransactionKey},
};
use pg_intents::{
    Fleet, FleetPlan, IntentFilter, IntentStatus, IntentStore, PostgresStore, SealKey, SealedStore, Sealing,
    SqliteStore,
};
use pg_sandbox::{Config, Server as Sandbox};
use pg_stores::Postgres;
use tokio::{sync::Notify, task::JoinSet};

use crate::{
    proof::client,
    world::{by_card, order},
};

/// Charges that each worker has under way.
const AT_ONCE: usize = 16;
/// As the service permits.
const FAILURES: u32 = 5;

/// References are used once.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// What is charged, and where.
struct Figures<'a> {
    sandbox: &'a Sandbox,
    key: &'a CardKey,
    charges: usize,
    /// What the server's own benchmark commits in a second.
    commits: f64,
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn figures() {
    let charges = env::var("PG_FLEET_FIGURES").map_or(10_000, |charges| charges.parse::<usize>().unwrap());
    let server = Postgres::start(&[]).unwrap();
    let sandbox = Sandbox::start(Config::default()).await.unwrap();
    let first = client(&sandbox.base_url()).call(&by_card("first", 100)).await.unwrap();
    let stored =
        client(&sandbox.base_url()).call(&TokeniseTransactionKey::new(&first.record().transaction_key)).await.unwrap();
    let key = stored.card_key_details[0].card_key.clone();
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let commits = server.pgbench(8, 10).unwrap();
    let figures = Figures { sandbox: &sandbox, key: &key, charges, commits };
    println!("| | charges/s | statements a charge | commits, of pgbench's |\n|---|---|---|---|");
    println!("| `pgbench -N`, 8 clients | | | {commits:.0} a second |");
    for (limit, failures) in [("", u32::MAX), (", at most 5 requests in flight", FAILURES)] {
        for workers in [1, 2, 4] {
            let stores = connected(&server, workers).await;
            let title = format!("PostgreSQL, {workers} {}{limit}", if workers == 1 { "worker" } else { "workers" });
            figures.over_postgres(&server, &title, stores, failures).await;
        }
    }
    let store = SealedStore::open(connected(&server, 1).await.remove(0), sealing()).await.unwrap();
    figures.over_postgres(&server, "PostgreSQL, sealed, 1 worker", vec![Arc::new(store)], u32::MAX).await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| Arc::new(SqliteStore::open(folder.path().join(name)).unwrap());
    let rate = figures.charged(vec![file("clear.sqlite")], u32::MAX).await;
    println!("| SQLite, 1 worker | {rate:.0} | | |");
    let store = SealedStore::open(file("sealed.sqlite"), sealing()).await.unwrap();
    let rate = figures.charged(vec![Arc::new(store)], u32::MAX).await;
    println!("| SQLite, sealed, 1 worker | {rate:.0} | | |");
    resumed(&server, &sandbox, &key).await;
}

fn sealing() -> Sealing {
    Sealing::new(SealKey::from_bytes(&[7; 32])).accept_clear()
}

/// As the processes of a shop open it.
async fn connected(server: &Postgres, workers: usize) -> Vec<Arc<PostgresStore>> {
    let mut stores = Vec::new();
    for _ in 0..workers {
        let store = PostgresStore::connect(&server.url("postgres")).await.unwrap();
        stores.push(Arc::new(store.listening(&server.url("postgres")).unwrap()));
    }
    stores
}

impl Figures<'_> {
    async fn over_postgres<S: IntentStore>(&self, server: &Postgres, title: &str, stores: Vec<Arc<S>>, failures: u32) {
        let before = statements(server);
        let rate = self.charged(stores, failures).await;
        // A connection reports its statements when it ends.
        while server
            .psql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pg-intents'")
            .unwrap()
            != "0"
        {
            tokio::task::yield_now().await;
        }
        let each = (statements(server) - before) / f64::from(u32::try_from(self.charges).unwrap());
        let ratio = rate * 2.0 / self.commits;
        println!("| {title} | {rate:.0} | {each:.2} | {ratio:.2} |");
    }

    /// Charges a second of workers that share a database, each at work on what others leave behind too.
    async fn charged<S: IntentStore>(&self, stores: Vec<Arc<S>>, failures: u32) -> f64 {
        let workers = stores.len();
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let (mut fleets, mut running, mut calls) = (Vec::new(), JoinSet::new(), JoinSet::new());
        for (number, store) in stores.into_iter().enumerate() {
            let plan = FleetPlan::new(format!("w{number}")).per_minute(u32::MAX).failures(failures);
            let fleet = Fleet::new(client(&self.sandbox.base_url()), store, plan).await.unwrap();
            // Processes try their credentials one after the other.
            let first = order(&format!("run-{run}-{number}-first"), 499);
            assert_eq!(fleet.charge(AuthCardKey::new(self.key, first)).await.unwrap().name(), "approved");
            let worker = fleet.clone();
            running.spawn(async move { worker.run().await });
            fleets.push(fleet);
        }
        let each = self.charges / workers;
        let timer = clock();
        for (number, fleet) in fleets.iter().enumerate() {
            for lane in 0..AT_ONCE {
                let (fleet, key) = (fleet.clone(), self.key.clone());
                calls.spawn(async move {
                    for at in (lane..each).step_by(AT_ONCE) {
                        let order = order(&format!("run-{run}-{number}-{at}"), 499);
                        assert_eq!(fleet.charge(AuthCardKey::new(&key, order)).await.unwrap().name(), "approved");
                    }
                });
            }
        }
        while let Some(call) = calls.join_next().await {
            call.unwrap();
        }
        let rate = f64::from(u32::try_from(each * workers).unwrap()) / timer.elapsed().as_secs_f64();
        fleets.iter().for_each(Fleet::shut_down);
        while let Some(run) = running.join_next().await {
            run.unwrap();
        }
        rate
    }
}

/// Statements that the server has executed: each is its own transaction.
fn statements(server: &Postgres) -> f64 {
    server
        .psql("postgres", "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'")
        .unwrap()
        .parse()
        .unwrap()
}

/// From a worker's death, with its payment executed and the reply on its way, until another worker has ended it.
async fn resumed(server: &Postgres, sandbox: &Sandbox, key: &CardKey) {
    let lease = Duration::from_secs(2);
    let store = Arc::new(PostgresStore::connect(&server.url("postgres")).await.unwrap());
    let plan = |name: &str| FleetPlan::new(name).lease(lease);
    let executed = Arc::new(Notify::new());
    let told = Arc::clone(&executed);
    let without_reply = move |request: Request<Bytes>| {
        let told = Arc::clone(&told);
        async move {
            let reply = HyperTransport::new().send(request).await;
            told.notify_one();
            std::future::pending::<()>().await;
            reply
        }
    };
    let alive = Fleet::new(client(&sandbox.base_url()), Arc::clone(&store), plan("alive")).await.unwrap();
    let dies = Client::with_transport(alive.client().account().clone(), without_reply);
    let dies = Fleet::new(dies, Arc::clone(&store), plan("dies")).await.unwrap();
    let charge = AuthCardKey::new(key, order("orphan", 499));
    let worker = tokio::spawn(async move { dies.charge(charge).await });
    executed.notified().await;
    worker.abort();
    let timer = clock();
    let running = tokio::spawn(async move { alive.run().await });
    loop {
        let rows = store.list(IntentFilter::default()).await.unwrap();
        let orphan = rows.iter().find(|row| row.key.reference == "orphan").unwrap();
        if orphan.status == IntentStatus::Ended {
            break;
        }
        tokio::time::timeout(Duration::from_millis(20), std::future::pending::<()>()).await.unwrap_err();
    }
    let (seconds, lease) = (timer.elapsed().as_secs_f64(), lease.as_secs());
    println!("a dead worker's charge has its outcome after {seconds:.1} s, with a lease of {lease} s");
    running.abort();
}

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn clock() -> tokio::time::Instant {
    tokio::time::Instant::now()
}
