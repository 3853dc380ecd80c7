//! Compares a piece of work with its floor: both run in turn in the same process, many rounds, and the median
//! of the rounds' ratios counts, so that a busy machine slows both alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 301;
const SAMPLE: Duration = Duration::from_micros(400);

/// Runs `work` against `floor` and prints the result: a `ratio` line for machines, a line for people.
///
/// `name` is stable; `budget` and `moonshot` are ratios.
pub(crate) fn compare<A, B>(
    name: &str,
    budget: f64,
    moonshot: f64,
    mut work: impl FnMut() -> A,
    mut floor: impl FnMut() -> B,
) {
    let mut work_run = |times| timed(times, &mut work);
    let mut floor_run = |times| timed(times, &mut floor);
    let times = repetitions(&mut floor_run).max(repetitions(&mut work_run));

    let (mut ratios, mut works, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let (work, floor) = if round % 2 == 0 {
            let work = work_run(times);
            (work, floor_run(times))
        } else {
            let floor = floor_run(times);
            (work_run(times), floor)
        };
        ratios.push(work / floor);
        works.push(work);
        floors.push(floor);
    }
    let ratio = median(ratios);
    println!("ratio\t{name}\t{ratio:.3}\t{budget:.2}\t{moonshot:.2}");
    println!(
        "  {name}: {:.0} ns against {:.0} ns, {ratio:.3} x the floor (budget {budget:.2}, moonshot {moonshot:.2})",
        median(works),
        median(floors),
    );
}

/// Nanoseconds a call, over `times` calls.
fn timed<T>(times: u32, work: &mut impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        black_box(work());
    }
    start.elapsed().as_nanos() as f64 / f64::from(times)
}

fn repetitions(run: &mut impl FnMut(u32) -> f64) -> u32 {
    run(1000);
    let once = run(1000).max(1.0);
    (SAMPLE.as_nanos() as f64 / once).ceil() as u32
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
