//! Planted bugs, to test whether the checks find them. They are in this crate only: wrong clients in `client`, `naive`,
//! `returns` and `twist`, a wrong service in `tamper` and `shared`.

use crate::{Played, Scenario, conduct::ClientBehaviour, many::shrink, playing, scenario::Disturbance};

mod client;
mod naive;
mod returns;
mod shared;
mod tamper;
mod twist;

/// A planted bug.
pub struct Planted {
    /// The wrong behaviour.
    pub name: &'static str,
    /// The check that finds it.
    pub check: &'static str,
    /// The number of seeds, counted from 1, within which it is found.
    pub within: u64,
    /// The disturbance that it needs to have an effect, if any.
    needs: Option<Disturbance>,
    /// Whether it needs a service with a dialect that differs from the sandbox's.
    differs: bool,
    conduct: &'static dyn ClientBehaviour,
    /// The same client without the bug, if it is not the correct one.
    control: Option<&'static dyn ClientBehaviour>,
}

/// A client that has none of the bugs that several of the others add to it.
pub const NAIVE: &Planted = &naive::NO_BUG;

/// All of them.
pub const ALL: &[&Planted] = &[
    &naive::RESENDS_BLINDLY,
    &naive::TAKES_A_NEW_REFERENCE,
    &naive::BELIEVES_AN_EMPTY_LOOKUP,
    &client::STORES_AFTER_SENDING,
    &twist::TAKES_LOST_FOR_UNSENT,
    &twist::USED_UP_IS_REFUSED,
    &twist::NO_RESPONSE_IS_A_DECLINE,
    &twist::NO_RESPONSE_IS_NOT_CHARGED,
    &twist::UNREADABLE_IS_A_DECLINE,
    &naive::UNKNOWN_STATUS_IS_A_DECLINE,
    &twist::UNKNOWN_REFUSAL_IS_TRUSTED,
    &twist::PENDING_IS_FINAL,
    &twist::TAKES_ANOTHER_AMOUNT,
    &client::ASSUMES_NOTHING_WAS_SENT,
    &client::RESUMES_UNDER_ANOTHER_ACCOUNT,
    &twist::NEVER_GIVES_UP,
    &client::REPEATS_CAPTURES,
    &client::REPEATS_REPEATS,
    &client::TRUSTS_A_DECLINE,
    &twist::ONE_COPY_IS_EVERY_COPY,
    &twist::ONE_DECLINE_IS_EVERY_COPY,
    &twist::BELIEVES_A_CALLBACK,
    &returns::BELIEVES_A_RETURN,
    &twist::TAKES_FAILED_FOR_PASSED,
    &twist::BELIEVES_A_SUCCESS_PAGE,
    &twist::LEAVES_A_TOKEN_OPEN,
    &twist::SEARCHES_FOR_NOTHING,
    &twist::TAKES_NO_LIST_FOR_AN_EMPTY_ONE,
    &twist::TRUSTS_ITS_CLOCK,
    &client::LEADS_UNSTORED,
    &twist::SUBMITS_A_BATCH_AGAIN,
    &client::IGNORES_THE_THROTTLE,
    &client::IGNORES_STOPS,
    &client::LOGS_THE_CARD,
    &twist::STORES_THE_CARD,
    &tamper::REPLIES_BEFORE_COMMIT,
    &tamper::COMMITS_HALF,
    &tamper::COUNTS_APPROVED_REFERENCES_ONLY,
    &tamper::FORGETS_REFERENCES,
    &tamper::FINDS_NOTHING,
    &tamper::FAILED_AUTHENTICATIONS_PASS,
    &tamper::DISABLED_CARDS_PAY,
    &tamper::DELETED_CARDS_PAY,
    &tamper::SESSIONS_LAST,
    &tamper::TOKENS_LAST,
    &tamper::CAPTURES_UNCHECKED,
    &tamper::REFUNDS_UNCHECKED,
    &tamper::REFUNDS_OF_CAPTURES_UNCHECKED,
    &shared::LIMITS_BY_PROCESS,
    &shared::DELIVERS_TWICE,
    &shared::KEEPS_OLD_COPIES,
];

/// Returns the bugs as a table for the page about reliability.
#[must_use]
pub fn table() -> String {
    let rows = ALL.iter().map(|bug| format!("| {} | {} | {} |\n", bug.name, bug.check, bug.within));
    format!("| planted bug | found by the check | within seeds |\n|---|---|---|\n{}", rows.collect::<String>())
}

impl Planted {
    const fn new(name: &'static str, check: &'static str, within: u64, conduct: &'static dyn ClientBehaviour) -> Self {
        Self { name, check, within, needs: None, differs: false, conduct, control: None }
    }

    const fn needs(self, trouble: Disturbance) -> Self {
        Self { needs: Some(trouble), ..self }
    }

    const fn in_other_dialects(self) -> Self {
        Self { differs: true, ..self }
    }

    const fn unlike(self, control: &'static dyn ClientBehaviour) -> Self {
        Self { control: Some(control), ..self }
    }

    /// Returns the first world from seed 1 in which its check finds it.
    #[must_use]
    pub fn first(&self, seeds: u64) -> Option<Played> {
        (1..=seeds).map(|seed| self.play(seed)).find(|played| violated(played) == Some(self.check))
    }

    /// Returns the first of this many worlds that violates any check.
    #[must_use]
    pub fn first_of_any(&self, seeds: u64) -> Option<Played> {
        (1..=seeds).map(|seed| self.play(seed)).find(|played| played.violation.is_some())
    }

    /// Returns how many of this many worlds violate any check.
    #[must_use]
    pub fn count(&self, seeds: u64) -> usize {
        (1..=seeds).filter(|seed| self.play(*seed).violation.is_some()).count()
    }

    /// Shrinks a failing world as far as possible.
    #[must_use]
    pub fn smallest(&self, failing: Played) -> Played {
        shrink(failing, &|scenario| playing::play(scenario, self.conduct))
    }

    /// Returns the same world without the disturbance that the bug needs, if it needs one.
    #[must_use]
    pub fn spared(&self, found: &Played) -> Option<Played> {
        self.needs.map(|trouble| playing::play(found.scenario.without(trouble), self.conduct))
    }

    /// Returns the same world with a client that lacks only the bug, if that is not the correct client.
    #[must_use]
    pub fn without(&self, found: &Played) -> Option<Played> {
        self.control.map(|client| playing::play(found.scenario, client))
    }

    fn play(&self, seed: u64) -> Played {
        let scenario = if self.differs { Scenario::new(seed) } else { Scenario::of_the_sandbox(seed) };
        playing::play(scenario, self.conduct)
    }
}

fn violated(played: &Played) -> Option<&'static str> {
    played.violation.as_ref().map(|violation| violation.check)
}
