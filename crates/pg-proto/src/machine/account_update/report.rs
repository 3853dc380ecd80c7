//! Results of an account update: its progress, each batch, and the summary.

use pg_model::{BatchKey, CardKey, UpdatedCard};
use serde::{Deserialize, Serialize};

use crate::Refused;

/// Progress of an account update. All fields count card keys, except `open_batches`, `doubtful_batches`,
/// `misdated_answers` and `strangers`. A key counts as finished once the owner has taken the result of its batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Keys that were read from the source.
    pub read: u64,
    /// Of these, keys that had been read before.
    pub duplicates: u64,
    /// Of these, invalid card keys: empty, longer than 255 bytes, or with a comma or a control character.
    pub invalid: u64,
    /// Keys in batches that the service accepted.
    pub submitted: u64,
    /// Keys in unfinished batches: waiting, at the service, doubtful, or not yet taken by the owner.
    pub pending: u64,
    /// Keys for which the service has an answer.
    pub finished: u64,
    /// Of these, keys with a new card.
    pub updated: u64,
    /// Keys of finished batches for which the service has no answer.
    pub unanswered: u64,
    /// Keys of batches that the service refused.
    pub refused: u64,
    /// Keys of batches that the service may or may not have accepted.
    pub doubtful: u64,
    /// Keys of batches that the service accepted but whose result could not be retrieved.
    pub failed: u64,
    /// Unfinished batches.
    pub open_batches: usize,
    /// Of these, batches that the service may or may not have accepted. Only a callback can resolve them.
    #[serde(default)]
    pub doubtful_batches: usize,
    /// Results with exactly the keys of a doubtful batch that did not settle the batch, because their `createdOn` is
    /// unreadable, or more than an hour before the submission by this machine's clock.
    #[serde(default)]
    pub misdated_answers: usize,
    /// Entries of results that were left out, see [`BatchResult::strangers`].
    #[serde(default)]
    pub strangers: u64,
    /// Whether the source was read to its end.
    pub source_ended: bool,
}

/// The result of a batch. It is offered until the owner has taken it. After a crash it may be offered again, with the
/// same `number`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchResult {
    /// The number of the batch, from 0.
    pub number: u64,
    /// The place of its first key in the source, from 0.
    pub first: u64,
    /// The place after its last key.
    pub end: u64,
    /// The service's key of the batch, if it is known.
    pub batch_key: Option<BatchKey>,
    /// How it ended.
    pub how: BatchEnd,
    /// How often the batch was submitted again after doubts. The service may have this number of additional copies.
    pub submitted_again: u32,
    /// The answers of the service: the old card key, the response code and, if there is one, the new card.
    pub entries: Vec<UpdatedCard>,
    /// Keys of this batch without an answer: all of them if the batch did not finish.
    pub unanswered: Vec<CardKey>,
    /// Texts in this part of the source that are invalid card keys. They were not sent.
    pub invalid: Vec<CardKey>,
    /// Entries that were left out, because they answer for a key that is not in this batch, or for a key a second time.
    pub strangers: usize,
}

impl BatchResult {
    /// Creates a result without keys, for tests.
    #[must_use]
    pub const fn new(number: u64, how: BatchEnd) -> Self {
        Self {
            number,
            first: 0,
            end: 0,
            batch_key: None,
            how,
            submitted_again: 0,
            entries: Vec::new(),
            unanswered: Vec::new(),
            invalid: Vec::new(),
            strangers: 0,
        }
    }
}

/// How a batch ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BatchEnd {
    /// Its result was retrieved.
    Finished,
    /// The service refused the whole batch with this code, which the documents or the dialect list. One unknown card key is
    /// enough.
    Refused {
        /// The error code.
        code: String,
        /// The message of the service.
        message: String,
    },
    /// Whether the service accepted the batch is unknown.
    Doubtful,
    /// The same, after an answer with an error code that neither the documents nor the dialect list: it may mean that the batch
    /// was accepted before, or come from a proxy. An `[[error]]` entry of the dialect makes it a refusal.
    DoubtfulRefusal {
        /// The error code.
        code: String,
        /// The message of the answer.
        message: String,
    },
    /// The service accepted the batch, but refuses to return the result: six times with codes that the documents or the dialect list,
    /// such as 181 and 183; twice with HTTP 401 and an unlisted code; or, when the time of the batch was over, with another unlisted code,
    /// which may come from a proxy.
    Failed {
        /// The error code.
        code: String,
    },
    /// The service accepted the batch, but had no result when the time was over, not even at a last retrieval.
    Overdue,
}

/// A batch that ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EndedBatch {
    /// The number of the batch, from 0.
    pub number: u64,
    /// The place of its first key in the source, from 0.
    pub first: u64,
    /// The place after its last key.
    pub end: u64,
    /// Number of its card keys.
    pub length: usize,
    /// How it ended.
    pub how: BatchEnd,
    /// Of a batch that ended as [`BatchEnd::Doubtful`], the HTTP status of the reply to its submission, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// How an account update ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Whether it was completed.
    pub end: UpdateEnd,
    /// The counts.
    pub progress: Progress,
    /// The batches that did not finish. Their keys are in their results.
    pub unfinished: Vec<EndedBatch>,
    /// The last reply, if it did not give what was requested. `None` if there was no reply.
    pub useless: Option<UselessReply>,
}

/// A reply that left open what was requested, for example a page of a proxy, a failure of the service (HTTP 500), or the result of
/// another batch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UselessReply {
    /// Its HTTP status.
    pub status: u16,
    /// The number of the batch that the request was about, from 0.
    pub batch: u64,
    /// The service's key of that batch, if the request was for its result.
    pub batch_key: Option<BatchKey>,
}

/// Whether an account update was completed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateEnd {
    /// Every key was read, and the owner took the result of every batch.
    Complete,
    /// The service refuses everything: invalid credentials (102, 105, 123), no permission (106), an invalid updater key
    /// (180) or callback address (184). Save the machine once more; resume it after correcting the cause.
    Refused(Refused),
    /// The driver holds requests back at present. Save the machine once more; resume it later.
    HeldBack,
    /// Another machine, or one of an earlier run, works on the update: the stored state is not that of this machine. Do not
    /// save this machine; resume the stored state.
    Superseded,
    /// The service was unreachable too often in a row, or its replies were of no use ([`Summary::useless`]). Save the machine once
    /// more; resume it later.
    Unreachable,
    /// The beginning of the source differs from the keys that were read before the machine was saved. Nothing was sent.
    SourceChanged,
}
