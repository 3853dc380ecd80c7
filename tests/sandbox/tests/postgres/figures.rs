//! What a sandbox achieves over each store, and over PostgreSQL as a ratio to the same server's own `pgbench` in the same run. Only by
//! hand, and optimised:
//!
//! `PG_SANDBOX_FIGURES=20000 cargo test --release -p pg-sandbox-tests postgres::figures -- --ignored
//! --nocapture`, where the number is that of the payments of each row. It prints the table of `docs/internals/shared-store.md`.

#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
};

use pg_sandbox::Settings;
use pg_stores::Postgres;

use super::{
    process::payment,
    proof::{Serving, setting},
};

const CALLERS: usize = 16;

/// Pays once over a connection, and gives the milliseconds that it took.
fn pay(connection: &mut BufReader<TcpStream>, reference: &str, settings: &Settings) -> f64 {
    let pairs = payment(reference);
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
    let body = pg_support::signed_form(settings.merchants.by_name("main").unwrap(), &pairs);
    let request = format!(
        "POST /v3/transaction/auth/json HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let timer = clock();
    connection.get_mut().write_all(request.as_bytes()).unwrap();
    let (mut line, mut length) = (String::new(), 0);
    connection.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200 "), "{line}");
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    connection.read_exact(&mut vec![0; length]).unwrap();
    timer.elapsed().as_secs_f64() * 1_000.0
}

/// Payments a second of all callers, and the time within which 99 of 100 are answered, in milliseconds.
fn measured(addresses: &[SocketAddr], name: &str, payments: usize) -> (f64, f64) {
    let settings = Settings::default();
    let timer = clock();
    let mut times: Vec<f64> = thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let settings = &settings;
                scope.spawn(move || {
                    let stream = TcpStream::connect(addresses[caller % addresses.len()]).unwrap();
                    stream.set_nodelay(true).unwrap();
                    let mut connection = BufReader::new(stream);
                    let paid = (caller..payments).step_by(CALLERS);
                    paid.map(|at| pay(&mut connection, &format!("{name}-{at}"), settings)).collect::<Vec<f64>>()
                })
            })
            .collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    let seconds = timer.elapsed().as_secs_f64();
    times.sort_by(f64::total_cmp);
    let rate = f64::from(u32::try_from(payments).unwrap()) / seconds;
    (rate, times[(times.len() * 99 / 100).min(times.len() - 1)])
}

#[test]
#[ignore = "a measurement"]
fn figures() {
    let payments = setting("PG_SANDBOX_FIGURES", 20_000);
    let server = Postgres::start(&[]).unwrap();
    // Short for a trial of the program itself.
    let commits = server.pgbench(CALLERS, (payments / 1_000).clamp(1, 20)).unwrap();
    println!("\n| store | payments/s | of pgbench | 99 of 100 within |\n|---|---|---|---|");
    println!("| `pgbench -N`, {CALLERS} clients | {commits:.0} commits/s | 1.00 | |");
    for count in 1..=3 {
        let url = server.database().unwrap();
        let serving: Vec<_> = (0..count).map(|_| Serving::start(&url)).collect();
        let addresses: Vec<_> = serving.iter().map(|serving| serving.address).collect();
        let processes = if count == 1 { "process" } else { "processes" };
        row(&format!("PostgreSQL, {count} {processes}"), &addresses, payments, Some(commits));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.sqlite");
    for (name, store) in [("SQLite", file.to_str().unwrap()), ("memory", "memory")] {
        let serving = Serving::start(store);
        row(name, &[serving.address], payments, None);
    }
}

fn row(name: &str, addresses: &[SocketAddr], payments: usize, commits: Option<f64>) {
    let _ = measured(addresses, "warm", payments.min(CALLERS * 20));
    let (rate, slow) = measured(addresses, "order", payments);
    let ratio = commits.map(|commits| format!("{:.2}", rate / commits)).unwrap_or_default();
    println!("| {name} | {rate:.0} | {ratio} | {slow:.1} ms |");
}

fn clock() -> std::time::Instant {
    std::time::Instant::now()
}
