//! Compares a piece of work with its floor: both run in turn in the same process, many rounds, and the median
//! of the rounds' ratios counts, so that a busy machine slows both alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 301;
const SAMPLE: Duration = Duration::from_micros(400);

/// The largest ratio that is fast enough, and the one that would be remarkable.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) budget: f64,
    pub(crate) moonshot: f64,
}

/// Runs `work` against `floor` and prints a `ratio` line for machines and a line for people.
pub(crate) fn compare<A, B>(name: &str, limits: Limits, mut work: impl FnMut() -> A, mut floor: impl FnMut() -> B) {
    let Limits { budget, moonshot } = limits;
    let times = repetitions(&mut floor);
    let (mut ratios, mut works, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (worked, floored) = if round % 2 == 0 {
            let worked = timed(times, &mut work);
            (worked, timed(times, &mut floor))
        } else {
            let floored = timed(times, &mut floor);
            (timed(times, &mut work), floored)
        };
        ratios.push(worked / floored);
        works.push(worked);
        floors.push(floored);
    }
    let ratio = median(ratios);
    println!("ratio\t{name}\t{ratio:.3}\t<={budget:.2}\t<={moonshot:.2}");
    println!("  {name}: {:.0} ns, floor {:.0} ns", median(works), median(floors));
}

/// Nanoseconds a call, over `times` calls.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn timed<T>(times: u32, work: &mut impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        black_box(work());
    }
    start.elapsed().as_nanos() as f64 / f64::from(times)
}

fn repetitions<T>(work: &mut impl FnMut() -> T) -> u32 {
    timed(1000, work);
    let once = timed(1000, work).max(1.0);
    (SAMPLE.as_nanos() as f64 / once).ceil() as u32
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
