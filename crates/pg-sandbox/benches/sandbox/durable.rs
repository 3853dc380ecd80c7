//! Durable payments a second, beside a server that answers the same bytes without having done anything.

use pg_measure::{Bounds, median, note, quantile, quick, ratio};

use crate::{fixed_body, load::Load, payment::Payments, process::Sandbox};

pub(crate) const CONNECTIONS: usize = 16;
/// Payments a second that two cores are to carry, with the client on them.
const A_SECOND: f64 = 20_000.0;

pub(crate) fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start(&folder.path().join("store.sqlite"));
    let mut payments = Payments::new(1);
    let mut work = Load::connect(sandbox.address, CONNECTIONS);
    let answer = work.ask(payments.next());
    let mut floor = Load::connect(fixed_body::serve(answer), CONNECTIONS);

    let (rounds, each) = if quick() { (2, 50) } else { (25, 500) };
    let (mut ratios, mut rates, mut floors, mut latencies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // Both warm up.
    work.round(payments.requests(CONNECTIONS, each));
    floor.round(payments.requests(CONNECTIONS, each));
    for _ in 0..rounds {
        let floored = floor.round(payments.requests(CONNECTIONS, each));
        let worked = work.round(payments.requests(CONNECTIONS, each));
        ratios.push(worked.rate / floored.rate);
        rates.push(worked.rate);
        floors.push(floored.rate);
        latencies.extend(worked.latencies);
    }
    ratio("sandbox: durable payments, 16 connections", median(ratios), Bounds::at_least(0.25, 0.35));
    let rate = median(rates);
    ratio("sandbox: durable payments a second, 16 connections", rate, Bounds::at_least(A_SECOND, A_SECOND).alone());
    let (half, most) = (quantile(latencies.clone(), 0.5), quantile(latencies, 0.99));
    ratio("sandbox: durable payments, 99 % beside the median time", most / half, Bounds::at_most(3.0, 2.0));
    note(&format!(
        "{rate:.0} durable payments a second over 16 connections, client and server on the same cores; answered within \
         {half:.0} µs (median) and {most:.0} µs (99 %). A fixed body: {:.0} a second.",
        median(floors),
    ));
}
