//! A thousand connections beside sixteen, and the memory that many payments leave behind.

use pg_measure::{Bounds, median, note, quick, ratio};

use crate::{durable::CONNECTIONS, load::Load, payment::Payments, process::Sandbox};

/// A few less than the server accepts with its default settings.
const MANY: usize = 1_000;
/// The number of newest requests that the journal keeps: memory may grow until it is reached.
const REMEMBERED: usize = 10_000;
/// Payments after which nothing more may be kept of a payment.
const PAYMENTS: usize = 150_000;

pub(crate) fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start(&folder.path().join("store.sqlite"));
    let mut payments = Payments::new(4);
    let mut loads = [(CONNECTIONS, 0), (MANY, 1)]
        .map(|(connections, place)| (Load::connect(sandbox.address, connections), connections, place));
    let (rounds, total) = if quick() { (2, 2_000) } else { (11, 10_000) };
    let (mut ratios, mut rates) = (Vec::new(), [Vec::new(), Vec::new()]);
    for round in 0..=rounds {
        let mut rate = [0.0; 2];
        for (load, connections, place) in &mut loads {
            rate[*place] = load.round(payments.requests(*connections, total / *connections)).rate;
        }
        // They take turns in being first.
        loads.reverse();
        // The first round warms up.
        if round > 0 {
            ratios.push(rate[1] / rate[0]);
            rates.iter_mut().zip(rate).for_each(|(rates, rate)| rates.push(rate));
        }
    }
    ratio("sandbox: 1,000 connections beside 16", median(ratios), Bounds::at_least(0.80, 0.95));
    let [few, many] = rates.map(median);
    note(&format!("{few:.0} durable payments a second over 16 connections, {many:.0} over 1,000."));
}

/// Memory after many payments, beside that after as many as are remembered.
pub(crate) fn measure_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start(&folder.path().join("store.sqlite"));
    let mut payments = Payments::new(5);
    let mut load = Load::connect(sandbox.address, CONNECTIONS);
    let mut pay = |count: usize| {
        for _ in 0..count / REMEMBERED {
            load.round(payments.requests(CONNECTIONS, REMEMBERED / CONNECTIONS));
        }
        sandbox.memory()
    };
    let after = if quick() { 2 * REMEMBERED } else { PAYMENTS };
    let (Some(full), Some(later)) = (pay(2 * REMEMBERED), pay(after)) else {
        return note("This system does not tell a process's memory.");
    };
    ratio("sandbox: MB of memory after 150,000 payments", later, Bounds::at_most(64.0, 48.0));
    ratio("sandbox: memory after 150,000 payments beside 20,000", later / full, Bounds::at_most(1.15, 1.05));
}
