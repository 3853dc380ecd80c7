//! Settings and bounds of an account update.

use std::{fmt, time::Duration};

use pg_model::{ApiRequest, CardKey, RequestAccountUpdater, Secret, Url, format::MAX_CARD_KEYS};

use crate::Misuse;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Settings and bounds of an account update. The defaults of [`new`](Self::new) fit the live service, where a batch
/// takes about a day (spec 1 §6).
///
/// ```
/// use std::time::Duration;
/// use pg_proto::machine::account_update::{DoubtfulPolicy, UpdatePlan};
///
/// // A batch whose submission got no reply is submitted again after two hours, unless a callback shows that it was accepted.
/// let plan = UpdatePlan::new("account updater key")
///     .callback_url("https://shop.example/updated")
///     .doubtful(DoubtfulPolicy::SubmitAgain, Duration::from_secs(7_200));
/// ```
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

/// What happens to a batch if its acceptance by the service is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DoubtfulPolicy {
    /// The batch ends as doubtful, and its result lists its card keys.
    Report,
    /// The batch is submitted again, up to three times, and its result says so. The service may then have the batch
    /// twice, and create two new card keys for a card.
    SubmitAgain,
}

impl UpdatePlan {
    /// Creates a plan with batches of 5,000 keys, of which at most 20 are at the service at the same time.
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

    /// Sets the address that the service calls when a batch has finished. Without it, a doubtful batch cannot be
    /// resolved.
    #[must_use]
    pub fn callback_url(mut self, url: impl Into<Url>) -> Self {
        self.callback_url = Some(url.into());
        self
    }

    /// Sets the number of card keys per batch: 1 to 5,000 (spec 1 §4.8).
    #[must_use]
    pub fn batch_size(mut self, keys: usize) -> Self {
        self.batch_size = keys.clamp(1, MAX_CARD_KEYS);
        self
    }

    /// Sets the maximum number of open batches, at least 1. Their card keys are in memory: about 300 KB for a batch of
    /// 5,000.
    #[must_use]
    pub fn outstanding(mut self, batches: usize) -> Self {
        self.outstanding = batches.max(1);
        self
    }

    /// Sets what happens to a doubtful batch if no callback resolves it within `after`. Without a callback address, the
    /// machine does not wait.
    #[must_use]
    pub fn doubtful(mut self, then: DoubtfulPolicy, after: Duration) -> Self {
        (self.doubtful, self.doubt) = (then, after);
        self
    }

    /// Sets when a submitted batch is first retrieved, and the longest pause between two retrievals. Pauses begin with
    /// a quarter of the first time, and double.
    #[must_use]
    pub fn polls(mut self, first: Duration, longest_pause: Duration) -> Self {
        (self.first_poll, self.longest_pause) =
            (first.max(Duration::from_secs(1)), longest_pause.max(Duration::from_secs(1)));
        self
    }

    /// Sets how long a submitted batch may take. After that the batch is retrieved once more, and ends as overdue if it
    /// is still pending.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets how many requests in a row may fail to reach the service before everything stops. Pauses between attempts
    /// grow from a second to a minute.
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

    /// Checks the rules that the request of every batch would break.
    pub(super) fn check(&self) -> Result<(), Misuse> {
        self.request(vec![CardKey::from("any")]).check().into_result().map_err(Misuse::Invalid)
    }

    /// Returns how long to wait for a callback about a doubtful batch.
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
