//! PgBouncer in transaction mode between the processes and the server: each transaction may run on another connection, which keeps
//! no setting and no named statement.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use http::Method;
use pg_stores::{Pooler, Postgres};

use super::{process::Process, proxy};

const SESSION: [(&str, &str); 1] = [("errorPageUrl", "https://shop.example/error")];

#[test]
fn behind_pgbouncer_in_transaction_mode_every_promise_is_kept() {
    let Some(server) = Postgres::for_tests() else { return };
    let Some(pooler) = Pooler::before(server).unwrap() else { return };
    let url = server.database().unwrap();
    let through = pooler.url(&url);
    let paid: usize = thread::scope(|scope| {
        let open = |number| Process::open(&through, number);
        let racing: Vec<_> = (1..=3).map(|number| scope.spawn(move || race(open(number)))).collect();
        racing.into_iter().map(|racing| racing.join().unwrap()).sum()
    });
    assert_eq!(paid, 12, "{}", pooler.log());
    let (mut one, mut other) = (Process::open(&through, 4), Process::open(&through, 5));
    let admitted = (0..110).filter(|number| {
        if number % 2 == 0 { &mut one } else { &mut other }.call("strict", "session/initiate", &SESSION).0 == 200
    });
    assert_eq!(admitted.count(), 100);
    assert_eq!(one.send(Method::POST, "/_sandbox/clock", r#"{"set":"2027-01-01T00:00:00Z"}"#).0, 200);
    assert_eq!(other.send(Method::GET, "/_sandbox/clock", "").1["now"], "2027-01-01T00:00:00Z");
    // Other programs share the connections: nothing of a process stays in them.
    let left = "SELECT current_setting('enable_seqscan') || current_setting('lock_timeout') || count(*) FROM pg_prepared_statements";
    for _ in 0..4 {
        assert_eq!(psql(&through, left), "on00", "{}", pooler.log());
    }
}

fn psql(url: &str, statement: &str) -> String {
    let program = Postgres::installed().unwrap().join("psql");
    let output = std::process::Command::new(program).args(["-XqtA", "-d", url, "-c", statement]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Pays the same orders as the others do, and gives how many of them.
fn race(mut process: Process) -> usize {
    (0..12).filter(|order| process.pay(&format!("order-{order}")).0 == 200).count()
}

/// A server that counts how often it is given one of these texts, or all that is sent to it if there are none.
fn counting(server: u16, texts: &'static [&'static str]) -> (u16, Arc<AtomicUsize>) {
    let counted = Arc::<AtomicUsize>::default();
    let count = Arc::clone(&counted);
    let port = proxy::before(server, move || {
        let count = Arc::clone(&count);
        let up = move |seen: &mut [u8]| {
            let found = |text: &&&str| seen.windows(text.len()).any(|window| window == text.as_bytes());
            count.fetch_add(texts.iter().filter(found).count(), SeqCst);
            true
        };
        (up, |_: &mut [u8]| true)
    });
    (port, counted)
}

/// Parsing and planning the statements of a group takes the server longer than carrying them out.
#[test]
fn a_direct_connection_parses_a_statement_once_and_a_pooled_one_each_time() {
    const PARSED: &[&str] = &["INSERT INTO payment_sandbox.transactions", "FROM payment_sandbox.unique_references"];
    let Some(server) = Postgres::for_tests() else { return };
    let direct = server.database().unwrap();
    let (port, counted) = counting(server.port(), PARSED);
    let mut process = Process::open(&direct.replace(&server.port().to_string(), &port.to_string()), 1);
    assert_eq!(process.pay("order-0").0, 200);
    let first = counted.load(SeqCst);
    (1..5).for_each(|number| assert_eq!(process.pay(&format!("order-{number}")).0, 200));
    assert_eq!((first, counted.load(SeqCst)), (2, 2));

    let Some(pooler) = Pooler::before(server).unwrap() else { return };
    let pooled: u16 = pooler.url("").rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap();
    let (port, counted) = counting(pooled, PARSED);
    let database = direct.rsplit('/').next().unwrap();
    let mut process = Process::open(&format!("postgres://pg@127.0.0.1:{port}/{database}"), 2);
    (5..10).for_each(|number| assert_eq!(process.pay(&format!("order-{number}")).0, 200));
    assert_eq!(counted.load(SeqCst), 10);
}

/// What all requests of a group read comes with its beginning, so that its length costs no round trips.
#[test]
fn a_group_of_payments_reads_once() {
    const READS: &[&str] = &["FROM payment_sandbox.unique_references", "FROM payment_sandbox.failed_attempts"];
    let Some(server) = Postgres::for_tests() else { return };
    let Some(pooler) = Pooler::before(server).unwrap() else { return };
    let direct = server.database().unwrap();
    let pooled: u16 = pooler.url("").rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap();
    // Unnamed, so that each execution shows its text.
    let (port, counted) = counting(pooled, READS);
    let database = direct.rsplit('/').next().unwrap();
    let mut process = Process::open(&format!("postgres://pg@127.0.0.1:{port}/{database}"), 1);
    let group: Vec<_> = (0..8)
        .map(|number| {
            let pairs = super::process::payment(&format!("order-{number}"));
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
            super::process::request(Method::POST, "/v3/transaction/auth/json", &process.signed("main", &pairs))
        })
        .collect();
    let replies = process.sandbox.handle_group(process.now, group);
    assert!(replies.iter().all(|reply| reply.status() == 200));
    assert_eq!(counted.load(SeqCst), 2);
}

/// The price that the planner puts on a forbidden scan would make the server compile a statement, which takes a hundred times longer
/// than the whole group.
#[test]
fn the_server_compiles_no_statement_of_a_group() {
    let Some(server) =
        Postgres::for_one_test(&["-c", "fsync=off", "-c", "shared_preload_libraries=pg_stat_statements"])
    else {
        return;
    };
    let url = server.database().unwrap();
    server.psql(&url, "CREATE EXTENSION pg_stat_statements").unwrap();
    let mut process = Process::open(&url, 1);
    (0..3).for_each(|number| assert_eq!(process.pay(&format!("order-{number}")).0, 200));
    let compiled =
        "SELECT sum(jit_functions) FROM pg_stat_statements WHERE query LIKE '%INTO payment_sandbox.processes%'";
    assert_eq!(server.psql(&url, compiled).unwrap(), "0");
}
