//! The growth of a cost, as points of a chart.

use crate::{median, processor_seconds, quick};

/// Rounds of one measurement.
const ROUNDS: usize = 9;

/// A chart that grows.
pub struct Growth {
    name: String,
}

impl Growth {
    /// A chart: what grows, what it costs and in which unit. Reports them; `exponent` is what is expected: 1 for work that
    /// is proportional, 0 for work that should not depend on it.
    #[must_use]
    pub fn of(name: &str, grows: &str, cost: &str, exponent: u8) -> Self {
        println!("chart\t{name}\t{grows}\t{cost}\t{exponent}");
        Self { name: name.to_owned() }
    }

    /// Reports a point.
    pub fn point(&self, size: usize, cost: f64) {
        println!("point\t{}\t{size}\t{cost:.4}", self.name);
    }

    /// Measures a piece of work and reports it, in microseconds of processor time of this thread.
    pub fn measure<T>(&self, size: usize, mut work: impl FnMut() -> T) {
        self.point(size, microseconds(&mut work));
    }
}

/// Microseconds of processor time of this thread that a call takes: the median of some rounds of a millisecond and more.
pub fn microseconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut timed = |times: u32| {
        let start = processor_seconds();
        for _ in 0..times {
            std::hint::black_box(work());
        }
        (processor_seconds() - start) * 1e6 / f64::from(times)
    };
    // The first call is cold.
    timed(1);
    let times = (1e3 / timed(2).max(0.01)).ceil().clamp(1.0, 1e5) as u32;
    median((0..if quick() { 1 } else { ROUNDS }).map(|_| timed(times)).collect())
}
