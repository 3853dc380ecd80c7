//! Changes of the key that a store is sealed with.

use http::Method;
use pg_sandbox::{OpenError, Sandbox, Settings, SharedStore, StoreKey, Timestamp};
use pg_stores::Postgres;

use super::process::Process;

const OLD: [u8; 32] = [3; 32];
const NEW: [u8; 32] = [4; 32];
const OTHER: [u8; 32] = [5; 32];

fn shared(url: &str, newest: [u8; 32], older: &[[u8; 32]]) -> SharedStore {
    SharedStore::new(url, StoreKey::from_bytes(newest)).older_keys(older.iter().map(|key| StoreKey::from_bytes(*key)))
}

fn open(url: &str, newest: [u8; 32], older: &[[u8; 32]], number: u8) -> Result<Process, OpenError> {
    let sandbox = Sandbox::open_shared(&shared(url, newest, older), Settings::default(), [number; 32])?;
    Ok(Process { sandbox, now: Timestamp::parse("2026-05-04T10:00:00Z").unwrap() })
}

fn said(opened: Result<Process, OpenError>) -> String {
    let error = opened.err().unwrap().to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

/// The identifier of a card that a payment has tokenised.
fn identifier(process: &mut Process, paid: &serde_json::Value) -> String {
    let key = paid["transactionKey"].as_str().unwrap();
    let (status, made) = process.call("main", "token/tokeniseTransactionKey", &[("transactionKey", key)]);
    assert_eq!(status, 200, "{made}");
    let text = made.to_string();
    let rest = text.split_once("\"cardUniqueIdentifier\":").unwrap_or_else(|| panic!("{text}")).1;
    rest.split([',', '}']).next().unwrap().to_owned()
}

#[test]
fn a_new_key_seals_while_older_ones_read_and_the_old_one_is_forgotten_after_all_is_sealed_anew() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let mut before = open(&url, OLD, &[], 1).unwrap();
    let (_, first) = before.pay("order-1");
    let known = identifier(&mut before, &first);

    // Both keys, given in either order, in processes that work side by side: the newer one writes in both.
    let mut one = open(&url, NEW, &[OLD], 2).unwrap();
    let mut other = open(&url, OLD, &[NEW], 3).unwrap();
    for (process, order) in [(&mut one, "order-2"), (&mut other, "order-3")] {
        assert_eq!(process.pay("order-1").1["errorCode"], "950");
        let (status, paid) = process.pay(order);
        assert_eq!(status, 200, "{paid}");
        assert_eq!(identifier(process, &paid), known);
    }
    assert_eq!(other.pay("order-2").1["errorCode"], "950");
    assert_eq!(one.pay("order-3").1["errorCode"], "950");
    // A process that has the old key alone stops at its next request, with one clear line.
    let (status, reply) = before.pay("order-4");
    assert_eq!(status, 500);
    assert!(reply["errorMessage"].as_str().unwrap().contains("under another key"), "{reply}");
    assert!(said(open(&url, OLD, &[], 4)).contains("under another key"));
    assert!(said(open(&url, NEW, &[], 5)).contains("under another key"));
    assert!(said(open(&url, OTHER, &[], 6)).contains("sealed with another key"));

    let sealed = shared(&url, NEW, &[OLD]).reseal([7; 32]).unwrap();
    assert!(sealed >= 3, "{sealed}");
    assert_eq!(shared(&url, NEW, &[OLD]).reseal([8; 32]).unwrap(), 0, "twice is as good as once");
    // Those that work go on, and the new key alone is enough for the next ones.
    assert_eq!(other.pay("order-5").0, 200);
    let mut after = open(&url, NEW, &[], 9).unwrap();
    for order in ["order-1", "order-2", "order-3", "order-5"] {
        assert_eq!(after.pay(order).1["errorCode"], "950");
    }
    let (_, listed) = after.send(Method::GET, "/_sandbox/transactions", "");
    assert_eq!(listed.as_array().unwrap().len(), 4);
    let (_, paid) = after.pay("order-6");
    assert_eq!(identifier(&mut after, &paid), known);
    assert!(said(open(&url, OLD, &[], 10)).contains("was retired"));
    assert!(said(open(&url, OLD, &[NEW], 11)).contains("was retired"));
    // What the database holds of the old key opens nothing.
    let held = "SELECT count(*) FROM payment_sandbox.keys WHERE state = 'retired' AND root IS NULL";
    assert_eq!(server.psql(&url, held).unwrap(), "1");
    // And once more, from the new key to another one.
    let mut last = open(&url, OTHER, &[NEW], 12).unwrap();
    assert_eq!(last.pay("order-1").1["errorCode"], "950");
    assert!(shared(&url, OTHER, &[NEW]).reseal([13; 32]).unwrap() > 0);
    assert_eq!(open(&url, OTHER, &[], 14).unwrap().pay("order-6").1["errorCode"], "950");
}

/// Makes a change of a row of this table wait until the sequence `planted.step` has this value.
fn plant_wait(server: &Postgres, url: &str, table: &str, step: u8) {
    let planted = format!(
        "CREATE SCHEMA IF NOT EXISTS planted; CREATE SEQUENCE IF NOT EXISTS planted.step; \
         CREATE FUNCTION planted.wait_{step}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         WHILE (SELECT last_value < {step} FROM planted.step) LOOP PERFORM pg_sleep(0.01); END LOOP; \
         RETURN NULL; END $$; \
         CREATE TRIGGER wait_{step} AFTER UPDATE ON payment_sandbox.{table} \
         FOR EACH STATEMENT EXECUTE FUNCTION planted.wait_{step}()"
    );
    server.psql(url, &planted).unwrap();
}

#[test]
fn a_key_that_comes_while_all_is_sealed_anew_retires_none_that_seals_a_row() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    assert_eq!(open(&url, OLD, &[], 1).unwrap().pay("order-1").0, 200);
    plant_wait(server, &url, "meta", 2);
    plant_wait(server, &url, "unique_references", 3);
    let is = |question: &str, answer: &str| server.psql(&url, question).unwrap().lines().any(|line| line == answer);
    let until = |question: &str, answer: &str| assert!((0..1_000).any(|_| is(question, answer)), "{question}");
    let waits = "SELECT wait_event FROM pg_stat_activity WHERE datname = current_database()";
    std::thread::scope(|scope| {
        let sealing = scope.spawn(|| shared(&url, NEW, &[OLD, OTHER]).reseal([2; 32]));
        until(waits, "PgSleep");
        // The next change of the key takes two turns, and waits for the first one.
        let opening = scope.spawn(|| open(&url, OTHER, &[OLD, NEW], 3));
        until(waits, "relation");
        server.psql(&url, "SELECT setval('planted.step', 2)").unwrap();
        until(&format!("{waits} AND query LIKE 'UPDATE%unique_references%'"), "PgSleep");
        let (keys, relation) = ("SELECT count(*) FROM payment_sandbox.keys", "relation");
        assert!((0..1_000).any(|_| is(keys, "3") || is(waits, relation)));
        server.psql(&url, "SELECT setval('planted.step', 3)").unwrap();
        assert!(sealing.join().unwrap().unwrap() > 0);
        assert_eq!(opening.join().unwrap().unwrap().pay("order-1").1["errorCode"], "950");
    });
    // The newest key alone opens everything.
    let mut after = open(&url, OTHER, &[], 4).unwrap();
    assert_eq!(after.pay("order-1").1["errorCode"], "950");
    let (_, listed) = after.send(Method::GET, "/_sandbox/transactions", "");
    assert_eq!(listed.as_array().unwrap().len(), 1);
}

#[test]
fn a_missing_file_of_an_older_key_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("older.key");
    let shared = SharedStore::new("postgres://pg@127.0.0.1:1/none", StoreKey::from_bytes(NEW));
    let shared = shared.older_keys([StoreKey::File(file.clone())]);
    let error = Sandbox::open_shared(&shared, Settings::default(), [1; 32]).err().unwrap();
    assert!(matches!(&error, OpenError::KeyMissing(path) if *path == file), "{error}");
}
