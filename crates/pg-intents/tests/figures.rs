//! What a fleet achieves, as a ratio to the same server's own `pgbench`. Only by hand, and optimised:
//! `PG_FLEET_FIGURES=2000 cargo test --release -p pg-intents figures -- --nocapture`.

use std::{env, sync::Arc, time::Duration};

use pg_hyper::proto::model::{AuthCardKey, CardKey, TokeniseTransactionKey};
use pg_intents::{Fleet, FleetPlan, IntentKey, IntentLease, IntentStore, NewIntent, PostgresStore, SqliteStore};
use pg_sandbox::{Config, Server as Sandbox};
use tokio::task::JoinSet;

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
        let rate = charged(&sandbox, &key, &stores, charges, "postgres").await;
        let ratio = rate * 2.0 / transactions;
        println!("PostgreSQL, {workers} workers: {rate:.0} charges/s, 2 commits each: {ratio:.2} of pgbench's commits");
    }
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(folder.path().join("intents.sqlite")).unwrap());
    let rate = charged(&sandbox, &key, &[store], charges, "sqlite").await;
    println!("SQLite, 1 worker: {rate:.0} charges/s");
    resumed(&server).await;
}

async fn charged<S: IntentStore>(
    sandbox: &Sandbox,
    key: &CardKey,
    stores: &[Arc<S>],
    charges: usize,
    name: &str,
) -> f64 {
    let workers = stores.len();
    let mut calls = JoinSet::new();
    let timer = clock();
    for (number, store) in stores.iter().enumerate() {
        let plan = FleetPlan::new(format!("w{number}")).per_minute(u32::MAX).failures(u32::MAX);
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

/// From a worker's death until another one has its intent, polling ten times a second.
async fn resumed(server: &Server) {
    let store = PostgresStore::connect(&server.url()).await.unwrap();
    let lease = Duration::from_secs(2);
    let key = IntentKey::new("figures", "dead");
    let new = NewIntent {
        key: key.clone(),
        kind: "charge authCardKey".to_owned(),
        digest: String::new(),
        request: None,
        state: String::new(),
        version: 1,
        owner: Some("dead#1".to_owned()),
        lease,
    };
    store.begin(new).await.unwrap();
    store.save(&IntentLease { key, owner: "dead#1".to_owned(), fence: 1 }, "", lease).await.unwrap();
    let timer = clock();
    let kinds = [pg_intents::IntentKind { name: "charge authCardKey".to_owned(), version: 1 }];
    while store.claim("figures", "alive#2", 1, lease, &kinds).await.unwrap().is_empty() {
        tokio::time::timeout(Duration::from_millis(100), std::future::pending::<()>()).await.unwrap_err();
    }
    println!(
        "resumed {:.1} s after the last save of a dead worker, with a lease of {} s",
        timer.elapsed().as_secs_f64(),
        lease.as_secs()
    );
}

#[expect(clippy::disallowed_methods, reason = "it measures")]
fn clock() -> tokio::time::Instant {
    tokio::time::Instant::now()
}
