//! The store in SQLite.

use std::{fs, sync::Arc, time::Duration};

use pg_hyper::proto::Account;
use pg_intents::{
    Fleet, FleetPlan, FleetStartError, IntentFilter, IntentKey, IntentKind, IntentStore as _, SQLITE_MIGRATIONS,
    SealKey, SealedStore, Sealing, SqliteStore, StoreError, conformance,
};

use crate::world::World;

#[tokio::test]
async fn file_and_memory_stores_conform() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    conformance::check(&SqliteStore::open(&file).unwrap(), "file").await;
    conformance::check_durable(async || SqliteStore::open(&file), "file").await;
    conformance::check(&SqliteStore::in_memory(|| 1_700_000_000_000).unwrap(), "memory").await;
}

#[tokio::test]
async fn runs_of_the_suite_whose_names_begin_alike_share_a_database() {
    let store = SqliteStore::in_memory(|| 1_700_000_000_000).unwrap();
    for run in ["run 12", "run 1", "run"] {
        conformance::check(&store, run).await;
        conformance::check_rewriting(&store, run).await;
    }
}

#[tokio::test]
async fn stored_rows_are_visible_to_later_and_concurrent_processes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    let (one, other) = (SqliteStore::open(&file).unwrap(), SqliteStore::open(&file).unwrap());
    assert_eq!(one.enlist("w").await.unwrap(), "w#1");
    assert_eq!(other.enlist("w").await.unwrap(), "w#2");
    drop((one, other));
    assert_eq!(SqliteStore::open(&file).unwrap().enlist("w").await.unwrap(), "w#3");
}

#[cfg(unix)]
#[test]
fn a_new_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    let _store = SqliteStore::open(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn foreign_and_newer_files_are_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "these are my notes, and they are long enough to be no header".repeat(20)).unwrap();
    let before = fs::read(&text).unwrap();
    let refused = SqliteStore::open(&text).unwrap_err();
    assert!(matches!(&refused, StoreError::Foreign(why) if why.contains("notes.txt")), "{refused}");
    assert_eq!(fs::read(&text).unwrap(), before);

    let other = folder.path().join("other.sqlite");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE customers (name TEXT); INSERT INTO customers VALUES ('Ann')").unwrap();
    let refused = SqliteStore::open(&other).unwrap_err();
    assert!(matches!(refused, StoreError::Foreign(_)), "{refused}");
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);

    let newer = folder.path().join("newer.sqlite");
    drop(SqliteStore::open(&newer).unwrap());
    rusqlite::Connection::open(&newer).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    let refused = SqliteStore::open(&newer).unwrap_err();
    assert_eq!(refused, StoreError::Newer { found: 7, known: 3 });

    let missing = SqliteStore::open(folder.path().join("no/such/folder.sqlite")).unwrap_err();
    assert!(matches!(&missing, StoreError::Unavailable(why) if why.contains("no/such")), "{missing}");
}

/// Returns the version of a file.
fn version(file: &std::path::Path) -> i64 {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// Creates a file as an earlier version did.
fn earlier(file: &std::path::Path, version: usize) -> rusqlite::Connection {
    let earlier = rusqlite::Connection::open(file).unwrap();
    let migrations = SQLITE_MIGRATIONS[..version].concat();
    let pragmas = format!("PRAGMA application_id = 0x70676931; PRAGMA user_version = {version}");
    earlier.execute_batch(&format!("{migrations} {pragmas}")).unwrap();
    earlier
}

/// Otherwise the older program could not open the file again after the newer one was refused.
#[tokio::test]
async fn a_fleet_that_is_refused_for_its_account_upgrades_no_file() {
    let (folder, world) = (tempfile::tempdir().unwrap(), World::new());
    let wire = world.wire(None);
    for is_sealed in [false, true] {
        let file = folder.path().join(format!("sealed-{is_sealed}.sqlite"));
        let row = "INSERT INTO payment_intents (account, reference, kind, digest, state, status, fence, due, claims, event, told, tell_due, \
                   created, changed, history) VALUES ('key-149732e12588 at http://localhost', 'r', 'k', '', '', 3, 1, 0, 0, 1, 1, 0, 0, 0, '')";
        earlier(&file, 1).execute_batch(row).unwrap();
        let start = async |account: Account, plan: FleetPlan| {
            let (store, client) = (Arc::new(SqliteStore::open(&file).unwrap()), world.client_for(account, &wire));
            if is_sealed {
                let sealing = Sealing::new(SealKey::from_bytes(&[7; 32])).accept_clear();
                let store = SealedStore::open(store, sealing).await.unwrap();
                Fleet::new(client, Arc::new(store), plan).await.map(drop)
            } else {
                Fleet::new(client, store, plan).await.map(drop)
            }
        };
        let named = || world.account().identity("shop");
        let refused = start(named().identity(""), World::plan("new")).await.unwrap_err();
        assert_eq!((refused, version(&file)), (FleetStartError::Unnamed, 1));
        let refused = start(named(), World::plan("new")).await.unwrap_err();
        assert!(matches!(refused, FleetStartError::OtherAccounts { .. }), "{refused}");
        assert_eq!(version(&file), 1);
        let known = World::plan("new").stored_as(named().bound_identity(), "key-149732e12588 at http://localhost");
        start(named(), known).await.unwrap();
        assert_eq!(version(&file), 3);
    }
}

#[tokio::test]
async fn the_first_change_upgrades_a_file_of_an_earlier_version() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("earlier.sqlite");
    drop(earlier(&file, 1));
    let (one, other) = (SqliteStore::open(&file).unwrap(), SqliteStore::open(&file).unwrap());
    let key = IntentKey::new("shop", "order-1");
    for _ in 0..2 {
        assert_eq!(one.find(&key).await, Ok(None));
        assert_eq!(one.list(IntentFilter::default()).await, Ok(Vec::new()));
        assert_eq!(version(&file), 1, "a read changes nothing");
    }
    assert!(!one.deliver(&key, "event").await.unwrap());
    assert_eq!(version(&file), 3);
    // Another process had the file open before.
    assert_eq!(other.find(&key).await, Ok(None));
    assert_eq!(
        (other.enlist("w").await.unwrap(), one.enlist("w").await.unwrap()),
        ("w#1".to_owned(), "w#2".to_owned())
    );
    // A later version came first.
    let late = folder.path().join("late.sqlite");
    let newer = earlier(&late, 1);
    let store = SqliteStore::open(&late).unwrap();
    newer.execute_batch("PRAGMA user_version = 7").unwrap();
    assert_eq!(store.enlist("w").await.unwrap_err(), StoreError::Newer { found: 7, known: 3 });
    assert_eq!(version(&late), 7);
}

#[test]
fn a_file_of_an_earlier_version_is_upgraded_only_by_programs_that_work_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("earlier.sqlite");
    let refused = SqliteStore::connect(&file).unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable(why) if why.contains("earlier.sqlite")), "{refused}");
    assert!(!file.exists());
    drop(earlier(&file, 2));
    assert_eq!(SqliteStore::connect(&file).unwrap_err(), StoreError::Older { found: 2, known: 3 });
    assert_eq!(version(&file), 2);
    drop(SqliteStore::migrate(&file).unwrap());
    drop(SqliteStore::connect(&file).unwrap());
    assert_eq!(version(&file), 3);
}

#[tokio::test]
async fn lookups_of_unknown_rows_of_an_earlier_version_go_on_where_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("earlier.sqlite");
    let earlier = earlier(&file, 2);
    let row = "INSERT INTO payment_intents (account, reference, kind, digest, state, status, fence, due, claims, outcome, event, told, \
               tell_due, created, changed, history) VALUES ('a', 'r', 'checkout', '', '', 1, 4, 5000, 3, '{}', 1, 0, 0, 0, 0, '')";
    earlier.execute_batch(row).unwrap();
    drop(earlier);
    let store = SqliteStore::open(&file).unwrap();
    let row = store.find(&IntentKey::new("a", "r")).await.unwrap().unwrap();
    assert_eq!((row.lookups, row.claims, row.due), (3, 0, 5000));
    let kinds = [IntentKind { name: "checkout".to_owned(), version: 1 }];
    let claimed = store.claim("a", "w#1", 1, Duration::ZERO, &kinds).await.unwrap();
    assert_eq!((claimed[0].lookups, claimed[0].claims), (4, 1), "the fourth planned lookup is due");
}

/// Another process that holds the write lock for longer than the store waits.
#[tokio::test]
async fn a_locked_database_says_so_and_goes_on_when_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    let store = Arc::new(SqliteStore::open(&file).unwrap());
    let locked = rusqlite::Connection::open(&file).unwrap();
    locked.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.enlist("w").await.unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable(why) if why.contains("locked")), "{refused}");
    assert_eq!(store.find(&IntentKey::new("shop", "order-1")).await, Ok(None), "what is there is told");
    assert_eq!(store.list(IntentFilter::default()).await, Ok(Vec::new()));
    assert_eq!(store.stopped("shop").await, Ok(None));
    let looking = SqliteStore::connect(&file).unwrap();
    assert_eq!(looking.list(IntentFilter::default()).await, Ok(Vec::new()), "a program that looks needs no lock");
    locked.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.enlist("w").await.unwrap(), "w#1");
}

/// As when a backup is restored and a process was forgotten. Both would write into one log, and destroy the new file.
#[cfg(unix)]
#[tokio::test]
async fn a_process_whose_file_was_moved_replaced_or_removed_stores_and_tells_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [file, backup, away] = ["intents", "backup", "away"].map(|name| folder.path().join(name));
    let store = SqliteStore::open(&file).unwrap();
    assert_eq!(store.enlist("w").await.unwrap(), "w#1");
    drop(SqliteStore::open(&backup).unwrap());
    let refused = async |says: &str| {
        let told = store.find(&IntentKey::new("shop", "order-1")).await.map(drop);
        for answer in [told, store.enlist("w").await.map(drop)] {
            let error = answer.unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("stop every process") && !error.contains('\n'), "{error}");
        }
    };
    fs::rename(&file, &away).unwrap();
    refused("no file is there").await;
    fs::rename(&backup, &file).unwrap();
    refused("another file is in its place").await;
    fs::rename(&away, &file).unwrap();
    assert_eq!(store.enlist("w").await.unwrap(), "w#2");
}
