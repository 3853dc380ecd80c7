//! Retrieves results, and checks hints (spec 1 §4.9, §6).

use std::time::Duration;

use bytes::Bytes;
use pg_model::{AccountUpdaterBatch, ErrorCode, Remedy, RetrieveAccountUpdater};
use serde::{Deserialize, Serialize};

use super::{
    AccountUpdate, Flight,
    batch::{Batch, Phase},
    key_set::print_of,
    report::BatchEnd,
};
use crate::{
    UpdaterHint,
    machine::{
        Backoff, Moment, calendar,
        exchange::{ExchangeResult, pause, sort_reply},
    },
};

/// Minimum time between two retrievals of a batch, however many hints arrive.
const BETWEEN_LOOKS: Duration = Duration::from_secs(5);
/// Maximum number of unknown batch keys that are remembered while batches are doubtful, besides one for each open batch. After a resume,
/// finished batches are unknown too.
const SPARE_CANDIDATES: usize = 1_000;
/// Maximum number of retrievals of one of them that the service may answer without a result. If the batch is pending, the last one waits for
/// the end of the doubt.
const LOOKS: u32 = 8;
/// The number of answers without a result as which a definite refusal counts: an unknown key is retrieved three times. Most of those that
/// are refused are no batch keys of the service.
const REFUSED_LOOKS: u32 = 3;
/// The number of times that the service may refuse to return a result.
const SPOILED: u32 = 5;
/// Maximum difference between the service's clock and ours.
const CLOCKS_APART: Duration = Duration::from_secs(60 * 60);

/// A batch key from a callback that may belong to a doubtful batch. Saved, since the service calls back once.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Candidate {
    key: String,
    /// How often the service answered without a result.
    looks: u32,
    #[serde(skip)]
    pub(super) next: Moment,
    /// The pause before `next`.
    #[serde(skip)]
    pause: Duration,
    /// When the service last answered, or gave no answer for the eighth time or more.
    #[serde(skip)]
    last: Option<Moment>,
    /// Retrievals without an answer of the service.
    #[serde(skip)]
    misses: u32,
}

impl Candidate {
    /// Whether it may settle a doubt that ends at this time: it is retrieved once more after that.
    pub(super) fn may_settle(&self, over: Moment) -> bool {
        self.last.is_none_or(|last| last < over)
    }

    /// Shortens times that would be longer because the clock was set back.
    pub(super) fn mind_the_clock(&mut self, now: Moment) {
        self.next = self.next.min(now.after(self.pause));
        self.last = self.last.map(|last| last.min(now));
    }

    fn wait(&mut self, pause: Duration, now: Moment) {
        (self.pause, self.next) = (pause, now.after(pause));
    }
}

impl AccountUpdate {
    /// Handles a callback. Its content is not trusted: only its batch key is used, as a candidate to retrieve.
    pub(super) fn hinted(&mut self, hint: &UpdaterHint, now: Moment) {
        let key = hint.claimed().batch_key.as_str();
        if let Some(batch) = self.state.open.iter_mut().find(|batch| batch.submitted() == Some(key)) {
            let soon = batch.polls.last.after(BETWEEN_LOOKS).max(now);
            batch.polls.next = batch.polls.next.min(soon);
            return;
        }
        let known =
            self.state.candidates.iter().any(|candidate| candidate.key == key) || self.over.contains(print_of(key));
        let right = key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        // Hints must not keep a candidate alive after its time.
        let doubt = self.plan.doubt();
        let over = |batch: &Batch| matches!(batch.phase, Phase::Doubtful { since } if since.after(doubt) <= now);
        let wanted = self.state.open.iter().any(|batch| in_doubt(batch) && !over(batch));
        let places = self.state.open.len() + SPARE_CANDIDATES;
        if !known && right && wanted && self.state.candidates.len() < places {
            let key = key.to_owned();
            let pause = Duration::ZERO;
            self.state.candidates.push(Candidate { key, looks: 0, next: now, pause, last: None, misses: 0 });
        }
    }

    /// Returns the request for a result that is due.
    pub(super) fn retrieve_due(&mut self, now: Moment) -> Option<http::Request<Bytes>> {
        let due = |batch: &&mut Batch| batch.submitted().is_some() && batch.polls.next <= now;
        let batch = self.state.open.iter_mut().filter(due).min_by_key(|batch| batch.polls.next)?;
        let request = self.account.request_unchecked(&RetrieveAccountUpdater::new(batch.submitted()?)).ok()?;
        batch.polls.last = now;
        self.flight = Some(Flight::Retrieve(batch.number));
        Some(request)
    }

    /// Returns the request that checks an unknown batch key.
    pub(super) fn probe_due(&mut self, now: Moment) -> Option<http::Request<Bytes>> {
        let due = self.state.candidates.iter().filter(|candidate| candidate.next <= now);
        // A new key is not kept waiting by those that were retrieved in vain.
        let candidate = due.min_by_key(|candidate| candidate.looks)?;
        let request = self.account.request_unchecked(&RetrieveAccountUpdater::new(candidate.key.as_str())).ok()?;
        self.flight = Some(Flight::Probe(candidate.key.clone()));
        Some(request)
    }

    pub(super) fn sort_batch(&self, reply: http::Response<Bytes>) -> ExchangeResult<AccountUpdaterBatch> {
        sort_reply::<RetrieveAccountUpdater>(&self.account, reply).without_done()
    }

    /// Handles the retrieval of a result.
    pub(super) fn retrieved(
        &mut self,
        number: u64,
        heard: ExchangeResult<AccountUpdaterBatch>,
        now: Moment,
        random: u64,
    ) {
        let (first, longest) = (self.plan.first_poll / 4, self.plan.longest_pause);
        let (patience, attempts) = (self.plan.patience, self.plan.attempts);
        let Some(batch) = self.batch(number) else { return };
        let later = pause(first, longest, batch.polls.made, now, random);
        let late = matches!(batch.phase, Phase::Submitted { since, .. } if since.after(patience) <= now);
        match heard {
            ExchangeResult::Answer(answer) if batch.submitted() == Some(answer.batch_key.as_str()) => {
                batch.finish(answer.card_key_details);
                self.reached();
            }
            // It is not repeated: too many refused requests would lock the address out.
            ExchangeResult::Shut(refused) if batch.is_refused_itself(&refused) => {
                batch.end_as(BatchEnd::Failed { code: refused.code().to_string() });
                self.reached();
            }
            ExchangeResult::Refused(refused) => {
                let code = refused.code();
                let (is_pending, is_doubtful) = (*code == ErrorCode::BATCH_PENDING, !refused.is_known());
                batch.polls.spoiled += u32::from(!is_pending && !is_doubtful);
                if is_pending && late {
                    batch.end_as(BatchEnd::Overdue);
                } else if is_doubtful && late || batch.polls.spoiled > SPOILED {
                    batch.end_as(BatchEnd::Failed { code: code.to_string() });
                }
                batch.polls.made += 1;
                batch.polls.next = later;
                self.reached();
            }
            // The result of another batch is not an answer.
            ExchangeResult::Answer(_) | ExchangeResult::InDoubt => {
                batch.polls.made += 1;
                batch.polls.next = later;
                batch.polls.late += u32::from(late);
                if batch.polls.late >= attempts.max(1) {
                    batch.end_as(BatchEnd::Overdue);
                }
                self.brought_nothing(ExchangeResult::<()>::InDoubt, now, random);
            }
            nothing => self.brought_nothing(nothing, now, random),
        }
    }

    /// Handles the retrieval of an unknown batch key.
    pub(super) fn probed(&mut self, key: &str, heard: ExchangeResult<AccountUpdaterBatch>, now: Moment, random: u64) {
        match heard {
            ExchangeResult::Answer(answer) => {
                self.drop_candidate(key);
                if answer.batch_key == key {
                    self.settle(answer, now);
                }
                self.reached();
            }
            // The service has a batch of this key.
            ExchangeResult::Refused(refused) if *refused.code() == ErrorCode::BATCH_PENDING => {
                self.look_until_the_doubt_ends(key, now, random);
                self.reached();
            }
            // Each refusal may pass: a server of the service may not know the key yet.
            ExchangeResult::Refused(refused) => {
                let may_come_from_a_proxy = !refused.is_known() || *refused.code() == ErrorCode::NO_DATA_SENT;
                let passes = may_come_from_a_proxy || refused.remedy() == Remedy::Retry;
                self.look_later(key, if passes { 1 } else { REFUSED_LOOKS }, now, random);
                self.reached();
            }
            // Counted in the saved state, so that no key stops every resumed update.
            nothing => {
                self.look_later(key, u32::from(matches!(nothing, ExchangeResult::Shut(_))), now, random);
                self.brought_nothing(nothing, now, random);
            }
        }
    }

    pub(super) fn forget_candidates(&mut self) {
        if !self.state.open.iter().any(in_doubt) {
            self.state.candidates.clear();
        }
    }

    /// Matches an answer to the doubtful batch with exactly these keys. An answer that the service created earlier, or
    /// at an unknown time, is only counted.
    fn settle(&mut self, answer: AccountUpdaterBatch, now: Moment) {
        let fits = |batch: &&mut Batch| in_doubt(batch) && batch.is_answered_by(&answer.card_key_details);
        let Some(batch) = self.state.open.iter_mut().find(fits) else { return };
        let made = calendar::moment(&answer.created_on);
        if made.is_none_or(|made| made.after(CLOCKS_APART) < batch.asked_first) {
            self.state.counts.misdated_answers += 1;
            return;
        }
        let (number, counted) = (batch.number, batch.submitted().is_some());
        batch.phase = Phase::Submitted { key: answer.batch_key.to_string(), since: now };
        batch.finish(answer.card_key_details);
        if !counted {
            self.count_submitted(number);
        }
        self.forget_candidates();
    }

    fn drop_candidate(&mut self, key: &str) {
        self.state.candidates.retain(|candidate| candidate.key != key);
    }

    /// Retrieves the key of a pending batch again later. The pauses are four times as long each time, and the last one ends with the
    /// doubt.
    fn look_until_the_doubt_ends(&mut self, key: &str, now: Moment, random: u64) {
        let doubt = self.plan.doubt();
        let end = |batch: &Batch| match batch.phase {
            Phase::Doubtful { since } => Some(since.after(doubt)).filter(|end| *end > now),
            _ => None,
        };
        let Some(end) = self.state.open.iter().filter_map(end).min() else {
            return self.look_later(key, 1, now, random);
        };
        let Some(candidate) = self.state.candidates.iter_mut().find(|candidate| candidate.key == key) else { return };
        candidate.looks = (candidate.looks + 1).min(LOOKS - 1);
        candidate.last = Some(now);
        let rest = end.since(now);
        let pauses = Backoff { first: BETWEEN_LOOKS, longest: rest };
        let is_last = candidate.looks == LOOKS - 1;
        candidate.wait(if is_last { rest } else { pauses.next(2 * candidate.looks, random) }, now);
    }

    /// Retrieves an unknown batch key again later. A callback came once, so its key is only dropped if the service has answered. An
    /// answer counts as this number of looks; 0 is no answer.
    fn look_later(&mut self, key: &str, looks: u32, now: Moment, random: u64) {
        let longest = self.plan.longest_pause;
        let Some(candidate) = self.state.candidates.iter_mut().find(|candidate| candidate.key == key) else { return };
        candidate.looks += looks;
        candidate.misses += u32::from(looks == 0);
        if looks > 0 || candidate.misses >= LOOKS {
            candidate.last = Some(now);
        }
        let pauses = Backoff { first: BETWEEN_LOOKS, longest };
        candidate.wait(pauses.next(candidate.looks + candidate.misses, random), now);
        if candidate.looks >= LOOKS {
            self.drop_candidate(key);
        }
    }
}

/// Whether the service may have a copy of a batch whose key is unknown.
fn in_doubt(batch: &Batch) -> bool {
    batch.doubted && batch.result.is_none() && !matches!(batch.phase, Phase::Ended { .. })
}
