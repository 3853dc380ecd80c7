//! Bugs that are planted to see whether the checks find them. Each stands in a file of its own, in this crate alone.

use crate::{Played, Scenario, conduct::ClientBehaviour, scenario::Disturbance, shrink::shrink, world};

mod assumes_nothing_was_sent;
mod believes_a_callback;
mod believes_a_return;
mod believes_a_success_page;
mod believes_an_empty_lookup;
mod captures_unchecked;
mod commits_half;
mod counts_approved_references_only;
mod deleted_cards_pay;
mod disabled_cards_pay;
mod finds_nothing;
mod forgets_references;
mod ignores_stops;
mod ignores_the_throttle;
mod leads_unstored;
mod leaves_a_token_open;
mod leaves_out;
mod logs_the_card;
mod naive;
mod never_gives_up;
mod no_response_is_a_decline;
mod no_response_is_not_charged;
mod refunds_unchecked;
mod repeats_captures;
mod replies_before_commit;
mod resends_blindly;
mod resumes_under_another_account;
mod searches_for_nothing;
mod sessions_last;
mod stores_after_sending;
mod stores_the_card;
mod submits_a_batch_again;
mod takes_a_new_reference;
mod takes_lost_for_unsent;
mod tamper;
mod tokens_last;
mod trusts_its_clock;
mod twist;
mod unknown_refusal_is_trusted;
mod unknown_status_is_a_decline;
mod unreadable_is_a_decline;
mod used_up_is_refused;

/// A bug that is planted.
pub struct Planted {
    /// What it gets wrong.
    pub name: &'static str,
    /// The check that finds it.
    pub check: &'static str,
    /// Within so many seeds, counted from 1.
    pub within: u64,
    /// The trouble without which nothing shows it, if there is one.
    needs: Option<Disturbance>,
    /// Whether it takes a service that does not speak the sandbox's dialect to show it.
    differs: bool,
    conduct: &'static dyn ClientBehaviour,
}

/// All of them.
pub const ALL: &[&Planted] = &[
    &resends_blindly::PLANTED,
    &takes_a_new_reference::PLANTED,
    &believes_an_empty_lookup::PLANTED,
    &stores_after_sending::PLANTED,
    &takes_lost_for_unsent::PLANTED,
    &used_up_is_refused::PLANTED,
    &no_response_is_a_decline::PLANTED,
    &no_response_is_not_charged::PLANTED,
    &unreadable_is_a_decline::PLANTED,
    &unknown_status_is_a_decline::PLANTED,
    &unknown_refusal_is_trusted::PLANTED,
    &assumes_nothing_was_sent::PLANTED,
    &resumes_under_another_account::PLANTED,
    &never_gives_up::PLANTED,
    &repeats_captures::PLANTED,
    &believes_a_callback::PLANTED,
    &believes_a_return::PLANTED,
    &believes_a_success_page::PLANTED,
    &leaves_a_token_open::PLANTED,
    &searches_for_nothing::PLANTED,
    &trusts_its_clock::PLANTED,
    &leads_unstored::PLANTED,
    &submits_a_batch_again::PLANTED,
    &ignores_the_throttle::PLANTED,
    &ignores_stops::PLANTED,
    &logs_the_card::PLANTED,
    &stores_the_card::PLANTED,
    &replies_before_commit::PLANTED,
    &commits_half::PLANTED,
    &counts_approved_references_only::PLANTED,
    &forgets_references::PLANTED,
    &finds_nothing::PLANTED,
    &disabled_cards_pay::PLANTED,
    &deleted_cards_pay::PLANTED,
    &sessions_last::PLANTED,
    &tokens_last::PLANTED,
    &captures_unchecked::PLANTED,
    &refunds_unchecked::PLANTED,
];

/// What is promised of each of them, as a table of the page about reliability.
#[must_use]
pub fn table() -> String {
    let rows = ALL.iter().map(|bug| format!("| {} | {} | {} |\n", bug.name, bug.check, bug.within));
    format!("| planted bug | found by the check | within so many seeds |\n|---|---|---|\n{}", rows.collect::<String>())
}

impl Planted {
    /// The first world from seed 1 on in which its check finds it, if one among so many is.
    #[must_use]
    pub fn first(&self, seeds: u64) -> Option<Played> {
        (1..=seeds).map(|seed| self.play(seed)).find(|played| violated(played) == Some(self.check))
    }

    /// How many of so many worlds violate any check.
    #[must_use]
    pub fn count(&self, seeds: u64) -> usize {
        (1..=seeds).filter(|seed| self.play(*seed).violation.is_some()).count()
    }

    /// A world as small as it gets.
    #[must_use]
    pub fn smallest(&self, failing: Played) -> Played {
        shrink(failing, self.conduct)
    }

    /// The same world without the trouble that the bug needs, if it needs one.
    #[must_use]
    pub fn spared(&self, found: &Played) -> Option<Played> {
        self.needs.map(|trouble| world::play(found.scenario.without(trouble), self.conduct))
    }

    fn play(&self, seed: u64) -> Played {
        let scenario = if self.differs { Scenario::new(seed) } else { Scenario::of_the_sandbox(seed) };
        world::play(scenario, self.conduct)
    }
}

fn violated(played: &Played) -> Option<&'static str> {
    played.violation.as_ref().map(|violation| violation.check)
}
