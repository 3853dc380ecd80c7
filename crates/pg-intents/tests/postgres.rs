//! The store in PostgreSQL.

use std::{sync::Arc, time::Duration};

use pg_intents::{
    Fleet, IntentEnd, IntentKey, IntentLease, IntentStatus, IntentStore as _, NewIntent, POSTGRES_MIGRATIONS,
    PostgresStore, StoreError, conformance,
};
use pg_stores::Postgres;

use crate::{
    between::before,
    world::{World, by_key, submitted},
};

#[tokio::test]
async fn a_server_keeps_what_a_store_promises() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let refused = PostgresStore::connect(&server.url("postgres")).await.unwrap_err();
    assert_eq!(refused, StoreError::Older { found: 0, known: 3 });
    // Two processes at once.
    let url = server.url("postgres");
    let (one, other) = tokio::join!(PostgresStore::migrate(&url), PostgresStore::migrate(&url));
    conformance::check(&one.unwrap(), "one").await;
    conformance::check(&other.unwrap(), "other").await;
    // Without rights beyond its tables, as a database administrator would set it up.
    server
        .psql(
            "postgres",
            "CREATE ROLE shop LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO shop",
        )
        .unwrap();
    let humble = PostgresStore::connect(&url.replace("pg@", "shop@")).await.unwrap();
    conformance::check(&humble, "humble").await;
    conformance::check_durable(async || PostgresStore::connect(&url).await, "other connections").await;
}

#[tokio::test]
async fn migrations_that_were_run_by_hand_serve_as_well() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    for migration in POSTGRES_MIGRATIONS {
        server.psql("postgres", migration).unwrap();
    }
    let store = PostgresStore::connect(&server.url("postgres")).await.unwrap();
    assert_eq!(store.enlist("w").await.unwrap(), "w#1");
    server.psql("postgres", "UPDATE payment_store SET version = 9").unwrap();
    let newer = PostgresStore::connect(&server.url("postgres")).await.unwrap_err();
    assert_eq!(newer, StoreError::Newer { found: 9, known: 3 });
}

#[tokio::test]
async fn foreign_read_only_and_non_durable_databases_are_refused_in_one_line() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let why = async |url: &str| {
        let error = PostgresStore::migrate(url).await.unwrap_err();
        let text = error.to_string();
        assert!(!text.contains('\n') && !text.contains("hunter2"), "{text}");
        text
    };
    server
        .psql("postgres", "CREATE TABLE payment_intents (name text); INSERT INTO payment_intents VALUES ('mine')")
        .unwrap();
    assert!(why(&server.url("postgres")).await.contains("the table payment_intents"));
    assert_eq!(
        server.psql("postgres", "SELECT name FROM payment_intents").unwrap(),
        "mine",
        "foreign rows are left alone"
    );
    server.psql("postgres", "CREATE TABLE payment_store (other int)").unwrap();
    assert!(why(&server.url("postgres")).await.contains("the table payment_store"));
    server.psql("postgres", "ALTER ROLE pg SET default_transaction_read_only = on").unwrap();
    assert!(why(&server.url("postgres")).await.contains("read-only"));
    server.psql("postgres", "ALTER ROLE pg RESET default_transaction_read_only").unwrap();
    server.psql("postgres", "ALTER ROLE pg SET synchronous_commit = off").unwrap();
    assert!(why(&server.url("postgres")).await.contains("synchronous_commit is off"));
    assert!(why("postgres://pg:hunter2@127.0.0.1:1/postgres").await.contains("cannot be used"));
    assert!(why("postgres://pg:hunter2@[").await.contains("invalid"));
    assert!(why(&(server.url("postgres") + "?sslmode=require")).await.contains("cannot be used"));
}

/// As after a failover: the old server cannot be written, and the connections to it are not kept until it can.
#[tokio::test]
async fn connections_to_a_server_that_cannot_be_written_are_not_kept() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    let said = |sql: &str| server.psql("postgres", sql).unwrap();
    said("ALTER ROLE pg SET default_transaction_read_only = on");
    said("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pg-intents'");
    // The first statements may meet the connections that were cut.
    while !store.enlist("w").await.unwrap_err().to_string().contains("read-only") {
        tokio::task::yield_now().await;
    }
    said("ALTER ROLE pg RESET default_transaction_read_only");
    assert_eq!(store.enlist("w").await.unwrap(), "w#1");
}

/// What it says may be late: a worker would take a callback that it does not have yet for one that was processed.
#[tokio::test]
async fn nothing_is_read_from_a_standby() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    let key = IntentKey::new("shop", "order-1");
    assert_eq!(store.find(&key).await, Ok(None));
    server.psql("postgres", "COPY (SELECT 1) TO PROGRAM 'touch standby.signal; cat >/dev/null'").unwrap();
    server.stop_at_once().unwrap();
    server.start_again().unwrap();
    while !store.find(&key).await.unwrap_err().to_string().contains("it is a standby") {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.psql("postgres", "SELECT pg_promote()").unwrap(), "t");
    assert_eq!(store.find(&key).await, Ok(None));
    assert_eq!(store.enlist("w").await.unwrap(), "w#1");
}

/// As when the machine of the old primary boots again after a failover: it would offer every order again that was paid since.
#[tokio::test]
async fn the_primary_of_before_a_failover_is_refused() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    let key = IntentKey::new("shop", "order-1");
    assert_eq!(store.find(&key).await, Ok(None));
    let run = |program: &str| {
        server.psql("postgres", &format!("COPY (SELECT 1) TO PROGRAM '{program}; cat >/dev/null'")).unwrap();
    };
    server.psql("postgres", "CHECKPOINT").unwrap();
    run("cp -a . ../old; rm ../old/postmaster.pid; touch standby.signal");
    server.stop_at_once().unwrap();
    server.start_again().unwrap();
    assert_eq!(server.psql("postgres", "SELECT pg_promote()").unwrap(), "t");
    // The first look may meet connections that were cut.
    while store.begin(submitted("shop", "order-1")).await.is_err() {
        tokio::task::yield_now().await;
    }
    run("cd ..; mv data new; mv old data");
    server.stop_at_once().unwrap();
    server.start_again().unwrap();
    let refused = store.find(&key).await.unwrap_err().to_string();
    assert!(refused.contains("this server was the primary before a failover (its timeline is 1"), "{refused}");
}

/// The same with both servers in one address: the driver takes the first that can be written, which is the old primary.
#[tokio::test]
async fn the_present_primary_is_found_behind_the_old_one() {
    let Some(old) = Postgres::for_one_test(&[]) else { return };
    let Some(new) = Postgres::for_one_test(&[]) else { return };
    let servers = format!("127.0.0.1:{},127.0.0.1:{}", old.port(), new.port());
    let url = format!("postgres://pg@{servers}/postgres?target_session_attrs=read-write");
    let store = PostgresStore::migrate(&url).await.unwrap();
    let key = IntentKey::new("shop", "order-1");
    let run = |server: &Postgres, program: &str| {
        server.psql("postgres", &format!("COPY (SELECT 1) TO PROGRAM '{program}; cat >/dev/null'")).unwrap();
    };
    let data = new.psql("postgres", "SHOW data_directory").unwrap();
    old.psql("postgres", "CHECKPOINT").unwrap();
    run(&old, &format!("cp -a . {data}/../copy; cd {data}/../copy; rm postmaster.pid; touch standby.signal"));
    run(&new, "cd ..; mv data before; mv copy data");
    old.stop_at_once().unwrap();
    new.stop_at_once().unwrap();
    new.start_again().unwrap();
    assert_eq!(new.psql("postgres", "SELECT pg_promote()").unwrap(), "t");
    // The first look may meet connections that were cut.
    while store.begin(submitted("shop", "order-1")).await.is_err() {
        tokio::task::yield_now().await;
    }

    old.start_again().unwrap();
    // It is refused for its timeline also if nothing may be stored by it anyway.
    old.psql("postgres", "ALTER SYSTEM SET fsync = off").unwrap();
    old.psql("postgres", "SELECT pg_reload_conf()").unwrap();
    while old.psql("postgres", "SHOW fsync").unwrap() != "off" {
        tokio::task::yield_now().await;
    }
    let ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pg-intents'";
    new.psql("postgres", ends).unwrap();
    let found = loop {
        match store.find(&key).await {
            Err(error) if error.to_string().contains("closed") => tokio::task::yield_now().await,
            found => break found,
        }
    };
    assert_eq!(found.unwrap().map(|row| row.key), Some(key.clone()));

    // A process that starts does not go on to the old primary because the present one is refused for its settings.
    new.psql("postgres", "ALTER SYSTEM SET fsync = off").unwrap();
    new.psql("postgres", "SELECT pg_reload_conf()").unwrap();
    while new.psql("postgres", "SHOW fsync").unwrap() != "off" {
        tokio::task::yield_now().await;
    }
    let servers = format!("127.0.0.1:{},127.0.0.1:{}", new.port(), old.port());
    let url = format!("postgres://pg@{servers}/postgres?target_session_attrs=read-write");
    let refused = PostgresStore::connect(&url).await.map(drop).unwrap_err().to_string();
    assert!(refused.contains("fsync is off"), "{refused}");

    // A process that starts now could not tell them apart, so it must not be restarted.
    new.stop_at_once().unwrap();
    let refused = loop {
        let error = store.find(&key).await.unwrap_err().to_string();
        if error.contains("before a failover") {
            break error;
        }
        tokio::task::yield_now().await;
    };
    let server = format!("127.0.0.1:{}: this server was the primary before a failover", old.port());
    assert!(refused.contains(&server) && refused.contains("do not restart this process before that"), "{refused}");
}

#[tokio::test]
async fn a_server_that_is_behind_a_claim_tells_no_events_of_it() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    let mut hold = IntentLease { key: IntentKey::new("shop", "order-1"), owner: "w#1".to_owned(), fence: 1 };
    let is_behind = |told: Result<Vec<(i32, String)>, StoreError>| matches!(told, Err(StoreError::Unavailable(_)));
    assert!(is_behind(store.events_of(&hold, 0).await), "it does not have the row yet");
    store.begin(submitted("shop", "order-1")).await.unwrap();
    assert_eq!(store.events_of(&hold, 0).await, Ok(Vec::new()));
    assert!(store.deliver(&hold.key, "one").await.unwrap());
    assert_eq!(store.events_of(&hold, 0).await, Ok(vec![(1, "one".to_owned())]));
    hold.fence = 2;
    assert!(is_behind(store.events_of(&hold, 0).await));
}

#[tokio::test]
async fn a_connection_that_breaks_while_a_store_is_opened_does_not_make_it_foreign() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let (port, cut) = before(server.port(), b"FROM payment_store", None).await;
    let error = PostgresStore::connect(&format!("postgres://pg@127.0.0.1:{port}/postgres")).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    assert!(cut.load(std::sync::atomic::Ordering::SeqCst) > 0);
}

/// The change may have been made. A question is repeated once.
#[tokio::test]
async fn a_change_whose_connection_breaks_before_its_answer_is_not_repeated() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    drop(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    for (statement, times) in [(&b"INSERT INTO payment_intents"[..], 1), (b"FROM payment_intents AS i WHERE", 2)] {
        let (port, cut) = before(server.port(), statement, None).await;
        let store = PostgresStore::connect(&format!("postgres://pg@127.0.0.1:{port}/postgres")).await.unwrap();
        let begun = store.begin(submitted("shop", "order-1")).await.map(drop);
        let lost = begun.and(store.find(&IntentKey::new("shop", "order-1")).await.map(drop)).unwrap_err();
        assert!(matches!(lost, StoreError::Unavailable(_)), "{lost}");
        assert_eq!(cut.load(std::sync::atomic::Ordering::SeqCst), times);
    }
}

#[tokio::test]
async fn listeners_hear_of_what_is_submitted() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(
        PostgresStore::migrate(&server.url("postgres")).await.unwrap().listening(&server.url("postgres")).unwrap(),
    );
    let heard = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.changed().await }
    });
    // The first wake-up comes when LISTEN begins, or from the submitted payment.
    store.begin(submitted("a", "one")).await.unwrap();
    heard.await.unwrap();
    let mut number = 0;
    let mut again = std::pin::pin!(store.changed());
    loop {
        tokio::select! {
            biased;
            () = &mut again => break,
            begun = async { number += 1; store.begin(submitted("a", &format!("more {number}"))).await } => drop(begun.unwrap()),
        }
    }
}

/// A server that goes away in the middle: errors while it is gone, and the same rows when it is back.
#[tokio::test]
async fn acknowledged_commits_survive_a_crash_of_the_server() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    let key = IntentKey::new("a", "acknowledged");
    let (owner, lease) = (Some("w".to_owned()), Duration::from_secs(60));
    let new = NewIntent { state: "s".to_owned(), owner, lease, ..submitted("a", "acknowledged") };
    store.begin(new).await.unwrap();
    server.stop_at_once().unwrap();
    let gone = store.find(&key).await.unwrap_err();
    assert!(matches!(gone, StoreError::Unavailable(_)), "{gone}");
    server.start_again().unwrap();
    assert_eq!(store.find(&key).await.unwrap().unwrap().state, "s");
}

/// An event is stored by another server while the end waits for the row. The end does not see it, and leaves it behind nevertheless.
#[tokio::test]
async fn an_event_during_the_end_of_an_intent_leaves_no_row() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let begin = async |reference: &str| {
        let (owner, lease) = (Some("w#1".to_owned()), Duration::from_secs(600));
        store.begin(NewIntent { owner, lease, ..submitted("a", reference) }).await.unwrap();
        IntentLease { key: IntentKey::new("a", reference), owner: "w#1".to_owned(), fence: 1 }
    };
    let ended = || IntentEnd {
        status: IntentStatus::Ended,
        state: String::new(),
        outcome: r#"{"outcome":"approved"}"#.to_owned(),
        wake: None,
        heard: 0,
        quiet: Duration::ZERO,
    };
    let left = || server.psql("postgres", "SELECT count(*) FROM payment_events").unwrap();

    let hold = begin("one").await;
    let (mut other, connection) =
        tokio_postgres::connect(&server.url("postgres"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    // As `deliver` does it, before its commit.
    let delivering = other.transaction().await.unwrap();
    let deliver = "UPDATE payment_intents SET inbox = inbox + 1; \
                   INSERT INTO payment_events (account, reference, number, event) VALUES ('a', 'one', 1, 'paid')";
    delivering.batch_execute(deliver).await.unwrap();
    let ending = tokio::spawn({
        let (store, end) = (Arc::clone(&store), ended());
        async move { store.end(&hold, end).await }
    });
    while server.psql("postgres", "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").unwrap()
        == "0"
    {
        tokio::task::yield_now().await;
    }
    delivering.commit().await.unwrap();
    ending.await.unwrap().unwrap();
    assert_eq!(left(), "0");

    // A worker that died between the two left one: it goes when the outcome is acknowledged.
    let hold = begin("two").await;
    store.end(&hold, ended()).await.unwrap();
    server
        .psql(
            "postgres",
            "INSERT INTO payment_events (account, reference, number, event) VALUES ('a', 'two', 1, 'paid')",
        )
        .unwrap();
    store.told(&hold.key, 1).await.unwrap();
    assert_eq!(left(), "0");
}

/// Runs a worker over this store with this poll interval. It ends the payments that another server submits one after the other,
/// until it has ended the first.
pub(crate) async fn picks_up(server: &Postgres, store: PostgresStore, poll: Duration) {
    let (world, wire, key) = World::with_card().await;
    let worker = Fleet::new(world.client(&wire), Arc::new(store), World::plan("worker").poll(poll)).await.unwrap();
    let other = Arc::new(PostgresStore::connect(&server.url("postgres")).await.unwrap());
    let submitter = Fleet::new(world.client(&wire), other, World::plan("other")).await.unwrap();
    let running = tokio::spawn({
        let worker = worker.clone();
        async move { worker.run().await }
    });
    let mut number = 0;
    while !matches!(submitter.outcome("order-0").await, Ok(Some(_))) {
        submitter.submit(by_key(&key, &format!("order-{number}"))).await.unwrap();
        number += 1;
    }
    assert_eq!(submitter.outcome("order-0").await.unwrap().unwrap().name(), "approved");
    worker.shut_down();
    running.await.unwrap();
}

const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn a_worker_that_never_polls_is_woken_by_notifications() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    picks_up(&server, store.listening(&server.url("postgres")).unwrap(), NEVER).await;
}

#[tokio::test]
async fn a_worker_that_hears_no_notification_polls() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = PostgresStore::migrate(&server.url("postgres")).await.unwrap();
    picks_up(&server, store, Duration::from_millis(5)).await;
    // The address of a server that is not there.
    let store = PostgresStore::connect(&server.url("postgres")).await.unwrap();
    let deaf = store.listening("postgres://pg@127.0.0.1:1/postgres").unwrap();
    server.psql("postgres", "DELETE FROM payment_intents").unwrap();
    picks_up(&server, deaf, Duration::from_millis(5)).await;
}
