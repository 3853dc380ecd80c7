//! What a fleet achieves, as a ratio to the same server's own `pgbench`. Only by hand, and optimised:
//! `PG_FLEET_FIGURES=2000 cargo test --release -p pg-intents figures -- --nocapture`.

use std::{env, sync::Arc, time::Duration};

use bytes::Bytes;
use http::Request;
use pg_hyper::{
    Client, HyperTransport, Transport as _,
    proto::model::{AuthCardKey, CardKey, TokeniseTransactionKey},
};
use pg_intents::{Fleet, FleetPlan, IntentFilter, IntentStatus, IntentStore, PostgresStore, SqliteStore};
use pg_sandbox::{Config, Server as Sandbox};
use tokio::{sync::Notify, task::JoinSet};

use crate::{
    proof::client,
    server::Server,
    world::{by_card, order},
};

/// Charges that each worker has under way.
const AT_ONCE: usize = 16;

#[tokio::test(flavor = "multi_thread")]
async fn figures() {
    let Some(charges) = env::var("PG_FLEET_FIGURES").ok().map(|charges| charges.parse::<usize>().unwrap()) else {
        return;
    };
    let Some(server) = Server::start() else { return };
    let sandbox = Sandbox::start(Config::default()).await.unwrap();
    let first = client(&sandbox.base_url()).call(&by_card("first", 100)).await.unwrap();
    let stored =
        client(&sandbox.base_url()).call(&TokeniseTransactionKey::new(&first.record().transaction_key)).await.unwrap();
    let key = stored.card_key_details[0].card_key.clone();
    drop(PostgresStore::migrate(&server.url()).await.unwrap());
    let transactions = server.pgbench();
    println!("pgbench, simple update, 8 clients: {transactions:.0} commits/s");
    for workers in [1, 2, 4] {
        let mut stores = Vec::new();
        for _ in 0..workers {
            stores.push(Arc::new(PostgresStore::connect(&server.url()).await.unwrap()));
        }
        let rate = charged(&sandbox, &key, &stores, charges, "postgres", u32::MAX).await;
        let ratio = rate * 2.0 / transactions;
        println!("PostgreSQL, {workers} workers: {rate:.0} charges/s, 2 commits each: {ratio:.2} of pgbench's commits");
    }
    let stores = [Arc::new(PostgresStore::connect(&server.url()).await.unwrap())];
    let rate = charged(&sandbox, &key, &stores, charges, "places", 5).await;
    println!("PostgreSQL, 1 worker, at most 5 requests in flight: {rate:.0} charges/s");
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("intents.sqlite")).unwrap());
    let rate = charged(&sandbox, &key, &[store], charges, "sqlite", u32::MAX).await;
    println!("SQLite, 1 worker: {rate:.0} charges/s");
    resumed(&server, &sandbox, &key).await;
}

async fn charged<S: IntentStore>(
    sandbox: &Sandbox,
    key: &CardKey,
    stores: &[Arc<S>],
    charges: usize,
    name: &str,
    failures: u32,
) -> f64 {
    let workers = stores.len();
    let mut calls = JoinSet::new();
    let timer = clock();
    for (number, store) in stores.iter().enumerate() {
        let plan = FleetPlan::new(format!("w{number}")).per_minute(u32::MAX).failures(failures);
        let fleet = Fleet::new(client(&sandbox.base_url()), Arc::clone(store), plan).await.unwrap();
        for lane in 0..AT_ONCE {
            let (fleet, key, name) = (fleet.clone(), key.clone(), name.to_owned());
            calls.spawn(async move {
                for at in (lane..charges / workers).step_by(AT_ONCE) {
                    let order = order(&format!("{name}-{workers}-{number}-{at}"), 499);
                    assert_eq!(fleet.charge(AuthCardKey::new(&key, order)).await.unwrap().name(), "approved");
                }
            });
        }
    }
    while let Some(call) = calls.join_next().await {
        call.unwrap();
    }
    f64::from(u32::try_from(charges).unwrap()) / timer.elapsed().as_secs_f64()
}

/// From a worker's death, with its payment executed and the reply on its way, until another worker has ended it.
async fn resumed(server: &Server, sandbox: &Sandbox, key: &CardKey) {
    let lease = Duration::from_secs(2);
    let store = Arc::new(PostgresStore::connect(&server.url()).await.unwrap());
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
