//! The contract of a store.

use std::time::Duration;

use crate::{IntentEnd, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow, IntentStatus, NewIntent};

/// One year: the maximum for every duration in a call, so that no arithmetic overflows.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The maximum number of waiting events of one intent. Callbacks are not signed, so forged ones must neither fill the database nor
/// keep genuine ones out: if more arrive, the older and the newer half stay, and those in the middle are deleted.
pub const EVENTS: i32 = 64;

/// A store of intents. [`conformance`](crate::conformance) tests this contract: run it against a store of your own. The guide
/// `docs/guide/own-store.md` says what goes wrong otherwise, with a store in a file as its example.
///
/// Each method is one atomic change, which is durable when its future returns `Ok`. Time is the **store's**: leases end by the
/// clock of the database, and the clocks of workers do not matter. A call that returns [`StoreError::Unavailable`] may or may not
/// have changed something; every method may be called again. If the first call has changed something, another
/// [`begin`](Self::begin) returns [`Begun::Existing`], and another [`release`](Self::release), [`rest`](Self::rest) or
/// [`end`](Self::end) returns [`StoreError::Lost`]. A future may be dropped before it returns, which is like an unavailable store.
///
/// Fencing numbers keep workers apart. A claim raises the number; [`save`](Self::save), [`renew`](Self::renew),
/// [`release`](Self::release), [`rest`](Self::rest) and [`end`](Self::end) change a row only if it still has the number and the owner
/// of their [`IntentLease`], and return [`StoreError::Lost`] otherwise. So a worker that slept past its lease, and whose intent was
/// claimed meanwhile, can save nothing. Since it saves before it sends, it sends nothing. A lease that has ended permits changes
/// until another worker claims the intent.
///
/// Accounts and references are compared byte by byte, and texts of any length are returned unchanged.
pub trait IntentStore: Send + Sync + 'static {
    /// Returns a name that no worker had before: the given name with a number.
    fn enlist(&self, name: &str) -> impl Future<Output = Result<String, StoreError>> + Send;

    /// Stores a new intent with fencing number 1. Changes nothing if its key is in use. Of several calls at the same time, one stores the
    /// intent, and the others return it. An intent without an owner is due at once, whatever its lease.
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

    /// Gives the intent up in good order: any worker may claim it after `wake`. It lowers `claims` by one, but not below zero, since the
    /// worker has not failed.
    fn release(&self, hold: &IntentLease, wake: Duration) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores its outcome, and takes the owner away. An outcome that differs from the previous one raises `event`, and
    /// [`untold`](Self::untold) returns it at once, even if it has just returned the previous one. An intent that has
    /// [`Ended`](IntentStatus::Ended) keeps no events; an unknown intent keeps those that its machine did not take. An
    /// unknown intent is due at its next planned lookup, or after the quiet time if events wait. `claims` starts again
    /// at zero, except for a parked intent, which is never due.
    fn end(&self, hold: &IntentLease, end: IntentEnd) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores the machine's state and its question, if it asks one, deletes the events that the machine has processed, and releases the
    /// intent until `wake`, or for an immediate claim if there are later events. A planned lookup keeps its time. `claims` starts again at
    /// zero. The intent is open again, also if workers had parked it and an event made it unknown.
    fn rest(&self, hold: &IntentLease, rest: IntentRest) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Stores an event under the next number. The intent may have an owner, but must not have ended. An intent without an owner
    /// becomes due at once, or when its quiet time is over. An intent that workers have parked becomes unknown, and its `claims` fall
    /// by two, so that the second claim parks it again if they fail again. An intent that an operator has parked has no claims, and stays
    /// parked. If the same event is stored under an
    /// earlier number, that number is deleted; of more than [`EVENTS`](crate::EVENTS) events, those in the middle are deleted.
    /// Returns `false` if there is no such intent or it has ended.
    fn deliver(&self, key: &IntentKey, event: &str) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Returns the events of an intent after this number, oldest first.
    fn events(
        &self,
        key: &IntentKey,
        after: i32,
    ) -> impl Future<Output = Result<Vec<(i32, String)>, StoreError>> + Send;

    /// Returns the same to the owner of a lease. Events that it does not return were processed, so they must be at least as new as the lease:
    /// if the call may reach a server that does not have the lease's claim yet, it returns [`StoreError::Unavailable`] instead.
    ///
    /// The default is right only if every read sees every acknowledged change, as in a database on one server. Otherwise implement it, for
    /// example by reading the row's fencing number in the same statement. A store that wraps another one passes the call on.
    fn events_of(
        &self,
        hold: &IntentLease,
        after: i32,
    ) -> impl Future<Output = Result<Vec<(i32, String)>, StoreError>> + Send {
        self.events(&hold.key, after)
    }

    /// Claims due intents of an account, the longest due first, up to a maximum, each under a new fencing number. Two workers that
    /// claim at the same time never get the same intent. A claimed intent asks nothing any more. Intents of other kinds or of later versions are not claimed. A claimed
    /// intent gets the version that the claimer writes. If a planned lookup is due, the claim raises `lookups`, and no lookup is
    /// planned until [`end`](Self::end). A claim raises `claims`, unless the claimer's own lease still holds.
    /// Rows are returned as they are after the claim.
    fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> impl Future<Output = Result<Vec<IntentRow>, StoreError>> + Send;

    /// Claims one intent of these kinds if it is open or unknown, and is due, has no owner, or is the claimer's own. It
    /// always returns the resulting row. Owner and fencing number show whether the intent was claimed. `None` if there
    /// is no such intent.
    fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> impl Future<Output = Result<Option<Claimed>, StoreError>> + Send;

    /// Reads an intent.
    fn find(&self, key: &IntentKey) -> impl Future<Output = Result<Option<IntentRow>, StoreError>> + Send;

    /// Reads intents, the most recently changed first.
    fn list(&self, filter: IntentFilter) -> impl Future<Output = Result<Vec<IntentRow>, StoreError>> + Send;

    /// Returns the accounts that have intents, each once, in the order of their names in the database, from this name on, up to a
    /// maximum. A [`Fleet`](crate::Fleet) calls it when it starts, so it must not read all intents.
    fn accounts(&self, from: &str, most: u32) -> impl Future<Output = Result<Vec<String>, StoreError>> + Send;

    /// Carries out an operator's directive, even if a worker owns the intent: raises the fencing number, so that the
    /// owner loses the intent. `claims` and `lookups` start again at zero, and no lookup is planned. To reconcile makes it due at once:
    /// unknown if it has an outcome, open otherwise. Returns `false`, and changes nothing, if the intent has ended or does not exist.
    fn direct(&self, key: &IntentKey, directive: Directive) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// Returns the outbox: intents of an account with an outcome that the application has not acknowledged, up to a maximum. The same
    /// outcome is returned again only after `visibility`.
    fn untold(
        &self,
        account: &str,
        most: u32,
        visibility: Duration,
    ) -> impl Future<Output = Result<Vec<IntentRow>, StoreError>> + Send;

    /// Acknowledges the outcome with this number, and those before it, on behalf of the application. Changes nothing if there is no such
    /// outcome.
    fn told(&self, key: &IntentKey, event: i32) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns when something may have changed. This is a hint: a store without notifications never returns, and callers also poll.
    fn changed(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }

    /// Takes or keeps shares of an account's limits. There are `total` shares, and a worker gets at most `most`. Shares
    /// beyond `total`, which workers with a larger `total` have, are neither counted nor forgotten. A share whose
    /// lease has expired may be taken, and is not used before `quarantine` is over. If `most` is 0, no share is taken, and the leases of
    /// the worker's shares end after `lease`. Otherwise, if the worker gets fewer than it wants, leases of other workers that
    /// would end after more than `longest` are shortened to `longest`. Returns the number of shares within
    /// `total` that the worker has then, without those that rest.
    fn shares(&self, wish: ShareWish<'_>) -> impl Future<Output = Result<u32, StoreError>> + Send;

    /// Stores why no process may send for this account, unless there is a reason already; `None` permits sending again.
    fn stop(&self, account: &str, reason: Option<&str>) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns why nothing may be sent for this account.
    fn stopped(&self, account: &str) -> impl Future<Output = Result<Option<String>, StoreError>> + Send;
}

/// A store whose texts can be replaced, which a change of the key requires (`SealedStore::reseal`).
/// [`conformance::check_rewriting`](crate::conformance::check_rewriting) tests this contract.
pub trait RewritableStore: IntentStore {
    /// Reads the intents of all accounts after `after`, up to a maximum, in a fixed order of their keys.
    fn scan(
        &self,
        after: Option<&IntentKey>,
        most: u32,
    ) -> impl Future<Output = Result<Vec<IntentRow>, StoreError>> + Send;

    /// Replaces kind, digest, request, state, question, outcome and these events of an intent if its texts are still those of
    /// `old`; returns `false` otherwise. Owner, lease, fencing number, counts, times and history stay unchanged.
    fn rewrite(
        &self,
        old: &IntentRow,
        new: &IntentRow,
        events: &[(i32, String)],
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// A worker's request for shares of an account's limits.
#[derive(Clone, Copy, Debug)]
pub struct ShareWish<'a> {
    /// The account.
    pub account: &'a str,
    /// The worker.
    pub owner: &'a str,
    /// The number of shares of the limits.
    pub total: u32,
    /// The number of shares that the worker wants.
    pub most: u32,
    /// How long the worker keeps the shares without another call.
    pub lease: Duration,
    /// The longest lease of any share of the account. A share whose lease ends later was taken while the clock of the store was ahead.
    pub longest: Duration,
    /// How long a share that another worker had rests before it may be used.
    pub quarantine: Duration,
}

/// The result of storing a new intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It was stored.
    New,
    /// Its key is in use.
    Existing(Box<IntentRow>),
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// It was taken.
    Taken(Box<IntentRow>),
    /// Another worker has it, or it has ended.
    Not(Box<IntentRow>),
}

/// A filter of intents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentFilter {
    /// Of this account only.
    pub account: Option<String>,
    /// Under this reference only.
    pub reference: Option<String>,
    /// With one of these statuses.
    pub statuses: Vec<IntentStatus>,
    /// Claimed at least this number of times.
    pub claims: i32,
    /// The maximum number of intents.
    pub most: u32,
}

/// An operator's instruction about an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Workers leave the intent alone.
    Park,
    /// A worker claims the intent at once, looks its payment up and continues it. A machine that waits for its customer only waits again:
    /// deliver an event too, [`FleetEvent::Returned`](crate::FleetEvent::Returned) for a 3-D Secure payment, or
    /// [`FleetEvent::Cancelled`](crate::FleetEvent::Cancelled) to close the page of a checkout.
    Reconcile,
}

/// An error of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The intent was claimed by another worker, has ended, or was parked. Nothing was stored.
    #[error("the lease of this intent was lost: another worker has it, or it has ended")]
    Lost,
    /// The database cannot be reached, has failed, or cannot be written. The change may or may not have been made.
    #[error("the database of intents cannot be used: {0}")]
    Unavailable(String),
    /// The database contains the tables of another program.
    #[error("the database does not contain a store of intents of this program: {0}")]
    Foreign(String),
    /// The database has a store in a schema that is not searched, and the role may read its payments. A second store would know none of
    /// them.
    #[error(
        "the store of intents is in the schema {schema:?}, which the search_path of this role does not contain, or on which it has no right \
         USAGE: correct the role. If this is to be another store, create it with the output of `pg intents migrate --print`"
    )]
    Elsewhere {
        /// The schema.
        schema: String,
    },
    /// A later version created the store.
    #[error(
        "the store of intents has schema version {found}, this program knows versions up to {known}: update the program"
    )]
    Newer {
        /// Its version.
        found: i32,
        /// The newest version that this program knows.
        known: i32,
    },
    /// An earlier version created the store, or it does not exist, and the migrations were not run.
    #[error(
        "the store of intents has schema version {found} and needs {known}: run the migrations (PostgresStore::migrate or SqliteStore::migrate)"
    )]
    Older {
        /// Its version; 0 if it does not exist.
        found: i32,
        /// The version that this program needs.
        known: i32,
    },
    /// The stored data cannot be read.
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
    /// Returns whether another attempt gives the same error.
    pub(crate) const fn is_lasting(&self) -> bool {
        !matches!(self, Self::Lost | Self::Unavailable(_))
    }
}

impl IntentRow {
    /// # Errors
    /// [`StoreError::Sealed`] if its texts are sealed and the store has no key.
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

/// Returns milliseconds, bounded.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.min(LONGEST).as_millis()).unwrap_or(i64::MAX)
}
