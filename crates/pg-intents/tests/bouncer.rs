//! PgBouncer in transaction mode between the store and the server.

use std::sync::Arc;

use pg_intents::{Fleet, IntentStore as _, PostgresStore, StoreError, conformance};
use pg_stores::{Pooler, Postgres};

use crate::world::{World, by_key};

#[tokio::test]
async fn behind_pgbouncer_in_transaction_mode_a_store_keeps_what_it_promises() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let Some(pooler) = Pooler::before(&server).unwrap() else { return };
    let url = pooler.url(&server.url("postgres"));
    let refused = PostgresStore::connect(&url).await.unwrap_err();
    assert_eq!(refused, StoreError::Older { found: 0, known: 3 }, "{}", pooler.log());
    let (one, other) = tokio::join!(PostgresStore::migrate(&url), PostgresStore::migrate(&url));
    let (one, other) = (Arc::new(one.unwrap()), Arc::new(other.unwrap()));
    // Side by side: each statement may run on another connection of the server.
    tokio::join!(conformance::check(&*one, "one"), conformance::check(&*other, "other"));
    conformance::check_rewriting(&*one, "one").await;

    let (world, wire, key) = World::with_card().await;
    let listening = Arc::new(PostgresStore::connect(&url).await.unwrap().listening(&server.url("postgres")).unwrap());
    let plan = World::plan("one").apart_from(listening.accounts("", u32::MAX).await.unwrap());
    let fleet = Fleet::new(world.client(&wire), listening, plan).await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..20 {
        let (fleet, payment) = (fleet.clone(), by_key(&key, &format!("pooled-{}", number / 2)));
        calls.spawn(async move { fleet.charge(payment).await.unwrap() });
    }
    while let Some(settled) = calls.join_next().await {
        assert_eq!(settled.unwrap().name(), "approved");
    }
    for number in 0..10 {
        assert_eq!(world.ledger(&format!("pooled-{number}")).await.len(), 1);
    }
    let backends =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pg-intents' AND query NOT LIKE 'LISTEN%'";
    let reached = || server.psql("postgres", backends).unwrap().parse::<u32>().unwrap();
    // A connection that the pooler has just replaced may still be ending.
    let all: Vec<u32> = (0..100).map(|_| reached()).take_while(|reached| !(1..=2).contains(reached)).collect();
    assert!(all.len() < 100, "the pooler's connections alone reach the server: {all:?}");
}
