//! One batch and its phase.

use std::{sync::Arc, time::Duration};

use pg_model::{CardKey, UpdatedCard};
use serde::{Deserialize, Serialize};

use super::report::{BatchEnd, BatchResult, EndedBatch};
use crate::{Refused, machine::Moment};

/// Number of retrievals refused with an unlisted code after which a batch ends.
const REFUSED_RETRIEVALS: u32 = 2;

/// An unfinished batch. Its keys are not saved: they are in the source, from `first` to `end`.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(Debug))]
pub(super) struct Batch {
    pub(super) number: u64,
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) length: usize,
    pub(super) phase: Phase,
    /// Whether a submission of the batch was ever doubtful.
    pub(super) doubted: bool,
    pub(super) submitted_again: u32,
    /// The unlisted error code and the message with which the service answered the submission in doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answered: Option<(String, String)>,
    /// The HTTP status of the reply to the last submission, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replied: Option<u16>,
    /// How often its retrieval was refused with a code that the dialect does not list and that any request may get.
    /// Earlier versions counted refused submissions, under another name.
    #[serde(default)]
    refused_retrievals: u32,
    /// When the batch was first sent.
    pub(super) asked_first: Moment,
    #[serde(skip)]
    pub(super) keys: Vec<CardKey>,
    #[serde(skip)]
    pub(super) invalid: Vec<CardKey>,
    #[serde(skip)]
    pub(super) polls: Polls,
    #[serde(skip)]
    pub(super) result: Option<Arc<BatchResult>>,
}

/// The phase of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Waits for submission.
    Ready,
    /// The submission is in flight.
    Sending { since: Moment },
    /// Whether the service received the batch is unknown.
    Doubtful { since: Moment },
    /// The service accepted it.
    Submitted { key: String, since: Moment },
    /// It ended without a result.
    Ended { key: Option<String>, how: BatchEnd },
}

/// Retrievals of a result. The counts start again after a crash.
#[derive(Default)]
#[cfg_attr(test, derive(Debug))]
pub(super) struct Polls {
    pub(super) next: Moment,
    pub(super) last: Moment,
    pub(super) made: u32,
    /// Replies saying that the service cannot read the data.
    pub(super) spoiled: u32,
    /// Retrievals without an answer after the batch's time.
    pub(super) late: u32,
}

impl Batch {
    pub(super) fn new(number: u64, (first, end): (u64, u64), keys: Vec<CardKey>, invalid: Vec<CardKey>) -> Self {
        let length = keys.len();
        let phase = if length == 0 { Phase::Ended { key: None, how: BatchEnd::Finished } } else { Phase::Ready };
        Self {
            number,
            first,
            end,
            length,
            phase,
            doubted: false,
            submitted_again: 0,
            answered: None,
            replied: None,
            refused_retrievals: 0,
            asked_first: Moment::default(),
            keys,
            invalid,
            polls: Polls::default(),
            result: None,
        }
    }

    /// Returns the service's key of the batch while the service processes it or has finished it.
    pub(super) fn submitted(&self) -> Option<&str> {
        match &self.phase {
            Phase::Submitted { key, .. } => Some(key),
            _ => None,
        }
    }

    /// Returns the service's key of the batch, if it is known.
    pub(super) fn key(&self) -> Option<&str> {
        match &self.phase {
            Phase::Submitted { key, .. } | Phase::Ended { key: Some(key), .. } => Some(key),
            _ => None,
        }
    }

    /// Shortens times that would be longer because the clock was set back.
    pub(super) fn mind_the_clock(&mut self, now: Moment, longest_pause: Duration) {
        if let Phase::Doubtful { since } | Phase::Submitted { since, .. } = &mut self.phase {
            *since = (*since).min(now);
        }
        self.polls.last = self.polls.last.min(now);
        self.polls.next = self.polls.next.min(now.after(longest_pause));
    }

    /// Returns when to retrieve the result next. It is retrieved once more after its time, since perhaps no process has
    /// retrieved it for long.
    pub(super) fn next_look(&self, over: Moment) -> Moment {
        if self.polls.last < over { self.polls.next.min(over) } else { self.polls.next }
    }

    /// Begins a doubt about a submission of this time, whose answer may have been a refusal with an unlisted code.
    pub(super) fn doubt(&mut self, since: Moment, answer: Option<&Refused>) {
        (self.phase, self.doubted) = (Phase::Doubtful { since }, true);
        self.answered = answer.map(told);
    }

    /// Ends a doubt that nothing has settled.
    pub(super) fn end_in_doubt(&mut self) {
        let how = match self.answered.take() {
            Some((code, message)) => BatchEnd::DoubtfulRefusal { code, message },
            None => BatchEnd::Doubtful,
        };
        self.end_as(how);
    }

    /// Whether a refusal that looks general concerns this batch alone: the code is unlisted, and an earlier retrieval was
    /// refused in the same way. A batch whose result is never returned must not block other batches.
    pub(super) fn is_refused_itself(&mut self, refused: &Refused) -> bool {
        self.refused_retrievals += u32::from(!refused.is_known());
        self.refused_retrievals >= REFUSED_RETRIEVALS && !refused.is_known()
    }

    pub(super) fn end_as(&mut self, how: BatchEnd) {
        let key = self.submitted().map(str::to_owned);
        self.phase = Phase::Ended { key, how };
    }

    /// Whether these entries answer for exactly the keys of the batch.
    pub(super) fn is_answered_by(&self, entries: &[UpdatedCard]) -> bool {
        let mut answered: Vec<&str> = entries.iter().map(|entry| entry.old_card_key.as_str()).collect();
        answered.sort_unstable();
        answered.dedup();
        self.sorted_keys() == answered
    }

    /// Ends the batch with the retrieved `entries` as its result.
    pub(super) fn finish(&mut self, entries: Vec<UpdatedCard>) {
        let sorted = self.sorted_keys();
        let mut answers: Vec<Option<usize>> = vec![None; sorted.len()];
        let mut kept: Vec<UpdatedCard> = Vec::with_capacity(entries.len());
        let mut strangers = 0;
        for entry in entries {
            match sorted.binary_search(&entry.old_card_key.as_str()).map(|place| &mut answers[place]) {
                Ok(answer @ None) => {
                    *answer = Some(kept.len());
                    kept.push(entry);
                }
                // The same answer again tells nothing new.
                Ok(Some(answer)) => strangers += usize::from(kept[*answer] != entry),
                Err(_) => strangers += 1,
            }
        }
        let is_answered =
            |key: &CardKey| sorted.binary_search(&key.as_str()).is_ok_and(|place| answers[place].is_some());
        let unanswered = self.keys.iter().filter(|key| !is_answered(key)).cloned().collect();
        let key = self.submitted().map(str::to_owned);
        self.result = Some(Arc::new(self.result_of(key, BatchEnd::Finished, kept, unanswered, strangers)));
    }

    /// Creates the result of a batch that ended without one.
    pub(super) fn conclude(&mut self) {
        if let (Phase::Ended { key, how }, None) = (&self.phase, &self.result) {
            let result = self.result_of(key.clone(), how.clone(), Vec::new(), self.keys.clone(), 0);
            self.result = Some(Arc::new(result));
        }
    }

    pub(super) fn ended(&self, how: BatchEnd) -> EndedBatch {
        let status = self.replied.filter(|_| how == BatchEnd::Doubtful);
        EndedBatch { number: self.number, first: self.first, end: self.end, length: self.length, how, status }
    }

    fn result_of(
        &self,
        key: Option<String>,
        how: BatchEnd,
        entries: Vec<UpdatedCard>,
        unanswered: Vec<CardKey>,
        strangers: usize,
    ) -> BatchResult {
        BatchResult {
            number: self.number,
            first: self.first,
            end: self.end,
            batch_key: key.map(Into::into),
            how,
            submitted_again: self.submitted_again,
            entries,
            unanswered,
            invalid: self.invalid.clone(),
            strangers,
        }
    }

    fn sorted_keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = self.keys.iter().map(CardKey::as_str).collect();
        keys.sort_unstable();
        keys
    }
}

/// Returns the code and the message of a refusal.
pub(super) fn told(refused: &Refused) -> (String, String) {
    (refused.code().to_string(), pg_model::mask::text(&refused.error.error_message))
}
