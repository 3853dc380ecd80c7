//! Upgrades of the tables while processes of other versions work.

use http::Method;
use pg_sandbox::{
    Sandbox, Settings, Timestamp,
    store::{Postgres as Store, Step},
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
    assert_eq!((formats(server, &url), server.psql(&url, tables).unwrap()), ("3 1".to_owned(), "1".to_owned()));
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

/// A step that programs of today must not write after.
const BREAKING: Step = Step { sql: "CREATE TABLE payment_sandbox.later (key text);", least: 4 };
/// A step that fails half way.
const FAULTY: Step = Step { sql: "CREATE TABLE payment_sandbox.half (key text); SELECT 1 / 0;", least: 4 };

#[test]
fn a_process_that_may_not_write_after_an_upgrade_refuses_and_a_failed_upgrade_changes_nothing() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let mut today = Process::open(&url, 1);
    let steps = |last| [Store::steps(), &[last]].concat();
    let error = Store::open_knowing(&steps(FAULTY), &url, &KEY, "faulty").err().unwrap().to_string();
    assert!(error.contains("upgrade from format 3 to 4 was refused: division by zero (22012)"), "{error}");
    assert_eq!(formats(server, &url), "3 1");
    assert_eq!(today.pay("order-1").0, 200);
    let mut later = knowing(&steps(BREAKING), &url, 2);
    assert_eq!(formats(server, &url), "4 4");
    let (status, reply) = today.pay("order-2");
    assert_eq!(status, 500);
    assert!(reply["errorMessage"].as_str().unwrap().contains("format 4, this program supports formats up to 3"));
    assert_eq!(later.pay("order-2").0, 200);
    let error = Store::open(&url, &KEY, "today").err().unwrap().to_string();
    assert!(error.contains("format 4, this program supports formats up to 3"), "{error}");
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
    assert_eq!(formats(server, &url), "3 1");
}
