//! How a cost grows: its points, and the power of the size that they follow.

/// A value compared with its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Moonshot,
    Pass,
    Miss,
    NoBudget,
}

/// Points of one cost.
#[derive(Debug, PartialEq)]
pub(super) struct Chart {
    pub(super) name: String,
    /// What the horizontal axis counts.
    pub(super) grows: String,
    /// What the vertical axis shows, with its unit.
    pub(super) cost: String,
    /// The power that is expected: 1 for a cost in proportion, 0 for one that does not depend on the size.
    pub(super) expected: f64,
    pub(super) points: Vec<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) size: f64,
    pub(super) cost: f64,
}

/// How far a power may exceed the expected one: a cache that is too small, and a tree that is one level deeper, look
/// like a small power.
const TOLERANCE: f64 = 0.15;

impl Chart {
    /// The power of the size that the cost follows among the larger sizes: the slope of the line that fits the upper
    /// half of the points best, both axes logarithmic. Among the small sizes, the fixed cost of a call hides it. `None`
    /// with fewer than three points.
    pub(super) fn exponent(&self) -> Option<f64> {
        if self.points.len() < 3 {
            return None;
        }
        let upper = &self.points[self.points.len() - (self.points.len() / 2 + 1).max(3)..];
        let count = upper.len() as f64;
        let mean = |of: fn(&Point) -> f64| upper.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(|point| point.size.ln()), mean(|point| point.cost.ln()));
        let products = upper.iter().map(|point| (point.size.ln() - x) * (point.cost.ln() - y)).sum::<f64>();
        let squares = upper.iter().map(|point| (point.size.ln() - x).powi(2)).sum::<f64>();
        (squares > 0.0).then(|| products / squares)
    }

    /// The difference between the power and the expected one.
    pub(super) fn excess(&self) -> f64 {
        self.exponent().map_or(0.0, |exponent| exponent - self.expected)
    }

    pub(super) fn mark(&self) -> Mark {
        match self.exponent() {
            None => Mark::NoBudget,
            Some(_) if self.excess() > TOLERANCE => Mark::Miss,
            Some(_) => Mark::Pass,
        }
    }

    /// The name of its file.
    pub(super) fn file(&self) -> String {
        let words = self.name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-") + ".svg"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(expected: f64, cost: impl Fn(f64) -> f64) -> Chart {
        let points = [1.0, 10.0, 100.0, 1_000.0, 10_000.0].map(|size| Point { size, cost: cost(size) });
        Chart { name: "a, b".into(), grows: String::new(), cost: String::new(), expected, points: points.into() }
    }

    #[test]
    fn the_growth_exponent_is_computed_and_checked() {
        let square = chart(1.0, |size| 3.0 * size * size);
        assert!((square.exponent().unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(square.mark(), Mark::Miss);
        let proportional = chart(1.0, |size| 50.0 + 7.0 * size);
        assert!((0.9..1.0).contains(&proportional.exponent().unwrap()));
        assert_eq!(proportional.mark(), Mark::Pass);
        assert_eq!(chart(0.0, |_| 4.0).mark(), Mark::Pass);
        assert_eq!(chart(0.0, f64::sqrt).mark(), Mark::Miss);
        assert_eq!(Chart { points: Vec::new(), ..chart(1.0, |_| 1.0) }.exponent(), None);
    }

    #[test]
    fn a_square_that_begins_late_is_found_all_the_same() {
        assert_eq!(chart(1.0, |size| 1_000.0 + size + size * size / 100.0).mark(), Mark::Miss);
    }

    #[test]
    fn files_are_named_after_the_chart() {
        assert_eq!(chart(1.0, |_| 1.0).file(), "a-b.svg");
    }
}
