//! Shared parts of the benchmarks: work measured against its floor, and the report lines.
//!
//! It depends on nothing, so that every crate can have it as a dev-dependency. `cargo xtask bench` reads what it prints:
//! `ratio NAME VALUE BUDGET MOONSHOT` and `note TEXT`, tabs between the fields. Everything else that a benchmark prints is
//! for people.

#![deny(missing_docs)]

mod growth;
mod leak;
mod processor;
mod worst;

pub use growth::{Growth, microseconds};
pub use leak::leak;
pub use processor::{process_seconds, processor_seconds};
pub use worst::{Input, Worst};

use std::{
    env,
    hint::black_box,
    time::{Duration, Instant},
};

/// How long one piece of work runs in one round.
const SAMPLE: Duration = Duration::from_micros(500);
/// Rounds of a comparison.
const ROUNDS: usize = 301;
/// Rounds of a comparison when only a sign of life is wanted.
const FEW_ROUNDS: usize = 5;

/// The limit that a value must keep, and a stricter one as an ambition.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    sign: &'static str,
    budget: f64,
    moonshot: Option<f64>,
}

impl Bounds {
    /// An upper limit, for costs.
    #[must_use]
    pub const fn at_most(budget: f64, moonshot: f64) -> Self {
        Self { sign: "<=", budget, moonshot: Some(moonshot) }
    }

    /// A lower limit, for speeds.
    #[must_use]
    pub const fn at_least(budget: f64, moonshot: f64) -> Self {
        Self { sign: ">=", budget, moonshot: Some(moonshot) }
    }

    /// No limit, for a figure that others are compared with.
    #[must_use]
    pub const fn none() -> Self {
        Self { sign: "", budget: f64::NAN, moonshot: None }
    }

    /// The same budget without a moonshot.
    #[must_use]
    pub const fn alone(self) -> Self {
        Self { moonshot: None, ..self }
    }

    /// Budget and moonshot as printed in a line.
    fn told(self) -> (String, String) {
        let Self { sign, budget, moonshot } = self;
        if budget.is_nan() {
            return ("-".to_owned(), "-".to_owned());
        }
        (format!("{sign}{budget}"), moonshot.map_or_else(|| "-".to_owned(), |moonshot| format!("{sign}{moonshot}")))
    }
}

/// Runs `work` against `floor`, in turn in the same process, and reports the median of the rounds' ratios, so that a busy
/// machine slows both alike.
pub fn compare<A, B>(name: &str, bounds: Bounds, mut work: impl FnMut() -> A, mut floor: impl FnMut() -> B) {
    let times = repetitions(&mut floor);
    let (mut ratios, mut works, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..if quick() { FEW_ROUNDS } else { ROUNDS } {
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
    ratio(name, median(ratios), bounds);
    println!("  {name}: {:.0} ns, floor {:.0} ns", median(works), median(floors));
}

/// Reports a value, with three places behind the point.
pub fn ratio(name: &str, value: f64, bounds: Bounds) {
    print_ratio(name, &format!("{value:.3}"), bounds);
}

/// Reports a count with its maximum.
pub fn count(name: &str, value: u64, most: u64) {
    print_ratio(name, &value.to_string(), Bounds::at_most(most as f64, 0.0).alone());
}

/// Reports facts besides the ratios.
pub fn note(text: &str) {
    println!("note\t{text}");
}

/// Whether a quick run is requested: `cargo xtask bench --quick` sets `PG_BENCH_QUICK`.
#[must_use]
pub fn quick() -> bool {
    env::var_os("PG_BENCH_QUICK").is_some()
}

/// The value in the middle; of an even number of values the upper one.
///
/// # Panics
/// When there is no value.
#[must_use]
pub fn median(values: Vec<f64>) -> f64 {
    quantile(values, 0.5)
}

/// The value that such a share of the values lies below, from 0 to 1.
///
/// # Panics
/// When there is no value.
#[must_use]
pub fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() as f64 * share) as usize;
    values[place.min(values.len() - 1)]
}

fn print_ratio(name: &str, value: &str, bounds: Bounds) {
    let (budget, moonshot) = bounds.told();
    println!("ratio\t{name}\t{value}\t{budget}\t{moonshot}");
}

/// Nanoseconds a call, over `times` calls.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock; that is what it is for")]
fn timed<T>(times: u32, work: &mut impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        black_box(work());
    }
    start.elapsed().as_nanos() as f64 / f64::from(times)
}

/// How many times the work runs in a round. The first calls are cold and do not count.
fn repetitions<T>(work: &mut impl FnMut() -> T) -> u32 {
    timed(5, work);
    let once = timed(5, work).max(1.0);
    ((SAMPLE.as_nanos() as f64 / once).ceil() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_there() {
        let values = || vec![3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!(median(values()), 3.0);
        assert_eq!(quantile(values(), 0.0), 1.0);
        assert_eq!(quantile(values(), 0.99), 5.0);
        assert_eq!(median(vec![1.0, 2.0]), 2.0);
    }
}
