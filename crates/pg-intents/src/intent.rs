//! One intent, one row.

use std::time::Duration;

/// Separates the kind of a sealed row from the fingerprint of the key with which it was begun.
pub(crate) const SEALED: &str = " sealed:";

/// The key of an intent: the account, as saved machines name it, and the reference under which the service accepts one payment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntentKey {
    /// Identity and base address of the account. It is not secret.
    pub account: String,
    /// The `uniqueMerchantReference`, or the name that its owner chose.
    pub reference: String,
}

/// The right to work on an intent. The store accepts no change under an earlier fencing number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentLease {
    /// The intent.
    pub key: IntentKey,
    /// The worker, by the name that [`IntentStore::enlist`](crate::IntentStore::enlist) gave it.
    pub owner: String,
    /// Counts the claims of this intent. It is 1 after [`begin`](crate::IntentStore::begin), and each claim raises it by one.
    pub fence: i64,
}

/// The state of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntentStatus {
    /// It is open: a worker continues it.
    Open,
    /// It has ended as unknown. Workers look it up again at its next wake.
    Unknown,
    /// An operator has withdrawn it from the fleet, or workers have failed on it too often.
    Parked,
    /// It has ended, and its outcome is final.
    Ended,
}

/// An intent that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewIntent {
    /// Its key.
    pub key: IntentKey,
    /// The machine, and for a charge the method: `charge authCardKey`.
    pub kind: String,
    /// A digest that shows whether a second call under the same reference is the same payment.
    pub digest: String,
    /// The payment, if it contains no data that must not be stored. Then any worker can send it again.
    pub request: Option<String>,
    /// The machine's saved state.
    pub state: String,
    /// The version of that state.
    pub version: i32,
    /// Its first owner; without an owner, a worker claims the intent.
    pub owner: Option<String>,
    /// How long the first owner's lease lasts. Without an owner it means nothing: the intent is due at once.
    pub lease: Duration,
}

/// An intent as it is stored. Times are milliseconds since 1970 by the database's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentRow {
    /// Its key.
    pub key: IntentKey,
    /// The machine, and for a charge the method.
    pub kind: String,
    /// A digest that distinguishes payments.
    pub digest: String,
    /// The payment, if it may be stored.
    pub request: Option<String>,
    /// The machine's saved state.
    pub state: String,
    /// The version of that state: the newest version that a worker that has claimed the intent may have written.
    pub version: i32,
    /// What the machine asks for, as JSON, while it waits: for example, for a customer at a page.
    pub asks: Option<String>,
    /// The number of events that were delivered for it.
    pub inbox: i32,
    /// Its state.
    pub status: IntentStatus,
    /// Counts its claims: 1 after [`begin`](crate::IntentStore::begin), with or without an owner. Each claim raises it by one, and
    /// nothing lowers it.
    pub fence: i64,
    /// Its owner: the worker that works on the intent.
    pub owner: Option<String>,
    /// The end of its owner's lease, or without an owner its next wake. After that, any worker may claim the intent.
    pub due: i64,
    /// The number of claims since a worker last finished its work on it, without those that workers released: how often workers failed
    /// on it. It is 0 after [`begin`](crate::IntentStore::begin), also with an owner.
    pub claims: i32,
    /// The number of the plan's lookups since the intent ended as unknown. Lookups because of events do not count.
    pub lookups: i32,
    /// Its outcome, as JSON.
    pub outcome: Option<String>,
    /// Counts its outcomes: an unknown outcome may be followed by another one.
    pub event: i32,
    /// The last outcome that the application has acknowledged.
    pub told: i32,
    /// When the intent was begun.
    pub created: i64,
    /// When it was last changed.
    pub changed: i64,
    /// A line for each claim and each end, the latest last: time, owner, fencing number and what happened, with a space between
    /// them and `\n` at the end. The oldest lines are dropped, so that it has at most 8,192 bytes.
    pub history: String,
    /// The time at which it was read.
    pub read_at: i64,
}

/// How a worker leaves an intent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentEnd {
    /// [`Unknown`](IntentStatus::Unknown), [`Parked`](IntentStatus::Parked) or [`Ended`](IntentStatus::Ended).
    pub status: IntentStatus,
    /// The machine's saved state.
    pub state: String,
    /// Its outcome, as JSON.
    pub outcome: String,
    /// For an unknown intent, when the plan looks it up next; `None` for never. A lookup that is already planned keeps
    /// its time.
    pub wake: Option<Duration>,
    /// For an unknown intent, the number of the last event that the machine took.
    pub heard: i32,
    /// For an unknown or parked intent, how long events do not make it due. Events wait meanwhile.
    pub quiet: Duration,
}

/// A kind of intent that a worker can resume, and the newest version of its state that the worker reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentKind {
    /// As in [`IntentRow::kind`].
    pub name: String,
    /// As in [`IntentRow::version`].
    pub version: i32,
}

/// How a worker leaves an intent whose machine waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentRest {
    /// The machine's saved state.
    pub state: String,
    /// What the machine waits for, as JSON; `None` if it waits for an event or for `wake` only.
    pub asks: Option<String>,
    /// The number of the last event that the machine took.
    pub heard: i32,
    /// When the machine continues without an event.
    pub wake: Duration,
}

impl IntentKey {
    /// Creates the key of this account's intent under this reference.
    pub fn new(account: impl Into<String>, reference: impl Into<String>) -> Self {
        Self { account: account.into(), reference: reference.into() }
    }
}

impl IntentStatus {
    /// All statuses.
    pub const ALL: [Self; 4] = [Self::Open, Self::Unknown, Self::Parked, Self::Ended];

    /// Returns the stored form.
    #[must_use]
    pub const fn code(self) -> i16 {
        match self {
            Self::Open => 0,
            Self::Unknown => 1,
            Self::Parked => 2,
            Self::Ended => 3,
        }
    }

    /// Reads the stored form. An unlisted code counts as parked, which no worker touches.
    #[must_use]
    pub fn of(code: i16) -> Self {
        Self::ALL.into_iter().find(|status| status.code() == code).unwrap_or(Self::Parked)
    }

    /// Returns one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Unknown => "unknown",
            Self::Parked => "parked",
            Self::Ended => "ended",
        }
    }
}

impl IntentRow {
    /// Returns the right to work on the intent, for the owner of the row.
    #[must_use]
    pub fn hold(&self) -> Option<IntentLease> {
        Some(IntentLease { key: self.key.clone(), owner: self.owner.clone()?, fence: self.fence })
    }

    /// Returns the fingerprint of the key with which the row was begun, if its texts are sealed and were not opened:
    /// see `SealedStore`.
    #[must_use]
    pub fn sealed_with(&self) -> Option<&str> {
        self.kind.split_once(SEALED).map(|(_, fingerprint)| fingerprint)
    }

    /// Returns the kind without the mark of a sealed row.
    #[must_use]
    pub fn plain_kind(&self) -> &str {
        self.kind.split_once(SEALED).map_or(&*self.kind, |(kind, _)| kind)
    }

    /// Returns whether any worker may claim it.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.status < IntentStatus::Parked && self.due <= self.read_at
    }
}
