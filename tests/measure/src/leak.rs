//! Whether the time of work differs between two kinds of input.

use std::time::Instant;

/// The number of samples that are discarded as warm-up.
const WARM_UP: usize = 10_000;
/// Shares of the quickest times that are compared separately, because interruptions of a sample do not depend on its input.
const CROPS: [f64; 5] = [0.5, 0.75, 0.9, 0.99, 1.0];

/// Times `work` on inputs of two kinds, in an order that looks random, and gives the largest absolute value of Welch's t
/// over several crops. Above 4.5 the kinds can be told apart.
///
/// `prepare` brings an input of either kind into `state`, untimed. To compare the work alone, it should write into the same
/// memory for both.
pub fn leak<S>(samples: usize, state: &mut S, prepare: impl Fn(&mut S, bool), work: impl Fn(&mut S)) -> f64 {
    let mut times = [Vec::with_capacity(samples), Vec::with_capacity(samples)];
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for number in 0..WARM_UP + samples {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let kind = random >> 63 == 1;
        prepare(state, kind);
        let time = timed(|| work(state));
        if number >= WARM_UP {
            times[usize::from(kind)].push(time);
        }
    }
    let mut all: Vec<f64> = times.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let t = |share: f64| {
        let most = all[((all.len() as f64 * share) as usize).clamp(1, all.len()) - 1];
        let kept = times.each_ref().map(|times| times.iter().copied().filter(|time| *time <= most).collect::<Vec<_>>());
        welch(&kept[0], &kept[1]).abs()
    };
    CROPS.into_iter().map(t).fold(0.0, f64::max)
}

/// Nanoseconds.
#[expect(clippy::disallowed_methods, reason = "what is measured here is time")]
fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

fn welch(a: &[f64], b: &[f64]) -> f64 {
    let ((mean_a, error_a), (mean_b, error_b)) = (moments(a), moments(b));
    let error = (error_a + error_b).sqrt();
    if error > 0.0 { (mean_a - mean_b) / error } else { 0.0 }
}

/// The mean, and the square of its standard error.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, squares / (count - 1.0).max(1.0) / count.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_equals_the_value_computed_by_hand() {
        // Means 3 and 6, variances 2.5 and 10, five values each.
        let t = welch(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 6.0, 8.0, 10.0]);
        assert!((t + 3.0 / 2.5_f64.sqrt()).abs() < 1e-12, "{t}");
        assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0]), 0.0);
    }
}
