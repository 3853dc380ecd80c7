//! Compares pieces of work with their floor: all run in turn in the same process, many rounds, and the median of the
//! rounds' ratios counts, so that a busy machine slows all of them alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long one piece of work runs in one round.
const SAMPLE: Duration = Duration::from_millis(2);

/// Ratios that count as fast enough, and as remarkable.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) budget: f64,
    pub(crate) moonshot: f64,
}

/// Runs `work` against `floor` and prints the result: a `ratio` line for machines, a line for people.
pub(crate) fn compare<A, B>(name: &str, bounds: Bounds, mut work: impl FnMut() -> A, mut floor: impl FnMut() -> B) {
    let mut work_run = |times| timed(times, &mut work);
    let mut floor_run = |times| timed(times, &mut floor);
    let (work_times, floor_times) = (repetitions(&mut work_run), repetitions(&mut floor_run));

    let (mut ratios, mut works, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds() {
        let (work, floor) = if round % 2 == 0 {
            let work = work_run(work_times);
            (work, floor_run(floor_times))
        } else {
            let floor = floor_run(floor_times);
            (work_run(work_times), floor)
        };
        ratios.push(work / floor);
        works.push(work);
        floors.push(floor);
    }
    let ratio = median(ratios);
    let Bounds { budget, moonshot } = bounds;
    println!("ratio\t{name}\t{ratio:.3}\t<={budget:.2}\t<={moonshot:.2}");
    println!(
        "  {name}: {:.0} ns against {:.0} ns, {ratio:.3} x the floor (budget {budget:.2}, moonshot {moonshot:.2})",
        median(works),
        median(floors),
    );
}

/// Few when only a sign of life is wanted.
fn rounds() -> usize {
    if std::env::var_os("PG_BENCH_QUICK").is_some() { 5 } else { 201 }
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

/// How often a piece of work has to run to fill its share of a round.
fn repetitions(run: &mut impl FnMut(u32) -> f64) -> u32 {
    run(2);
    let once = run(3).max(1.0);
    let times = (SAMPLE.as_nanos() as f64 / once).ceil() as u32;
    // The first calls were cold.
    let warm = run(times.max(1)).max(1.0);
    ((SAMPLE.as_nanos() as f64 / warm).ceil() as u32).max(1)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
