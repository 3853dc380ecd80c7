//! Upgrades of the tables while processes of other versions work.

use http::Method;
use pg_sandbox::{
    KINDS, Sandbox, Settings, Timestamp,
    store::{Change, Postgres as Store, Row, Step, Store as _},
};
use pg_stores::Postgres;

use super::{KEY, process::Process};

/// A process of a program that knows these steps of the format.
fn knowing(steps: &[Step], url: &str, number: u8) -> Process {
    let store = Store::open_knowing(steps, url, &KEY, &format!("process {number}")).unwrap();
    let sandbox = Sandbox::over(Box::new(store), Settings::default(), &KEY, [number; 32]).unwrap();
    Process { sandbox, now: Timestamp::parse("2026-05-04T10:00:00Z").unwrap() }
}

/// The format of the tables, and the oldest format whose programs may write.
fn formats(server: &Postgres, url: &str) -> String {
    server.psql(url, "SELECT level || ' ' || format FROM payment_sandbox.store").unwrap()
}

#[test]
fn an_old_process_works_beside_a_new_one_that_has_upgraded_the_tables() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    // The first released format: nothing of the second is there.
    let mut old = knowing(&Store::steps()[..1], &url, 1);
    assert_eq!(old.pay("order-1").0, 200);
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'payment_sandbox' AND tablename = 'journal'";
    assert_eq!(server.psql(&url, tables).unwrap(), "0");
    let mut new = Process::open(&url, 2);
    assert_eq!((formats(server, &url), server.psql(&url, tables).unwrap()), ("5 1".to_owned(), "1".to_owned()));
    // Each sees the other's records, and a reference is taken once.
    for (process, order) in [(&mut new, "order-2"), (&mut old, "order-3")] {
        assert_eq!(process.pay("order-1").1["errorCode"], "950");
        assert_eq!(process.pay(order).0, 200);
        assert_eq!(process.pay(order).1["errorCode"], "950");
    }
    for process in [&mut old, &mut new] {
        assert_eq!(process.send(Method::GET, "/_sandbox/transactions", "").1.as_array().unwrap().len(), 3);
    }
}

/// Copies of other processes stay right while payments alone are made, and are read again when anything else was written, or by a
/// program that does not tell.
#[test]
fn a_process_learns_of_others_only_what_it_keeps_a_copy_of() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let open = |steps, name: &str| Store::open_knowing(steps, &url, &KEY, name).unwrap();
    let (mut one, mut other) = (open(Store::steps(), "one"), open(Store::steps(), "other"));
    let mut old = open(&Store::steps()[..3], "old");
    let write = |store: &mut Store, table: &str, key: &str| {
        let kind = KINDS.iter().find(|kind| kind.table == table).unwrap();
        store.begin().unwrap();
        store.put(kind, &Row { key, merchant: "m", index: [None, None, None], body: "{}" }).unwrap();
        store.commit().unwrap();
    };
    let mut learns = |store: &mut Store, table: &str, key: &str| {
        other.begin().unwrap();
        other.commit().unwrap();
        write(store, table, key);
        other.begin().unwrap();
        let change = other.change();
        other.rollback();
        change == Change::ByOthers
    };
    for (table, key) in [
        ("authentications", "1"),
        ("card_tokens", "1"),
        ("checkout_tokens", "1"),
        ("checkout_visits", "1"),
        ("failed_attempts", "1"),
        ("text_messages", "1"),
        ("transactions", "1"),
        ("unique_references", "1"),
        ("meta", "throttle:m"),
        ("meta", "cv2:1"),
    ] {
        assert!(!learns(&mut one, table, key), "{table} {key}");
        assert!(learns(&mut old, table, key), "{table} {key} by an old program");
    }
    for (table, key) in [("meta", "clock"), ("faults", "1"), ("batches", "1"), ("callbacks", "1"), ("sessions", "1")] {
        assert!(learns(&mut one, table, key), "{table} {key}");
    }
    // A group that has written both.
    assert!(learns(&mut one, "meta", "account:1"));
    let kind = |table: &str| KINDS.iter().find(|kind| kind.table == table).unwrap();
    other.begin().unwrap();
    other.commit().unwrap();
    one.begin().unwrap();
    let row = |key| Row { key, merchant: "m", index: [None, None, None], body: "{}" };
    one.put(kind("meta"), &row("accounts")).unwrap();
    one.put(kind("transactions"), &row("2")).unwrap();
    one.commit().unwrap();
    other.begin().unwrap();
    assert_eq!(other.change(), Change::ByOthers);
}

/// A step that programs of today must not write after.
const BREAKING: Step = Step { sql: "CREATE TABLE payment_sandbox.later (key text);", least: 6 };
/// A step that fails half way.
const FAULTY: Step = Step { sql: "CREATE TABLE payment_sandbox.half (key text); SELECT 1 / 0;", least: 6 };

#[test]
fn a_process_that_may_not_write_after_an_upgrade_refuses_and_a_failed_upgrade_changes_nothing() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let mut today = Process::open(&url, 1);
    let steps = |last| [Store::steps(), &[last]].concat();
    let error = Store::open_knowing(&steps(FAULTY), &url, &KEY, "faulty").err().unwrap().to_string();
    assert!(error.contains("upgrade from format 5 to 6 was refused: division by zero (22012)"), "{error}");
    assert_eq!(formats(server, &url), "5 1");
    assert_eq!(today.pay("order-1").0, 200);
    let mut later = knowing(&steps(BREAKING), &url, 2);
    assert_eq!(formats(server, &url), "6 6");
    let (status, reply) = today.pay("order-2");
    assert_eq!(status, 500);
    assert!(reply["errorMessage"].as_str().unwrap().contains("format 6, this program supports formats up to 5"));
    assert_eq!(later.pay("order-2").0, 200);
    let error = Store::open(&url, &KEY, "today").err().unwrap().to_string();
    assert!(error.contains("format 6, this program supports formats up to 5"), "{error}");
    // A role that may do everything but change the tables.
    let url = server.database().unwrap();
    let mut former = knowing(&Store::steps()[..1], &url, 1);
    let role = "CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA payment_sandbox TO app; \
        GRANT ALL ON ALL TABLES IN SCHEMA payment_sandbox TO app";
    server.psql(&url, role).unwrap();
    let error = Store::open(&url.replace("pg@", "app@"), &KEY, "app").err().unwrap().to_string();
    assert!(error.contains("to 2 was refused") && error.ends_with("with the role that owns the tables"), "{error}");
    assert_eq!(former.pay("order-1").0, 200);
    drop(Store::open(&url, &KEY, "owner").unwrap());
    server.psql(&url, "GRANT ALL ON ALL TABLES IN SCHEMA payment_sandbox TO app").unwrap();
    drop(Store::open(&url.replace("pg@", "app@"), &KEY, "app").unwrap());
    // Two that upgrade at once agree.
    let url = server.database().unwrap();
    drop(knowing(&Store::steps()[..1], &url, 1));
    std::thread::scope(|scope| {
        let opening: Vec<_> = (1..=3)
            .map(|number| {
                scope.spawn({
                    let url = &url;
                    move || drop(Process::open(url, number))
                })
            })
            .collect();
        opening.into_iter().for_each(|opening| opening.join().unwrap());
    });
    assert_eq!(formats(server, &url), "5 1");
}
