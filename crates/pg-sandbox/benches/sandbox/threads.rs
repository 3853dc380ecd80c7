//! The processor time of a payment, thread by thread. It depends less on other load of the machine than a rate does.

use pg_measure::{Bounds, median, note, quick, ratio};

use crate::{durable::CONNECTIONS, load::Load, payment::Payments, process::Sandbox};

/// Microseconds of processor time a payment, for each thread of the sandbox and for all of them together.
pub(crate) fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start(&folder.path().join("store.sqlite"));
    let mut payments = Payments::new(6);
    let mut load = Load::connect(sandbox.address, CONNECTIONS);
    let (rounds, each) = if quick() { (2, 50) } else { (41, 250) };
    load.round(payments.requests(CONNECTIONS, each));
    let mut spent: Vec<(&str, Vec<f64>)> = THREAD_NAMES.iter().map(|(_, told)| (*told, Vec::new())).collect();
    let mut all = Vec::new();
    for _ in 0..rounds {
        let requests = payments.requests(CONNECTIONS, each);
        let Some(before) = sandbox.threads() else { return note("This system does not tell the time of threads.") };
        load.round(requests);
        let after = sandbox.threads().unwrap_or_default();
        let paid = (CONNECTIONS * each) as f64;
        let mut sum = 0.0;
        for ((name, _), (_, times)) in THREAD_NAMES.iter().zip(&mut spent) {
            let time =
                |all: &[(String, f64)]| all.iter().filter(|one| one.0.starts_with(name)).map(|one| one.1).sum::<f64>();
            let each = (time(&after) - time(&before)) * 1e6 / paid;
            times.push(each);
            sum += each;
        }
        all.push(sum);
    }
    ratio("sandbox: µs of processor time a durable payment", median(all), Bounds::none());
    let told: Vec<_> = spent.into_iter().map(|(told, times)| format!("{told} {:.1}", median(times))).collect();
    note(&format!("Processor time of a durable payment over 16 connections, in µs by thread: {}.", told.join(", ")));
}

/// What the names of threads begin with, and what they do. The first thread has the name of the program.
const THREAD_NAMES: [(&str, &str); 4] =
    [("sandbox-w", "writer"), ("sandbox-s", "syncer"), ("sandbox-f", "folder"), ("main", "connections")];
