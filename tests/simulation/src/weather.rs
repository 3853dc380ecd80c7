//! The conditions of one world: which faults occur, and how often.

use crate::{
    dice::Dice,
    scenario::{Disturbance, Scenario},
};

/// Chances in a thousand; 0 for a fault that does not occur.
#[derive(Clone, Copy, Default)]
pub(crate) struct NetworkConditions {
    pub(crate) lost_request: u64,
    pub(crate) lost_reply: u64,
    pub(crate) long_delay: u64,
    pub(crate) duplicate: u64,
    pub(crate) refused: u64,
    pub(crate) cut: u64,
    pub(crate) garbled: u64,
}

impl NetworkConditions {
    /// Each world has about half of the faults, each rarely or often, so that all combinations occur.
    pub(crate) fn of(scenario: Scenario) -> Self {
        let mut dice = Dice::new(scenario.seed, "weather");
        let mut chance = |trouble| {
            let (present, heavy) = (dice.per_mille(500), dice.between(20, 300));
            if present && scenario.has(trouble) { heavy } else { 0 }
        };
        Self {
            lost_request: chance(Disturbance::LostRequests),
            lost_reply: chance(Disturbance::LostReplies),
            long_delay: chance(Disturbance::LongDelays),
            duplicate: chance(Disturbance::Duplicates),
            refused: chance(Disturbance::Refusals),
            cut: chance(Disturbance::Cuts),
            garbled: chance(Disturbance::Garbling),
        }
    }
}
