//! Databases that cannot hold the records: one clear line each, and nothing is changed.

use http::Method;
use pg_sandbox::{OpenError, Sandbox, Settings, SharedStore, StoreKey, store::Postgres as Store};
use pg_stores::Postgres;

use super::{KEY, process::Process};

/// What is said of a database.
fn said(url: &str) -> String {
    let error = Store::open(url, &KEY, "one").err().unwrap().to_string();
    assert!(!error.contains('\n') && !error.contains("secret"), "{error}");
    error
}

#[test]
fn an_unresponsive_database_is_named_without_its_password() {
    let error = said("postgres://pg:secret@127.0.0.1:1/none");
    assert!(error.starts_with("cannot reach the database: "), "{error}");
    assert!(said("postgres://pg:secret@127.0.0.1:port/none").starts_with("cannot reach the database: "));
    let Some(server) = Postgres::for_tests() else { return };
    let error = said(&server.url("missing"));
    assert!(error.contains("\"missing\" does not exist (3D000)"), "{error}");
    assert!(error.starts_with("the database refused the sandbox: "), "{error}");
}

#[test]
fn a_foreign_a_newer_and_a_read_only_database_are_left_alone() {
    let Some(server) = Postgres::for_tests() else { return };
    let foreign = server.database().unwrap();
    server.psql(&foreign, "CREATE SCHEMA payment_sandbox; CREATE TABLE payment_sandbox.theirs (a int)").unwrap();
    assert!(said(&foreign).contains("not a sandbox store"));
    let tables = "SELECT string_agg(tablename, ' ') FROM pg_tables WHERE schemaname = 'payment_sandbox'";
    assert_eq!(server.psql(&foreign, tables).unwrap(), "theirs");

    let newer = server.database().unwrap();
    let mut process = Process::open(&newer, 1);
    server.psql(&newer, "UPDATE payment_sandbox.store SET format = 99").unwrap();
    assert!(said(&newer).contains("format 99, this program supports formats up to 5"));
    // The database was upgraded while this process was running: it stops writing.
    let (status, reply) = process.pay("order-1");
    assert_eq!(status, 500);
    assert!(reply["errorMessage"].as_str().unwrap().contains("format 99"), "{reply}");
    server.psql(&newer, "UPDATE payment_sandbox.store SET format = 1").unwrap();
    assert_eq!(process.pay("order-1").0, 200);

    let name = newer.rsplit('/').next().unwrap();
    server.psql(&newer, &format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).unwrap();
    // Set for the whole database, by a person who wants nothing written.
    assert!(said(&newer).contains("read-only"), "{}", said(&newer));
    server.psql(&foreign, &format!("ALTER DATABASE {name} RESET default_transaction_read_only")).unwrap();
    let role = "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA payment_sandbox TO reader; \
        GRANT SELECT ON ALL TABLES IN SCHEMA payment_sandbox TO reader";
    server.psql(&newer, role).unwrap();
    assert!(said(&newer.replace("pg@", "reader@")).contains("permission denied"));
    assert_eq!(process.pay("order-2").0, 200);
}

#[test]
fn another_key_opens_nothing_and_no_key_file_is_made_for_a_store_that_is_there() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    drop(Process::open(&url, 1));
    assert!(Store::open(&url, &[4; 32], "one").err().unwrap().to_string().contains("another key"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.key");
    let open = |url: &str| Sandbox::open_postgres(url, &StoreKey::File(file.clone()), Settings::default(), [9; 32]);
    assert!(matches!(open(&url), Err(OpenError::KeyFileMissing(_))));
    assert!(!file.exists());
    let fresh = server.database().unwrap();
    assert!(open(&fresh).is_ok() && file.exists() && open(&fresh).is_ok());
}

#[test]
fn an_empty_database_beside_the_key_of_a_store_is_refused() {
    let Some(server) = Postgres::for_tests() else { return };
    let (url, empty) = (server.database().unwrap(), server.database().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.key");
    let key = || StoreKey::File(file.clone());
    let open = |url: &str, key: StoreKey| Sandbox::open_postgres(url, &key, Settings::default(), [9; 32]);
    assert!(open(&url, key()).is_ok());
    // A new key has no store yet, but the one before it has.
    let next = |key| {
        let shared = SharedStore::new(&empty, key).older_keys([StoreKey::File(file.clone())]);
        Sandbox::open_shared(&shared, Settings::default(), [9; 32])
    };
    let missing = folder.path().join("next.key");
    for refused in [open(&empty, key()), next(StoreKey::from_bytes([7; 32])), next(StoreKey::File(missing.clone()))] {
        assert!(matches!(refused, Err(OpenError::StoreMissing(path)) if path == file));
    }
    assert!(!missing.exists(), "a refusal creates no key file");
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'payment_sandbox'";
    assert_eq!(server.psql(&empty, schemas).unwrap(), "0");
    assert!(open(&url, key()).is_ok());
    // A key that is made by hand for a change of the key has the mark from the start.
    let by_hand = folder.path().join("by-hand.key");
    let text = std::fs::read_to_string(&file).unwrap();
    let (_, mark) = text.split_once('\n').unwrap();
    std::fs::copy(&file, &by_hand).unwrap();
    std::fs::write(&by_hand, format!("{}\n{mark}", "5a".repeat(32))).unwrap();
    let changed = SharedStore::new(&url, StoreKey::File(by_hand.clone())).older_keys([key()]);
    assert!(Sandbox::open_shared(&changed, Settings::default(), [9; 32]).is_ok());
    let refused = open(&empty, StoreKey::File(by_hand.clone()));
    assert!(matches!(refused, Err(OpenError::StoreMissing(path)) if path == by_hand));
    std::fs::remove_file(&file).unwrap();
    assert!(open(&empty, key()).is_ok());
}

/// Makes the database answer writes of payments as it does when it is full, or has become a standby.
fn plant(server: &Postgres, url: &str, code: &str) {
    let planted = format!(
        "CREATE SCHEMA planted; CREATE FUNCTION planted.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'planted' USING ERRCODE = '{code}'; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT ON payment_sandbox.transactions \
         FOR EACH STATEMENT EXECUTE FUNCTION planted.refuse()"
    );
    server.psql(url, &planted).unwrap();
}

#[test]
fn a_database_that_becomes_full_or_read_only_is_named_and_loses_nothing() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let mut process = Process::open(&url, 1);
    let counted = || server.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap();
    assert_eq!(process.pay("order-0").0, 200);
    for (number, code, says) in [(1, "53100", "the disk is full"), (2, "25006", "the database is read-only")] {
        plant(server, &url, code);
        let refused = format!("order-{number}");
        for _ in 0..2 {
            let (status, reply) = process.pay(&refused);
            assert_eq!((status, &reply["errorCode"]), (500, &"999".into()), "{reply}");
            let message = reply["errorMessage"].as_str().unwrap();
            assert!(message.contains(says) && !message.contains('\n'), "{message}");
        }
        // What needs no room is still answered.
        let (status, listed) = process.send(Method::GET, "/_sandbox/transactions", "");
        assert_eq!((status, listed.as_array().unwrap().len()), (200, number));
        assert_eq!(counted(), number.to_string());
        server.psql(&url, "DROP SCHEMA planted CASCADE").unwrap();
        // Its reference was not used up.
        assert_eq!(process.pay(&refused).0, 200);
    }
    assert_eq!(counted(), "3");
}
