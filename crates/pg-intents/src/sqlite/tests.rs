//! A database that cannot be written to, and new files that several openers create at once.

use std::{sync::Barrier, thread, time::Duration};

use rusqlite::{Connection, OpenFlags};

use super::{
    Executor, SqliteStore,
    opening::{Migrations, Unready, ready},
    operations,
};
use crate::{
    Begun, Claimed, IntentFilter, IntentKey, IntentKind, IntentLease, IntentStatus, IntentStore as _, NewIntent,
    StoreError,
};

const HOUR: Duration = Duration::from_secs(3600);

fn new(reference: &str) -> NewIntent {
    NewIntent {
        key: IntentKey::new("shop", reference),
        kind: "charge".to_owned(),
        digest: String::new(),
        request: None,
        state: "s".repeat(10_000),
        version: 1,
        owner: Some("w#1".to_owned()),
        lease: HOUR,
    }
}

/// The limit of its own connection, as no other connection can set it.
async fn limit(store: &SqliteStore, pages: i64) -> i64 {
    let set = move |connection: &Connection, _| {
        let pragma = format!("PRAGMA max_page_count = {pages}");
        connection.query_row(&pragma, [], |_| Ok(()))?;
        connection.query_row("PRAGMA page_count", [], |row| row.get(0))
    };
    store.executor.run(set).await.unwrap()
}

#[tokio::test]
async fn a_full_database_says_so_loses_nothing_and_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("intents.sqlite")).unwrap();
    assert_eq!(store.begin(new("before")).await, Ok(Begun::New));
    let pages = limit(&store, 1_000_000).await;
    limit(&store, pages).await;
    let refused = store.begin(new("full")).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable(why) if why.contains("full")), "{refused}");
    assert!(!refused.to_string().contains('\n'), "{refused}");
    assert_eq!(store.find(&IntentKey::new("shop", "full")).await, Ok(None), "it was not begun");
    // What takes no room is still done: the lease of a payment that is under way is kept.
    let hold = IntentLease { key: IntentKey::new("shop", "before"), owner: "w#1".to_owned(), fence: 1 };
    assert_eq!(store.renew(&hold, HOUR).await, Ok(()));
    assert_eq!(store.find(&hold.key).await.unwrap().unwrap().state, new("").state);
    limit(&store, 1_000_000).await;
    assert_eq!(store.begin(new("full")).await, Ok(Begun::New));
}

#[tokio::test]
async fn a_database_that_becomes_read_only_says_so_and_goes_on_when_it_can_be_written() {
    let store = SqliteStore::in_memory(|| 1_700_000_000_000).unwrap();
    let Executor::Here(connection, _) = &store.executor else { panic!("it has no thread") };
    let read_only = |on: bool| connection.lock().unwrap().pragma_update(None, "query_only", on).unwrap();
    assert_eq!(store.begin(new("before")).await, Ok(Begun::New));
    read_only(true);
    let refused = store.begin(new("refused")).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable(why) if why.contains("readonly")), "{refused}");
    read_only(false);
    assert_eq!(store.begin(new("refused")).await, Ok(Begun::New));
}

#[test]
fn a_file_that_cannot_be_written_is_refused_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    drop(SqliteStore::open(&file).unwrap());
    // As root any file can be opened for writing, so the connection says that it cannot.
    let refused = || {
        let connection = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let Err(Unready::Engine(error)) = ready(&connection, Migrations::Later) else { panic!("it is ready") };
        operations::unavailable(&error).to_string()
    };
    assert!(refused().contains("attempt to write a readonly database"), "{}", refused());
    // A file of an earlier version, which is not upgraded yet.
    Connection::open(&file).unwrap().execute_batch("PRAGMA user_version = 2").unwrap();
    assert!(refused().contains("attempt to write a readonly database"), "{}", refused());
}

#[test]
fn a_new_file_can_be_opened_by_many_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        let (file, start) = (folder.path().join(format!("{round}.sqlite")), Barrier::new(8));
        let open = || {
            start.wait();
            SqliteStore::open(&file).map(drop)
        };
        let opened: Vec<_> = thread::scope(|scope| {
            let opening: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            opening.into_iter().map(|opening| opening.join().unwrap()).collect()
        });
        assert_eq!(opened, vec![Ok(()); 8], "round {round}");
    }
}

/// Each fleet asks for accounts when it starts.
#[tokio::test]
async fn a_list_of_accounts_reads_one_row_each() {
    let store = SqliteStore::in_memory(|| 1_700_000_000_000).unwrap();
    let explained = store.executor.run(|connection: &Connection, _| {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", operations::ACCOUNTS))?;
        let steps = statement.query_map(rusqlite::params!["", 10], |row| row.get::<_, String>(3))?;
        steps.collect::<rusqlite::Result<Vec<_>>>()
    });
    let steps = explained.await.unwrap();
    let reads: Vec<&String> =
        steps.iter().filter(|step| step.contains("payment_intents") || step.contains(" i ")).collect();
    assert!(reads.len() == 2 && reads.iter().all(|step| step.contains("USING PRIMARY KEY (account>?)")), "{steps:?}");
}

/// Ended payments stay in the table for ever.
#[tokio::test]
async fn a_list_of_open_and_unknown_intents_reads_no_ended_ones() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("intents.sqlite")).unwrap();
    let plan = async |filter: IntentFilter| {
        let explained = move |connection: &Connection, _| {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {}", operations::listing(&filter)))?;
            let values = rusqlite::params![filter.claims, filter.account, filter.most, filter.reference];
            statement.query_row(values, |row| row.get::<_, String>(3))
        };
        store.executor.run(explained).await.unwrap()
    };
    let shop = || Some("shop".to_owned());
    let statuses = vec![IntentStatus::Open, IntentStatus::Unknown];
    let open = IntentFilter { statuses, ..IntentFilter::default() };
    assert_eq!(plan(open.clone()).await, "SCAN payment_intents USING INDEX payment_intents_due");
    let of_shop = plan(IntentFilter { account: shop(), ..open }).await;
    assert_eq!(of_shop, "SEARCH payment_intents USING INDEX payment_intents_due (account=?)");
    let one = IntentFilter { account: shop(), reference: Some("order-1".to_owned()), ..IntentFilter::default() };
    assert_eq!(plan(one).await, "SEARCH payment_intents USING PRIMARY KEY (account=? AND reference=?)");
    let all = plan(IntentFilter::default()).await;
    assert_eq!(all, "SCAN payment_intents USING INDEX payment_intents_changed", "the newest first");
}

#[tokio::test]
async fn a_claimer_gets_the_kinds_that_it_knows_whatever_their_names() {
    let store = SqliteStore::in_memory(|| 1_700_000_000_000).unwrap();
    let names = ["charge", "char'ge", "\"charge\"", "?6", "", "charge\0"];
    for name in names {
        let new = NewIntent { kind: name.to_owned(), version: 2, owner: None, ..new(name) };
        assert_eq!(store.begin(new).await, Ok(Begun::New));
    }
    let kind = |name: &str, version| IntentKind { name: name.to_owned(), version };
    let none = |claimed: Option<Claimed>| matches!(claimed, Some(Claimed::Not(_)));
    let key = IntentKey::new("shop", "charge");
    for unknown in [vec![], vec![kind("Charge", 9)], names.map(|name| kind(name, 1)).to_vec()] {
        assert_eq!(store.claim("shop", "w", 10, HOUR, &unknown).await, Ok(vec![]), "{unknown:?}");
        assert!(none(store.claim_one(&key, "w", HOUR, &unknown).await.unwrap()), "{unknown:?}");
    }
    for (at, name) in names.into_iter().enumerate().skip(1) {
        let version = i32::try_from(at).unwrap() + 2;
        let mixed = [kind("charge", 1), kind(name, version), kind("other", 9)];
        let claimed = store.claim("shop", "w", 10, HOUR, &mixed).await.unwrap();
        let found: Vec<_> = claimed.iter().map(|row| (&*row.kind, row.version)).collect();
        assert_eq!(found, [(name, version)]);
    }
    let one = store.claim_one(&key, "w", HOUR, &[kind("other", 9), kind("charge", 2)]).await.unwrap();
    assert!(matches!(one, Some(Claimed::Taken(row)) if row.version == 2 && row.kind == "charge"));
}

#[tokio::test]
async fn a_claim_reads_only_what_is_due() {
    let store = SqliteStore::in_memory(|| 1_700_000_000_000).unwrap();
    let plan = async |sql: String| {
        let explained = move |connection: &Connection, _| {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3));
            steps.collect::<rusqlite::Result<Vec<_>>>()
        };
        let steps = store.executor.run(explained).await.unwrap();
        steps.into_iter().filter(|step| !step.starts_with("LIST SUBQUERY")).collect::<Vec<_>>()
    };
    let by_key = "SEARCH payment_intents USING PRIMARY KEY (account=? AND reference=?)";
    let by_due = "SEARCH payment_intents USING INDEX payment_intents_due (account=? AND due<?)";
    for kinds in [0, 1, 40] {
        assert_eq!(plan(operations::claiming_due(kinds)).await, [by_key, by_due]);
        assert_eq!(plan(operations::claiming_one(kinds)).await, [by_key]);
    }
}
