//! What an account update is to do, and its bounds.

use std::{fmt, time::Duration};

use pg_model::{ApiRequest, CardKey, RequestAccountUpdater, Secret, Url, format::MAX_CARD_KEYS};

use crate::Misuse;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// What an account update is to do, and its bounds. `new` has what suits the live service, where a batch takes about a day
/// (spec 1 §6).
#[derive(Clone)]
pub struct UpdatePlan {
    pub(super) updater_key: Secret,
    pub(super) callback_url: Option<Url>,
    pub(super) batch_size: usize,
    pub(super) outstanding: usize,
    pub(super) doubtful: DoubtfulPolicy,
    pub(super) doubt: Duration,
    pub(super) first_poll: Duration,
    pub(super) longest_pause: Duration,
    pub(super) patience: Duration,
    pub(super) attempts: u32,
}

/// What becomes of a batch that the service may or may not have taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DoubtfulPolicy {
    /// It ends as doubtful and names its card keys.
    Report,
    /// It is submitted again, up to three times, and its result says so. The service may then have it twice, and make two
    /// new card keys for a card.
    SubmitAgain,
}

impl UpdatePlan {
    /// Batches of 5,000, at most 20 of them at the service at once.
    pub fn new(updater_key: impl Into<Secret>) -> Self {
        Self {
            updater_key: updater_key.into(),
            callback_url: None,
            batch_size: MAX_CARD_KEYS,
            outstanding: 20,
            doubtful: DoubtfulPolicy::Report,
            doubt: 26 * HOUR,
            first_poll: 2 * MINUTE,
            longest_pause: 30 * MINUTE,
            patience: 72 * HOUR,
            attempts: 30,
        }
    }

    /// Where the service tells that a batch has finished. Without it nothing can settle a doubtful batch.
    #[must_use]
    pub fn callback_url(mut self, url: impl Into<Url>) -> Self {
        self.callback_url = Some(url.into());
        self
    }

    /// Card keys of one batch: 1 to 5,000 (spec 1 §4.8).
    #[must_use]
    pub fn batch_size(mut self, keys: usize) -> Self {
        self.batch_size = keys.clamp(1, MAX_CARD_KEYS);
        self
    }

    /// Batches that are not over at once, at least 1. Their card keys are in memory, some 300 KB for a batch of 5,000.
    #[must_use]
    pub fn outstanding(mut self, batches: usize) -> Self {
        self.outstanding = batches.max(1);
        self
    }

    /// What becomes of a doubtful batch when no callback has settled it within that time. Without a callback address
    /// the time is not waited for.
    #[must_use]
    pub fn doubtful(mut self, then: DoubtfulPolicy, after: Duration) -> Self {
        (self.doubtful, self.doubt) = (then, after);
        self
    }

    /// When a batch is looked for first after it was submitted, and the longest pause between two looks. Pauses begin
    /// with a quarter of the first time and double.
    #[must_use]
    pub fn polls(mut self, first: Duration, longest_pause: Duration) -> Self {
        (self.first_poll, self.longest_pause) =
            (first.max(Duration::from_secs(1)), longest_pause.max(Duration::from_secs(1)));
        self
    }

    /// How long a submitted batch may take. After that it is looked for once more, and ends as overdue if it is still
    /// pending.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How often in a row the service may be out of reach before everything stops. Pauses between attempts grow from a
    /// second to a minute.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    pub(super) fn request(&self, card_keys: Vec<CardKey>) -> RequestAccountUpdater {
        let mut request = RequestAccountUpdater::new(self.updater_key.clone(), card_keys);
        request.callback_url = self.callback_url.clone();
        request
    }

    /// The rules that every batch's request would break.
    pub(super) fn check(&self) -> Result<(), Misuse> {
        self.request(vec![CardKey::from("any")]).check().into_result().map_err(Misuse::Invalid)
    }

    /// How long a doubtful batch is waited for.
    pub(super) fn doubt(&self) -> Duration {
        if self.callback_url.is_some() { self.doubt } else { Duration::ZERO }
    }
}

impl fmt::Debug for UpdatePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("UpdatePlan");
        shown.field("batch_size", &self.batch_size).field("outstanding", &self.outstanding);
        shown.field("doubtful", &self.doubtful).finish_non_exhaustive()
    }
}
