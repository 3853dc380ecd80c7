//! The cost of a reader's worst inputs: milliseconds per MiB, and whether twice the input costs more than twice as much.

use std::hint::black_box;

use crate::{Bounds, median, processor_seconds, quick};

/// Rounds of a comparison of an input with its half.
const ROUNDS: usize = 9;
/// The shortest sample, in seconds.
const SAMPLE: f64 = 0.002;
const MIB: f64 = 1_048_576.0;

/// An input whose length decides what it may cost.
pub trait Input {
    /// Its bytes.
    fn bytes(&self) -> usize;
}

impl Input for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl Input for Vec<(String, String)> {
    fn bytes(&self) -> usize {
        self.iter().map(|(name, value)| name.len() + value.len() + 2).sum()
    }
}

/// A reader, masker or explainer with its worst known inputs.
pub struct Worst {
    reader: String,
    tried: Vec<Tried>,
}

struct Tried {
    input: String,
    bytes: usize,
    milliseconds: f64,
    /// How many times the work grows when the input doubles.
    growth: f64,
}

impl Worst {
    /// A reader without measurements.
    #[must_use]
    pub fn of(reader: &str) -> Self {
        Self { reader: reader.to_owned(), tried: Vec::new() }
    }

    /// Measures the work on an input of the largest size, and on one of half of it. `make` defines the unit of the size: bytes or
    /// parameters.
    ///
    /// # Panics
    /// When the larger input is not larger.
    #[must_use]
    pub fn input<I: Input, T>(
        mut self,
        name: &str,
        largest: usize,
        make: impl Fn(usize) -> I,
        work: impl Fn(&I) -> T,
    ) -> Self {
        let inputs = [make(largest / 2), make(largest)];
        let bytes = inputs.each_ref().map(Input::bytes);
        assert!(bytes[1] > bytes[0], "{} of {name}: {bytes:?}", self.reader);
        // The first calls are cold.
        let times = inputs.each_ref().map(|input| {
            timed(1, input, &work);
            (SAMPLE / timed(1, input, &work).max(1e-9)).ceil().clamp(1.0, 1e4) as u32
        });
        let mut seconds = [Vec::new(), Vec::new()];
        for _ in 0..if quick() { 1 } else { ROUNDS } {
            for (at, input) in inputs.iter().enumerate() {
                seconds[at].push(timed(times[at], input, &work));
            }
        }
        let [half, whole] = seconds.map(median);
        let slope = (whole / half).ln() / (bytes[1] as f64 / bytes[0] as f64).ln();
        let tried = Tried { input: name.to_owned(), bytes: bytes[1], milliseconds: whole * 1e3, growth: slope.exp2() };
        println!(
            "  {}, {name}: {} bytes, {:.3} ms, {:.1} ms a MiB, doubled {:.2} times",
            self.reader,
            tried.bytes,
            tried.milliseconds,
            tried.milliseconds_a_mib(),
            tried.growth
        );
        self.tried.push(tried);
        self
    }

    /// Reports the input that costs most a MiB, the call that costs most, and the steepest growth of all. The bounds are
    /// of milliseconds a MiB.
    pub fn report(self, bounds: Bounds) {
        self.print("cost", bounds);
    }

    /// The same with bounds of milliseconds a call: of the largest inputs that the work is given.
    pub fn report_calls(self, bounds: Bounds) {
        self.print("call", bounds);
    }

    fn print(self, kind: &str, bounds: Bounds) {
        let most = self.tried.iter().max_by(|a, b| a.milliseconds_a_mib().total_cmp(&b.milliseconds_a_mib()));
        let Some(most) = most else { return };
        let most_of = |value: fn(&Tried) -> f64| self.tried.iter().map(value).fold(0.0, f64::max);
        let (budget, moonshot) = bounds.told();
        println!(
            "{kind}\t{}\t{}\t{}\t{}\t{:.1}\t{:.2}\t{:.2}\t{budget}\t{moonshot}",
            self.reader,
            self.tried.len(),
            most.input,
            most.bytes,
            most.milliseconds_a_mib(),
            most_of(|tried| tried.growth),
            most_of(|tried| tried.milliseconds),
        );
    }
}

impl Tried {
    fn milliseconds_a_mib(&self) -> f64 {
        self.milliseconds / (self.bytes as f64 / MIB)
    }
}

/// Seconds of processor time a call.
fn timed<I, T>(times: u32, input: &I, work: &impl Fn(&I) -> T) -> f64 {
    let start = processor_seconds();
    for _ in 0..times {
        black_box(work(black_box(input)));
    }
    (processor_seconds() - start) / f64::from(times)
}
