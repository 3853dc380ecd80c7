//! The settings of a worker.

use std::{sync::Arc, time::Duration};

use pg_hyper::{
    Clock, SystemClock,
    proto::machine::{charge::ChargeBounds, checkout::CheckoutPlan},
};

use crate::machines::Bounds;

/// The settings of a worker of a fleet: leases, limits, pauses and bounds.
///
/// ```
/// use std::time::Duration;
/// use pg_intents::FleetPlan;
///
/// let plan = FleetPlan::new("shop-1").lease(Duration::from_secs(10)).at_once(32);
/// ```
#[derive(Clone)]
#[must_use]
pub struct FleetPlan {
    pub(crate) name: String,
    /// The present account, and the one under which the store has its payments.
    pub(crate) stored_as: Option<(String, String)>,
    pub(crate) apart_from: Vec<String>,
    pub(crate) lease: Duration,
    pub(crate) poll: Duration,
    pub(crate) patience: Duration,
    pub(crate) at_once: u32,
    pub(crate) per_minute: u32,
    pub(crate) longest_way: Duration,
    pub(crate) failures: u32,
    pub(crate) claims: i32,
    pub(crate) lookups: Vec<Duration>,
    pub(crate) bounds: Bounds,
    pub(crate) clock: Arc<dyn Clock>,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

impl FleetPlan {
    /// Returns the default settings for a worker with this name, such as the name of its server. The store adds a
    /// number, so that two workers with the same name are distinct.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            stored_as: None,
            apart_from: Vec::new(),
            lease: Duration::from_secs(15),
            poll: Duration::from_secs(1),
            patience: Duration::from_secs(90),
            at_once: 16,
            per_minute: 100,
            longest_way: Duration::from_secs(120),
            failures: 5,
            claims: 20,
            lookups: [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR].map(Duration::from_secs).to_vec(),
            bounds: Bounds { charge: ChargeBounds::default(), checkout: CheckoutPlan::default() },
            clock: Arc::new(SystemClock::default()),
        }
    }

    /// Sets the account under which the store has the payments of this fleet, as [`Fleet::account`](crate::Fleet::account) and `pg
    /// intents` show it. Set it after a change of the account's name or base URL, and keep it. The payments in progress are then
    /// continued with the present account, `account` ([`Account::bound_identity`](pg_hyper::proto::Account::bound_identity)). A fleet of another account refuses the plan.
    ///
    /// You assert that both are one account of the service, which the fleet cannot check. If they are two, payments are looked up in the
    /// wrong account, and may be made twice.
    ///
    /// Before a change of the base URL, set it in all processes, with the account twice. A process without it cannot continue the
    /// payments of processes that already have the new base URL.
    ///
    /// ```
    /// use pg_intents::FleetPlan;
    ///
    /// // The service moves from this address to another one. First, in all processes:
    /// let before = FleetPlan::new("shop-1").stored_as("shop-uk at https://gateway.example", "shop-uk at https://gateway.example");
    /// // Then one process after the other gets the new address.
    /// let after = FleetPlan::new("shop-1").stored_as("shop-uk at https://new.example", "shop-uk at https://gateway.example");
    /// ```
    pub fn stored_as(mut self, account: impl Into<String>, stored: impl Into<String>) -> Self {
        self.stored_as = Some((account.into(), stored.into()));
        self
    }

    /// Names other accounts with payments in the same store. A fleet starts only if all others are named, as they are written there:
    /// one that is not named may be the same account before a change of its name, API key or base URL, or with the wrong name of another
    /// server. A marketplace names the accounts of its other merchants, also of former ones ([`Account::bound_identity`](pg_hyper::proto::Account::bound_identity)).
    pub fn apart_from(mut self, accounts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.apart_from.extend(accounts.into_iter().map(Into::into));
        self
    }

    /// Sets how long a worker may be silent before others take its intents. Default: 15 seconds. A worker renews its
    /// leases after every third of that time.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets how often the store is polled for due intents and for outcomes of other workers, if no notification
    /// arrives. Outcomes are polled after 20 milliseconds at first, and then after growing delays up to this one.
    /// Default: one second.
    pub fn poll(mut self, poll: Duration) -> Self {
        self.poll = poll;
        self
    }

    /// Sets how long a caller waits for an outcome, and for an unreachable database. [`Fleet::step`], [`Fleet::three_d_secure`] and
    /// [`Fleet::checkout`] return then also if they work on the payment themselves; [`Fleet::charge`] and [`Fleet::operation`] stay with
    /// such a payment until it ends. A page begins its payment within this time, or not at all, so give it some seconds. For as long, a worker
    /// repeats the statement that stores an outcome. Default: 90 seconds.
    ///
    /// [`Fleet::charge`]: crate::Fleet::charge
    /// [`Fleet::checkout`]: crate::Fleet::checkout
    /// [`Fleet::operation`]: crate::Fleet::operation
    /// [`Fleet::step`]: crate::Fleet::step
    /// [`Fleet::three_d_secure`]: crate::Fleet::three_d_secure
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets how many abandoned intents a worker resumes at the same time. Default: 16. A checkout that waits for late reports, or for the
    /// next attempt to cancel its token, waits in its row, like a page that is open: it takes no place, and no memory, except for a
    /// minute after an event. So a worker has at most this number of machines in memory, besides those of its callers and those that pages have left
    /// when their patience was over.
    pub fn at_once(mut self, intents: u32) -> Self {
        self.at_once = intents;
        self
    }

    /// Sets the maximum number of requests that all processes of the fleet together send in any 60 seconds. `u32::MAX`
    /// sets no limit. More than 20 are rounded down to a multiple of 20. Default: 100, as the service permits.
    ///
    /// Set the same value for every worker: with different values they may send as many requests as the largest permits. Fleets with
    /// different values warn, so that one after the other can be changed; [`FleetLimits::new`](crate::FleetLimits::new) refuses
    /// another value than that of running processes.
    pub fn per_minute(mut self, requests: u32) -> Self {
        self.per_minute = requests;
        self
    }

    /// Sets how long a request without a reply may be in transit, so that it still counts in the limit of a minute
    /// (assumption A142). Set the same value for every worker, and as
    /// [`ThrottleLimits::longest_way`](pg_hyper::proto::machine::throttle::ThrottleLimits::longest_way). Default: 2 minutes.
    pub fn longest_way(mut self, longest_way: Duration) -> Self {
        self.longest_way = longest_way;
        self
    }

    /// Sets the maximum number of requests with invalid credentials that all processes of the fleet together send
    /// within a day, which is also the maximum number of requests in flight. `u32::MAX` sets no limit. Set the same
    /// value for every worker. Default: 5, since the service locks an address out after more (spec 1 §5).
    pub fn failures(mut self, requests: u32) -> Self {
        self.failures = requests;
        self
    }

    /// Sets the number of claims that no worker ended or released, after which an intent is parked: for example,
    /// because its workers died. Default: 20.
    pub fn claims(mut self, claims: u32) -> Self {
        self.claims = i32::try_from(claims).unwrap_or(i32::MAX);
        self
    }

    /// Sets the pauses after which an unknown payment is looked up again. After the last lookup the payment waits for
    /// an event or an operator. Lookups because of events do not count. Default: 1, 5 and 30 minutes, 2 and 12 hours.
    pub fn lookups(mut self, pauses: impl IntoIterator<Item = Duration>) -> Self {
        self.lookups = pauses.into_iter().collect();
        self
    }

    /// Sets the bounds of each charge, after which it ends as unknown.
    pub fn bounds(mut self, bounds: ChargeBounds) -> Self {
        self.bounds.charge = bounds;
        self
    }

    /// Sets how much time customers have for a checkout, and how often its requests are tried. Set the same value for
    /// every worker.
    pub fn checkouts(mut self, plan: CheckoutPlan) -> Self {
        self.bounds.checkout = plan;
        self
    }

    /// Sets the clock for pauses. Leases depend on the database's clock. Default: [`SystemClock`]. Set the same clock
    /// in the client.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Whether rows may have been stored under another name or base URL of the account.
    pub(crate) const fn is_stored_elsewhere(&self) -> bool {
        self.stored_as.is_some()
    }
}

impl std::fmt::Debug for FleetPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleetPlan").field("name", &self.name).field("lease", &self.lease).finish_non_exhaustive()
    }
}
