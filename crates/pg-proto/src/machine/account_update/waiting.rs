//! What becomes of batches as time passes, and until when there is nothing to do.

use std::time::Duration;

use super::{
    AccountUpdate, Doubtful,
    batch::{Batch, Phase},
    report::BatchEnd,
};
use crate::machine::Moment;

/// Pauses after requests that brought nothing.
pub(super) const AFTER_TROUBLE: Duration = Duration::from_secs(1);
pub(super) const LONGEST_TROUBLE: Duration = Duration::from_secs(60);
/// How often a batch is submitted again after doubts.
const AGAIN_AT_MOST: u32 = 3;

impl AccountUpdate {
    /// Ends doubts and patience that are over, and makes results of what ended.
    pub(super) fn let_time_pass(&mut self, now: Moment) {
        let (doubt, patience) = (self.plan.doubt(), self.plan.patience);
        let again = self.plan.doubtful == Doubtful::SubmitAgain;
        for batch in self.state.open.iter_mut().filter(|batch| batch.result.is_none()) {
            match batch.phase {
                Phase::Doubtful { since } if since.after(doubt) <= now => {
                    if again && batch.submitted_again < AGAIN_AT_MOST {
                        batch.submitted_again += 1;
                        batch.phase = Phase::Ready;
                    } else {
                        batch.end_as(BatchEnd::Doubtful);
                    }
                }
                Phase::Submitted { since, .. } if since.after(patience) <= now => batch.end_as(BatchEnd::Overdue),
                _ => {}
            }
            batch.conclude();
        }
    }

    /// When there is something to do again, nothing being due now.
    pub(super) fn next_moment(&self) -> Moment {
        let (doubt, patience) = (self.plan.doubt(), self.plan.patience);
        let of_batch = |batch: &Batch| match batch.phase {
            Phase::Ready => self.hold,
            Phase::Doubtful { since } => since.after(doubt),
            Phase::Submitted { since, .. } => batch.polls.next.max(self.hold).min(since.after(patience)),
            // Neither is ever waited for: one awaits its reply, the other is offered until it was taken.
            Phase::Sending { .. } | Phase::Ended { .. } => self.hold,
        };
        let batches = self.state.open.iter().map(of_batch);
        let candidates = self.state.candidates.iter().map(|candidate| candidate.next.max(self.hold));
        batches.chain(candidates).min().unwrap_or(self.hold)
    }
}
