//! Handles the passing of time for batches, and computes how long to wait.

use std::time::Duration;

use super::{
    AccountUpdate, DoubtfulPolicy,
    batch::{Batch, Phase},
    retrieve::Candidate,
};
use crate::machine::{Backoff, Moment};

/// Pauses after requests without a result.
pub(super) const TROUBLE: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60) };
/// Maximum number of repeated submissions after doubts.
const AGAIN_AT_MOST: u32 = 3;

impl AccountUpdate {
    /// Ends doubts whose time is over, schedules last retrievals, and makes results of ended batches.
    pub(super) fn time_passed(&mut self, now: Moment) {
        let (doubt, patience) = (self.plan.doubt(), self.plan.patience);
        let longest_look = self.plan.first_poll.max(self.plan.longest_pause);
        let again = self.plan.doubtful == DoubtfulPolicy::SubmitAgain;
        for candidate in &mut self.state.candidates {
            candidate.mind_the_clock(now);
        }
        let candidates = &self.state.candidates;
        for batch in self.state.open.iter_mut().filter(|batch| batch.result.is_none()) {
            batch.mind_the_clock(now, longest_look);
            match batch.phase {
                Phase::Doubtful { since } if since.after(doubt) <= now && !has_hope(candidates, since.after(doubt)) => {
                    if again && batch.submitted_again < AGAIN_AT_MOST {
                        batch.submitted_again += 1;
                        batch.phase = Phase::Ready;
                    } else {
                        batch.end_in_doubt();
                    }
                }
                Phase::Submitted { since, .. } => batch.polls.next = batch.next_look(since.after(patience)),
                _ => {}
            }
            batch.conclude();
        }
    }

    /// Returns when to act next if nothing is due now.
    pub(super) fn next_moment(&mut self, now: Moment) -> Moment {
        let doubt = self.plan.doubt();
        let hold = self.state.troubles.held(now).unwrap_or_default();
        let candidates = &self.state.candidates;
        let of_batch = |batch: &Batch| match batch.phase {
            Phase::Ready => hold,
            // The batch waits for its candidates.
            Phase::Doubtful { since } if has_hope(candidates, since.after(doubt)) => Moment::from_millis(u64::MAX),
            Phase::Doubtful { since } => since.after(doubt),
            Phase::Submitted { .. } => batch.polls.next.max(hold),
            // Neither needs a timer: one waits for a reply, the other for the owner.
            Phase::Sending { .. } | Phase::Ended { .. } => hold,
        };
        let batches = self.state.open.iter().map(of_batch);
        let candidates = candidates.iter().map(|candidate| candidate.next.max(hold));
        batches.chain(candidates).min().unwrap_or(hold)
    }
}

/// Whether a key from a callback may resolve a doubt that ends at this time. It is retrieved once, even without a callback address in
/// the plan.
fn has_hope(candidates: &[Candidate], over: Moment) -> bool {
    candidates.iter().any(|candidate| candidate.may_settle(over))
}
