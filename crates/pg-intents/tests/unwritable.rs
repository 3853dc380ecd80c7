//! A database that becomes full, read-only or unreachable while a fleet works: nothing is sent, nothing is lost, and everything
//! continues afterwards.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use pg_intents::{
    Directive, Fleet, FleetError, IntentKey, IntentStatus, IntentStore, PostgresStore, SqliteStore, StoreError,
};
use pg_stores::Postgres;

use crate::world::{Wire, World, by_key};

/// What the database refuses from now on.
#[derive(Clone, Copy)]
enum Refuses {
    Nothing,
    /// Every change of an intent.
    Intents,
    /// What happens to existing intents.
    Updates,
}

impl Refuses {
    const fn changes(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::Intents => &["INSERT", "UPDATE"],
            Self::Updates => &["UPDATE"],
        }
    }
}

/// A caller that does not wait for the database.
async fn impatient<S: IntentStore>(world: &World, store: &Arc<S>, wire: &Wire) -> Fleet<S, Wire> {
    let plan = World::plan("one").patience(Duration::ZERO);
    Fleet::new(world.client(wire), Arc::clone(store), plan).await.unwrap()
}

fn is_unavailable(error: &FleetError, words: &str) -> bool {
    let is_one = matches!(error, FleetError::Store(StoreError::Unavailable(why)) if why.contains(words));
    is_one && !error.to_string().contains('\n')
}

async fn unwritable_over<S: IntentStore>(name: &str, store: &Arc<S>, words: &str, refuse: impl Fn(Refuses)) {
    let (world, wire, card_key) = World::with_card().await;
    let fleet = impatient(&world, store, &wire).await;
    let reference = |what: &str| format!("{name}-{what}");
    let pay = |what: &str| fleet.charge(by_key(&card_key, &reference(what)));
    let running = tokio::spawn({
        let fleet = fleet.clone();
        async move { fleet.run().await }
    });
    let first = pay("first").await.unwrap();
    assert_eq!(first.name(), "approved");

    refuse(Refuses::Intents);
    let sent = wire.paid.load(Ordering::SeqCst);
    let error = pay("second").await.unwrap_err();
    assert!(is_unavailable(&error, words), "{error}");
    let error = fleet.submit(by_key(&card_key, &reference("third"))).await.unwrap_err();
    assert!(is_unavailable(&error, words), "{error}");
    assert_eq!(wire.paid.load(Ordering::SeqCst), sent, "nothing is sent");
    assert_eq!(fleet.outcome(&reference("first")).await.unwrap(), Some(first), "what is there is told");
    refuse(Refuses::Nothing);
    assert_eq!(pay("second").await.unwrap().name(), "approved");

    // The request has left when the outcome cannot be stored.
    refuse(Refuses::Updates);
    let error = pay("late").await.unwrap_err();
    let says = error.to_string();
    assert!(matches!(error, FleetError::MaybeSent { error: StoreError::Unavailable(_), .. }), "{says}");
    assert!(says.contains("a request may have been sent") && says.contains(words) && !says.contains('\n'), "{says}");
    assert!(!says.contains("nothing"), "{says}");
    assert_eq!(world.ledger(&reference("late")).await.len(), 1);
    let key = IntentKey::new(fleet.account(), reference("late"));
    let row = store.find(&key).await.unwrap().unwrap();
    assert_eq!((row.status, row.outcome), (IntentStatus::Open, None), "its row is there, without an outcome");
    refuse(Refuses::Nothing);
    // Rather than wait for the end of its lease.
    assert!(store.direct(&key, Directive::Reconcile).await.unwrap());
    let other = world.worker_over("other", store, &wire).await;
    assert_eq!(other.charge(by_key(&card_key, &reference("late"))).await.unwrap().name(), "approved");
    assert_eq!(world.ledger(&reference("late")).await.len(), 1, "it is looked up and not paid again");
    // The worker has gone on all the time.
    fleet.submit(by_key(&card_key, &reference("third"))).await.unwrap();
    assert_eq!(other.charge(by_key(&card_key, &reference("third"))).await.unwrap().name(), "approved");
    fleet.shut_down();
    running.await.unwrap();
}

#[tokio::test]
async fn over_sqlite_a_database_that_cannot_be_written_sends_nothing_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    let store = Arc::new(SqliteStore::open(&file).unwrap());
    let operator = rusqlite::Connection::open(&file).unwrap();
    operator.busy_timeout(Duration::from_secs(60)).unwrap();
    let words = "database or disk is full";
    unwritable_over("full", &store, words, |refused| {
        let mut sql = "DROP TRIGGER IF EXISTS no_insert; DROP TRIGGER IF EXISTS no_update;".to_owned();
        for change in refused.changes() {
            let trigger = format!("no_{} BEFORE {change} ON payment_intents", change.to_lowercase());
            sql += &format!("CREATE TRIGGER {trigger} BEGIN SELECT RAISE(ABORT, '{words}'); END;");
        }
        operator.execute_batch(&format!("BEGIN IMMEDIATE; {sql} COMMIT")).unwrap();
    })
    .await;
}

#[tokio::test]
async fn over_postgres_a_database_that_cannot_be_written_sends_nothing_and_loses_nothing() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    for (name, code, words) in [
        ("full", "53100", "could not extend file: No space left on device"),
        ("read", "25006", "cannot execute UPDATE in a read-only transaction"),
        ("denied", "42501", "permission denied for table payment_intents"),
    ] {
        unwritable_over(name, &store, &format!("{words} ({code})"), |refused| {
            let mut sql = format!(
                "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION '{words}' USING ERRCODE = '{code}'; END $$; \
                 DROP TRIGGER IF EXISTS no_insert ON payment_intents; DROP TRIGGER IF EXISTS no_update ON payment_intents;"
            );
            for change in refused.changes() {
                let trigger = format!("no_{} BEFORE {change} ON payment_intents", change.to_lowercase());
                sql += &format!("CREATE TRIGGER {trigger} FOR EACH STATEMENT EXECUTE FUNCTION refuse();");
            }
            server.psql("postgres", &sql).unwrap();
        })
        .await;
    }
}

#[tokio::test]
async fn nothing_is_sent_while_the_database_is_unreachable() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    let (world, wire, card_key) = World::with_card().await;
    let fleet = impatient(&world, &store, &wire).await;
    let first = fleet.charge(by_key(&card_key, "gone-1")).await.unwrap();
    server.stop_at_once().unwrap();
    for reference in ["gone-1", "gone-2"] {
        let error = fleet.charge(by_key(&card_key, reference)).await.unwrap_err();
        assert!(is_unavailable(&error, ""), "{error}");
    }
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "nothing is sent without the database");
    server.start_again().unwrap();
    assert_eq!(fleet.charge(by_key(&card_key, "gone-1")).await.unwrap(), first);
    assert_eq!(fleet.charge(by_key(&card_key, "gone-2")).await.unwrap().name(), "approved");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 2);
}
