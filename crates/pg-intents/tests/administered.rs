//! What a database administrator does to a server while processes use it.

use std::{sync::Arc, time::Duration};

use pg_intents::{IntentKey, IntentStore as _, PostgresStore, ShareWish, StoreError};
use pg_stores::Postgres;
use tokio::task::{JoinSet, yield_now};

const BACKENDS: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pg-intents'";
const WAITING: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pg-intents' AND wait_event_type = 'Lock'";
const SYNC: &str = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'pg-intents' AND wait_event = 'SyncRep'";
const END_ALL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pg-intents'";

fn key() -> IntentKey {
    IntentKey::new("shop", "order-1")
}

/// Locks the intents until the client is dropped, as `VACUUM FULL` or a forgotten session does.
async fn lock(server: &Postgres) -> tokio_postgres::Client {
    let (other, connection) = tokio_postgres::connect(&server.url("postgres"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    other.batch_execute("BEGIN; LOCK TABLE payment_intents").await.unwrap();
    other
}

async fn until(server: &Postgres, sql: &str, count: &str) {
    while server.psql("postgres", sql).unwrap() != count {
        yield_now().await;
    }
}

#[tokio::test]
async fn statements_that_wait_for_a_lock_keep_to_the_connections_of_their_process() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let locked = lock(&server).await;
    let call = || {
        let store = Arc::clone(&store);
        async move { store.find(&key()).await }
    };
    // Customers who leave while their statement waits.
    for number in 1..=8 {
        let left = tokio::spawn(call());
        until(&server, WAITING, &number.to_string()).await;
        left.abort();
        assert!(left.await.unwrap_err().is_cancelled());
    }
    let mut calls = JoinSet::new();
    for _ in 0..12 {
        calls.spawn(call());
    }
    // Few, since the statements wait no longer than their timeout.
    for _ in 0..10 {
        yield_now().await;
        assert_eq!(server.psql("postgres", BACKENDS).unwrap(), "8");
    }
    drop(locked);
    while let Some(found) = calls.join_next().await {
        assert_eq!(found.unwrap(), Ok(None));
    }
    assert_eq!(server.psql("postgres", BACKENDS).unwrap(), "8");
}

/// Both find it free, and one waits for the other's commit.
#[tokio::test]
async fn of_two_processes_that_take_a_share_at_once_only_one_has_it() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    let (other, connection) = tokio_postgres::connect(&server.url("postgres"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    let taken = "INSERT INTO payment_shares (account, number, owner, due, usable) VALUES ('shop', 0, 'w1', 9223372036854775807, 0)";
    other.batch_execute(&format!("BEGIN; {taken}")).await.unwrap();
    let taking = tokio::spawn(async move {
        let (lease, longest, quarantine) = (Duration::from_secs(60), Duration::from_secs(60), Duration::ZERO);
        store.shares(ShareWish { account: "shop", owner: "w2", total: 1, most: 1, lease, longest, quarantine }).await
    });
    until(&server, WAITING, "1").await;
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(taking.await.unwrap(), Ok(0));
}

/// The server may be the primary of before a failover, with locks of commits that wait for ever.
#[tokio::test]
async fn after_a_statement_that_the_server_has_ended_for_its_time_the_server_is_checked_again() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    let locked = lock(&server).await;
    let error = store.find(&key()).await.unwrap_err();
    assert!(error.to_string().contains("statement timeout (57014)"), "{error}");
    assert_eq!(server.psql("postgres", WAITING).unwrap(), "0");
    drop(locked);
    server.psql("postgres", "ALTER ROLE pg SET synchronous_commit = off").unwrap();
    let error = store.find(&key()).await.unwrap_err();
    assert!(error.to_string().contains("synchronous_commit is off"), "{error}");
    server.psql("postgres", "ALTER ROLE pg RESET synchronous_commit").unwrap();
    assert_eq!(store.find(&key()).await, Ok(None));
    until(&server, BACKENDS, "1").await;
}

/// Commits wait for a synchronous standby that is away.
#[tokio::test]
async fn outcomes_are_read_while_all_changes_wait_for_a_standby() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let set = |sql: &str| {
        server.psql("postgres", sql).unwrap();
        server.psql("postgres", "SELECT pg_reload_conf()").unwrap();
    };
    set("ALTER SYSTEM SET synchronous_standby_names = 'away'");
    until(&server, "SHOW synchronous_standby_names", "away").await;
    let mut changes = JoinSet::new();
    for number in 0..12 {
        let store = Arc::clone(&store);
        changes.spawn(async move { store.stop(&format!("shop-{number}"), Some("credentials")).await });
    }
    // All of them have begun when the first wait.
    until(&server, &format!("SELECT count(*) >= 7 FROM ({SYNC}) AS waiting"), "t").await;
    assert_eq!(store.find(&key()).await, Ok(None));
    assert_eq!(store.stopped("shop").await, Ok(None));
    set("ALTER SYSTEM RESET synchronous_standby_names");
    while let Some(stopped) = changes.join_next().await {
        assert_eq!(stopped.unwrap(), Ok(()));
    }
    assert_eq!(store.stopped("shop-11").await.unwrap().as_deref(), Some("credentials"));
    assert_eq!(server.psql("postgres", BACKENDS).unwrap(), "8");
}

/// As after a restart of the server: the connections that it ended are not the fault of the caller.
#[tokio::test]
async fn a_read_over_a_connection_that_the_server_has_ended_is_made_over_another() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    for _ in 0..10 {
        assert_eq!(store.find(&key()).await, Ok(None));
        server.psql("postgres", END_ALL).unwrap();
    }
}

#[tokio::test]
async fn a_server_that_may_lose_commits_from_now_on_is_refused_by_the_next_connection() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    server.psql("postgres", "ALTER ROLE pg SET synchronous_commit = off").unwrap();
    server.psql("postgres", END_ALL).unwrap();
    // The first statement may meet the connection that was ended.
    while !store.enlist("w").await.unwrap_err().to_string().contains("synchronous_commit is off") {
        yield_now().await;
    }
    server.psql("postgres", "ALTER ROLE pg RESET synchronous_commit").unwrap();
    assert_eq!(store.enlist("w").await.unwrap(), "w#1");
}

/// Logical replication of a whole database, for example for an upgrade of the server.
#[tokio::test]
async fn a_store_that_is_published_can_be_opened_and_changed() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    server.psql("postgres", "CREATE PUBLICATION everything FOR ALL TABLES").unwrap();
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    assert_eq!(store.enlist("w").await.unwrap(), "w#1");
    assert!(!store.deliver(&key(), "event").await.unwrap());
}

/// An empty store would offer every paid order again.
#[tokio::test]
async fn no_second_store_is_begun_because_the_first_is_not_searched() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let url = server.url("postgres");
    drop(PostgresStore::migrate(&url).await.unwrap());
    let said = |sql: &str| server.psql("postgres", sql).unwrap();
    said("CREATE SCHEMA other; ALTER ROLE pg SET search_path = other");
    let elsewhere = StoreError::Elsewhere { schema: "public".to_owned() };
    assert_eq!(PostgresStore::connect(&url).await.unwrap_err(), elsewhere);
    assert_eq!(PostgresStore::migrate(&url).await.unwrap_err(), elsewhere);
    assert_eq!(said("SELECT to_regclass('other.payment_store') IS NULL"), "t");
    // Without a right on its schema, a store is not found either.
    said("ALTER ROLE pg RESET search_path; CREATE ROLE shop LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC");
    said("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO shop");
    let shop = url.replace("pg@", "shop@");
    assert_eq!(PostgresStore::connect(&shop).await.unwrap_err(), elsewhere);
    // An administrator may want a second store.
    said("ALTER ROLE pg SET search_path = other");
    for migration in pg_intents::POSTGRES_MIGRATIONS {
        said(migration);
    }
    assert_eq!(PostgresStore::connect(&url).await.unwrap().enlist("w").await.unwrap(), "w#1");
}

#[tokio::test]
async fn shops_with_a_role_and_a_schema_each_have_a_store_each() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let said = |sql: &str| server.psql("postgres", sql).unwrap();
    said(
        "CREATE ROLE one LOGIN; CREATE ROLE two LOGIN; CREATE SCHEMA one AUTHORIZATION one; CREATE SCHEMA two AUTHORIZATION two",
    );
    let [one, two] = ["one@", "two@"].map(|role| server.url("postgres").replace("pg@", role));
    drop(PostgresStore::migrate(&one).await.unwrap());
    let store = PostgresStore::migrate(&two).await.unwrap();
    assert_eq!(store.enlist("w").await.unwrap(), "w#1");
    assert_eq!(said("SELECT count(*) FROM pg_class WHERE relname = 'payment_intents'"), "2");
    // Its own store is found, also if it is not searched.
    said("CREATE SCHEMA other AUTHORIZATION one; ALTER ROLE one SET search_path = other");
    let elsewhere = StoreError::Elsewhere { schema: "one".to_owned() };
    assert_eq!(PostgresStore::migrate(&one).await.unwrap_err(), elsewhere);
}
