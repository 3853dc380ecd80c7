//! The contract of a store.

use std::time::Duration;

use crate::{IntentEnd, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow, IntentStatus, NewIntent};

/// A year: the bound of every duration that it is given, so that no arithmetic overflows.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// So many events of one intent may wait. Callbacks are not signed: forged ones must not fill the database.
pub const EVENTS: i32 = 64;

/// Where intents are stored. [`conformance`](crate::conformance) is the test of this contract: run it against a store of your own.
///
/// Each method is one atomic change, durable when its future ends well. Time is the **store's**: a lease ends by the clock
/// of the database, and no worker's clock matters. What ends with [`StoreError::Unavailable`] may have happened or not; every
/// method may be called again.
///
/// The heart of it is the fencing number. A claim raises it; [`save`](Self::save), [`renew`](Self::renew),
/// [`release`](Self::release) and [`end`](Self::end) change a row only if it still has the number and the owner of their
/// [`IntentLease`], and say [`StoreError::Lost`] otherwise. So a worker that slept past its lease, and whose intent was claimed
/// meanwhile, saves nothing; and since it saves before it sends, it sends nothing.
pub trait IntentStore: Send + Sync + 'static {
    /// A name that no worker had before: the given one and a number.
    fn enlist(&self, name: &str) -> impl Future<Output = Result<String, StoreError>> + Send;

    /// Stores a new intent with fencing number 1, and changes nothing if there is one under its key.
    fn begin(&self, new: NewIntent) -> impl Future<Output = Result<Begun, StoreError>> + Send;

    /// Stores the machine's state before a request, and extends the lease to `lease` from now.
    fn save(
        &self,
        hold: &IntentLease,
        state: &str,
        lease: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Extends the lease to `lease` from now.
    fn renew(&self, hold: &IntentLease, lease: Duration) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Gives the intent up: any worker may claim it after `wake`.
    fn release(&self, hold: &IntentLease, wake: Duration) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores how it ended. An outcome that differs from the one before raises `event`. An intent that has
    /// [`Ended`](IntentStatus::Ended) keeps no events.
    fn end(&self, hold: &IntentLease, end: IntentEnd) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores the machine's state and what it waits for, drops the events that it took, and gives the intent up until `wake`; at
    /// once if there are later events.
    fn rest(&self, hold: &IntentLease, rest: IntentRest) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores an event for an open or unknown intent under the next number, also while a worker owns it; one without an owner is due at once.
    /// `false` if there is no such intent, it has ended or is parked, or [`EVENTS`](crate::EVENTS) of its events wait already.
    fn deliver(&self, key: &IntentKey, event: &str) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// The events of an intent after this number, the first delivered first.
    fn events(
        &self,
        key: &IntentKey,
        after: i32,
    ) -> impl Future<Output = Result<Vec<(i32, String)>, StoreError>> + Send;

    /// Takes intents of an account that are due, the longest due first, at most so many, each under a new fencing number. Two
    /// workers that claim at once never take the same one. Intents of other kinds, and of later versions, are left alone.
    /// The version of a claimed intent becomes the one that the claimer writes.
    fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> impl Future<Output = Result<Vec<IntentRow>, StoreError>> + Send;

    /// Takes one intent of these kinds if it is open or unknown and is due, has no owner, or is the claimer's own. In every case it returns the
    /// row as it is then: whether it was taken shows in its owner and fencing number. `None` if there is none.
    fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> impl Future<Output = Result<Option<Claimed>, StoreError>> + Send;

    /// Reads an intent.
    fn find(&self, key: &IntentKey) -> impl Future<Output = Result<Option<IntentRow>, StoreError>> + Send;

    /// Reads intents, those that changed last first.
    fn list(&self, filter: IntentFilter) -> impl Future<Output = Result<Vec<IntentRow>, StoreError>> + Send;

    /// Carries out an operator's directive, even if a worker owns the intent: raises the fencing number, so the owner loses
    /// the intent. `false` if the intent has ended or does not exist.
    fn direct(&self, key: &IntentKey, directive: Directive) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// The outbox: intents with an outcome that the application has not acknowledged, at most so many. They are not handed out
    /// again for `visibility`.
    fn untold(
        &self,
        account: &str,
        most: u32,
        visibility: Duration,
    ) -> impl Future<Output = Result<Vec<IntentRow>, StoreError>> + Send;

    /// The application has acknowledged the outcome with this number.
    fn told(&self, key: &IntentKey, event: i32) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends when something may have changed. A hint: a store that knows nothing never ends, and callers ask again after a while.
    fn changed(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Takes or keeps shares of an account's limits: `total` shares exist, a worker gets at most `most`. A share that was taken
    /// from a worker whose lease had ended is not used before `quarantine` is over. If `most` is 0, no share is taken and the leases of
    /// the worker's shares end after `lease`. Returns how many may be used now.
    fn shares(&self, wish: ShareWish<'_>) -> impl Future<Output = Result<u32, StoreError>> + Send;

    /// Says why nothing may be sent for this account by any process, or, with `None`, that it may be again.
    fn stop(&self, account: &str, reason: Option<&str>) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Why nothing may be sent for this account.
    fn stopped(&self, account: &str) -> impl Future<Output = Result<Option<String>, StoreError>> + Send;
}

/// A store whose texts can be replaced, as a change of the key needs it (`SealedStore::reseal`).
/// [`conformance::check_rewriting`](crate::conformance::check_rewriting) is the test of this contract.
pub trait RewritableStore: IntentStore {
    /// Reads the intents of all accounts in an order of their keys that does not change: those after `after`, at most so many.
    fn scan(
        &self,
        after: Option<&IntentKey>,
        most: u32,
    ) -> impl Future<Output = Result<Vec<IntentRow>, StoreError>> + Send;

    /// Replaces kind, digest, request, state, question and outcome of an intent, and the texts of these events of it, if its texts are
    /// those of `old` still; `false` if they are not. Owner, lease, fencing number, counts, times and history stay as they are.
    fn rewrite(
        &self,
        old: &IntentRow,
        new: &IntentRow,
        events: &[(i32, String)],
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// What a worker wants of an account's limits.
#[derive(Clone, Copy, Debug)]
pub struct ShareWish<'a> {
    /// The account.
    pub account: &'a str,
    /// The worker.
    pub owner: &'a str,
    /// Into how many shares the limits are divided.
    pub total: u32,
    /// How many the worker wants.
    pub most: u32,
    /// For how long it keeps them without asking again.
    pub lease: Duration,
    /// How long a share rests that was taken from another worker.
    pub quarantine: Duration,
}

/// What became of a new intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It was stored.
    New,
    /// There is one under its key.
    Existing(Box<IntentRow>),
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// It was taken.
    Taken(Box<IntentRow>),
    /// Another worker has it, or nothing is left to do.
    Not(Box<IntentRow>),
}

/// Which intents are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentFilter {
    /// Of this account only.
    pub account: Option<String>,
    /// Under this reference only.
    pub reference: Option<String>,
    /// With one of these statuses.
    pub statuses: Vec<IntentStatus>,
    /// Claimed at least so often.
    pub claims: i32,
    /// At most so many.
    pub most: u32,
}

/// What an operator says of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// No worker touches it.
    Park,
    /// A worker takes it at once: it is looked up, and goes on.
    Reconcile,
}

/// Why a store did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The intent was claimed by another worker, has ended, or was parked. Nothing was stored.
    #[error("the lease of this intent was lost: another worker has it, or it has ended")]
    Lost,
    /// The database cannot be reached, has failed, or cannot be written to. The change may have been made or not.
    #[error("the database of intents is not available: {0}")]
    Unavailable(String),
    /// The database holds something else.
    #[error("the database holds no store of intents of this program: {0}")]
    Foreign(String),
    /// It was made by a later version.
    #[error(
        "the store of intents has schema version {found}, this program knows versions up to {known}: update the program"
    )]
    Newer {
        /// Its version.
        found: i32,
        /// The newest that this program knows.
        known: i32,
    },
    /// It was made by an earlier version, or not at all, and the migrations were not run.
    #[error(
        "the store of intents has schema version {found} and needs {known}: run the migrations (PostgresStore::migrate)"
    )]
    Older {
        /// Its version; 0 if there is none.
        found: i32,
        /// The one that this program needs.
        known: i32,
    },
    /// What is stored cannot be read.
    #[error("an intent cannot be read: {0}")]
    Unreadable(String),
    /// The intent is sealed with a key that this process was not given, was altered, or was copied from another row. Nothing is sent
    /// for it.
    #[error("the intent {reference} cannot be opened: {why}")]
    Sealed {
        /// The reference.
        reference: String,
        /// Why.
        why: String,
    },
}

impl StoreError {
    /// Whether asking again brings the same.
    pub(crate) const fn is_lasting(&self) -> bool {
        !matches!(self, Self::Lost | Self::Unavailable(_))
    }
}

impl IntentRow {
    /// # Errors
    /// [`StoreError::Sealed`] if its texts are sealed, and the store was given no key.
    pub(crate) fn is_readable(&self) -> Result<(), StoreError> {
        let Some(key) = self.sealed_with() else { return Ok(()) };
        let why = format!("it is sealed with the key {key}, which was not given");
        Err(StoreError::Sealed { reference: self.key.reference.clone(), why })
    }
}

impl Default for IntentFilter {
    fn default() -> Self {
        Self { account: None, reference: None, statuses: IntentStatus::ALL.to_vec(), claims: 0, most: 100 }
    }
}

/// Milliseconds, bounded.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.min(LONGEST).as_millis()).unwrap_or(i64::MAX)
}
