//! The reports of one run, compared with their budgets.

use super::growth::{Chart, Mark};

/// Everything that was reported, in the order it was.
#[derive(Default)]
pub(super) struct Measurements {
    pub(super) ratios: Vec<Ratio>,
    pub(super) costs: Vec<Cost>,
    pub(super) charts: Vec<Chart>,
    pub(super) notes: Vec<String>,
}

/// How much of its floor a piece of work costs.
#[derive(Debug, PartialEq)]
pub(super) struct Ratio {
    pub(super) package: String,
    pub(super) name: String,
    pub(super) value: f64,
    /// The value as the benchmark printed it: it knows how many digits mean something.
    pub(super) shown: String,
    pub(super) budget: Option<Bound>,
    pub(super) moonshot: Option<Bound>,
}

/// What the worst input of a reader costs.
#[derive(Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) reader: String,
    /// How many inputs were tried.
    pub(super) inputs: usize,
    pub(super) worst: String,
    pub(super) bytes: usize,
    pub(super) milliseconds_a_mib: f64,
    /// How many times the work grows when an input doubles; of all inputs that were tried, the most.
    pub(super) growth: f64,
    /// The milliseconds of the call that costs most, of all inputs that were tried.
    pub(super) milliseconds_a_call: f64,
    /// Whether the budget is of a call, and not of a MiB.
    pub(super) is_of_a_call: bool,
    pub(super) budget: Option<Bound>,
    pub(super) moonshot: Option<Bound>,
}

/// A limit that a value is compared with, inclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Measurements {
    /// How many measurements there are.
    pub(super) fn len(&self) -> usize {
        self.ratios.len() + self.costs.len() + self.charts.len()
    }

    /// Each measurement with a budget, compared with it.
    pub(super) fn marks(&self) -> impl Iterator<Item = Mark> {
        let ratios = self.ratios.iter().map(Ratio::mark);
        ratios.chain(self.costs.iter().map(Cost::mark)).chain(self.charts.iter().map(Chart::mark))
    }
}

impl Ratio {
    pub(super) fn mark(&self) -> Mark {
        Mark::of(self.value, self.budget, self.moonshot)
    }
}

/// How many times the work may grow when an input doubles: a cache that is too small costs time too.
const MOST_GROWTH: f64 = 2.6;

impl Cost {
    pub(super) fn mark(&self) -> Mark {
        if self.growth > MOST_GROWTH {
            return Mark::Miss;
        }
        let value = if self.is_of_a_call { self.milliseconds_a_call } else { self.milliseconds_a_mib };
        Mark::of(value, self.budget, self.moonshot)
    }
}

impl Mark {
    fn of(value: f64, budget: Option<Bound>, moonshot: Option<Bound>) -> Self {
        let keeps = |bound: Option<Bound>| bound.map(|bound| bound.holds(value));
        match (keeps(budget), keeps(moonshot)) {
            (Some(false), _) => Self::Miss,
            (_, Some(true)) => Self::Moonshot,
            (Some(true), _) => Self::Pass,
            (None, _) => Self::NoBudget,
        }
    }
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }
}
