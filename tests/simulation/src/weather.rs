//! How bad it is in one world: which troubles it has, and how often.

use crate::{
    dice::Dice,
    scenario::{Scenario, Trouble},
};

/// Chances in a thousand; 0 for what this world is spared.
#[derive(Clone, Copy, Default)]
pub(crate) struct Weather {
    pub(crate) lost_request: u64,
    pub(crate) lost_reply: u64,
    pub(crate) long_delay: u64,
    pub(crate) duplicate: u64,
    pub(crate) refused: u64,
    pub(crate) cut: u64,
    pub(crate) garbled: u64,
}

impl Weather {
    /// Each world has about half of the troubles, each lightly or heavily, so that they meet in all combinations.
    pub(crate) fn of(scenario: Scenario) -> Self {
        let mut dice = Dice::new(scenario.seed, "weather");
        let mut chance = |trouble| {
            let (present, heavy) = (dice.per_mille(500), dice.between(20, 300));
            if present && scenario.has(trouble) { heavy } else { 0 }
        };
        Self {
            lost_request: chance(Trouble::LostRequests),
            lost_reply: chance(Trouble::LostReplies),
            long_delay: chance(Trouble::LongDelays),
            duplicate: chance(Trouble::Duplicates),
            refused: chance(Trouble::Refusals),
            cut: chance(Trouble::Cuts),
            garbled: chance(Trouble::Garbling),
        }
    }
}
