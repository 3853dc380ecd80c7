//! The planned requests of a survey.

use serde::Serialize;

use crate::{
    point::{Point, points},
    probe::{Cost, Probe},
    probes::CONTROL,
};

/// The planned requests of a survey, before anything is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Plan {
    /// The requests in their order.
    pub probes: Vec<Planned>,
    /// The maximum number of control requests between them: one for each probe, if every probe returns a new error
    /// code.
    pub most_controls: usize,
}

/// A request of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Planned {
    /// HTTP method and path.
    pub request: String,
    /// What it does.
    pub what: &'static str,
    /// The numbers of the assumptions that its answer may decide.
    pub assumptions: Vec<u16>,
    /// The names of the points.
    pub points: Vec<&'static str>,
    /// What it may cost.
    pub cost: Cost,
}

impl Plan {
    pub(crate) fn of(probes: &[&'static Probe]) -> Self {
        let all = std::iter::once(&CONTROL).chain(probes.iter().copied());
        Self { probes: all.map(planned).collect(), most_controls: probes.len() }
    }

    /// Returns the number of requests that may have this cost.
    #[must_use]
    pub fn count(&self, cost: Cost) -> usize {
        self.probes.iter().filter(|probe| probe.cost == cost).count()
    }

    /// Returns the open points that none of its requests can decide.
    pub fn leaves_out(&self) -> impl Iterator<Item = &'static Point> + '_ {
        points().filter(|point| !self.probes.iter().any(|probe| probe.points.contains(&point.name)))
    }
}

fn planned(probe: &Probe) -> Planned {
    let points = probe.decides();
    let mut assumptions: Vec<u16> =
        points.iter().filter_map(|name| Point::named(name)).map(|point| point.assumption).collect();
    assumptions.sort_unstable();
    assumptions.dedup();
    Planned { request: probe.request.shown(), what: probe.what, assumptions, points, cost: probe.cost }
}
