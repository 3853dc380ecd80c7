//! What an account update tells: how far it is, what became of a batch, and how it ended.

use pg_model::{BatchKey, CardKey, UpdatedCard};
use serde::{Deserialize, Serialize};

use crate::Refused;

/// How far an account update is. All but `open_batches` and `doubtful_batches` counts card keys; a key is counted as over once the result of
/// its batch was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Keys that were read from the source.
    pub read: u64,
    /// Of these, keys that had been read before.
    pub duplicates: u64,
    /// Of these, texts that are no card keys: empty, longer than 255 bytes, or with a comma or a control character.
    pub invalid: u64,
    /// Keys in batches that the service has taken.
    pub submitted: u64,
    /// Keys in batches that are not over: gathered, at the service, in doubt, or not taken by the owner yet.
    pub pending: u64,
    /// Keys that the service answered for.
    pub finished: u64,
    /// Of these, keys with a new card.
    pub updated: u64,
    /// Keys of finished batches that the service did not answer for.
    pub unanswered: u64,
    /// Keys of batches that the service refused.
    pub refused: u64,
    /// Keys of batches that the service may or may not have taken.
    pub doubtful: u64,
    /// Keys of batches that the service took, and whose result could not be had.
    pub failed: u64,
    /// Batches that are not over.
    pub open_batches: usize,
    /// Of these, batches that the service may or may not have taken, and which only a callback can settle.
    #[serde(default)]
    pub doubtful_batches: usize,
    /// Whether the source was read to its end.
    pub source_ended: bool,
}

/// What became of a batch. It is offered until it was taken, and after a crash perhaps once more: a repeat has the same
/// `number`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchResult {
    /// Which batch, from 0.
    pub number: u64,
    /// The place of its first key in the source, from 0.
    pub first: u64,
    /// The place after that of its last key.
    pub end: u64,
    /// The service's key of it, if it is known.
    pub batch_key: Option<BatchKey>,
    /// How it ended.
    pub how: BatchEnd,
    /// How often it was submitted again after doubts: the service may have it that many times more.
    pub submitted_again: u32,
    /// What the service answered, each with the old card key, the response code and, if there is one, the new card.
    pub entries: Vec<UpdatedCard>,
    /// Keys of this batch that it did not answer for: all of them when the batch did not finish.
    pub unanswered: Vec<CardKey>,
    /// Texts in this stretch of the source that are no card keys, and were not sent.
    pub invalid: Vec<CardKey>,
    /// Entries that were left out because they answer for no key of this batch, or for one twice.
    pub strangers: usize,
}

impl BatchResult {
    /// A result without a key that ended so, for tests.
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
    /// The service refused it, with that code; nothing of it is processed. A single unknown card key suffices.
    Refused {
        /// The error code.
        code: String,
        /// What the service said.
        message: String,
    },
    /// It is unknown whether the service took it.
    Doubtful,
    /// The service took it and refuses the result: 183, or 181 again and again.
    Failed {
        /// The error code.
        code: String,
    },
    /// The service took it and had no result when the patience was over; it was asked once more then.
    Overdue,
}

/// A batch that ended and did not finish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EndedBatch {
    /// Which batch, from 0.
    pub number: u64,
    /// The place of its first key in the source, from 0.
    pub first: u64,
    /// The place after that of its last key.
    pub end: u64,
    /// Its card keys.
    pub length: usize,
    /// How it ended.
    pub how: BatchEnd,
}

/// How an account update ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Whether it came to its end.
    pub end: UpdateEnd,
    /// All counts.
    pub progress: Progress,
    /// The batches that did not finish. Their keys went out with their results.
    pub unfinished: Vec<EndedBatch>,
}

/// Whether an account update came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateEnd {
    /// Every key was read, and the result of every batch was taken.
    Complete,
    /// The service refuses everything: wrong credentials (102, 105, 123), no permission (106), a wrong updater key (180)
    /// or callback address (184). Store the machine once more; it can go on when that was mended.
    Refused(Refused),
    /// Nothing may be sent at the moment. Store the machine once more; it can go on later.
    HeldBack,
    /// The service was out of reach too often in a row. Store the machine once more; it can go on later.
    Unreachable,
    /// The source does not begin with the keys that were read before the machine was stored. Nothing was sent.
    SourceChanged,
}
