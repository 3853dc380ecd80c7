//! The settings of a client.

use std::{sync::Arc, time::Duration};

use pg_proto::{
    Account,
    machine::{
        ResumeError, SavedState,
        throttle::{AccountThrottle, ThrottleLimits},
    },
};

use crate::{
    Client, Clock, HyperTransport, InsecureAddress, StoreError, SystemClock, Transport, random::Dice,
    scheduler::RequestScheduler, store::Store,
};

/// A slot of the rate limit is free a minute after its reply, so two minutes are enough for about 200 waiting calls.
/// Lost requests hold their slots for three minutes.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// Configures clock, limits, throttle and connections of a [`Client`] before it is created. All clones of the client
/// share them.
///
/// ```no_run
/// use std::time::Duration;
/// use pg_hyper::{Client, DurableFile, proto::{Account, machine::throttle::ThrottleLimits}};
///
/// # fn start(account: Account) -> Result<Client, Box<dyn std::error::Error>> {
/// let file = DurableFile::new("throttle.json");
/// let mut builder = Client::builder(account)?
///     .deadline(Duration::from_secs(20))
///     .limits(ThrottleLimits::default().per_minute(60));
/// if let Some(saved) = file.saved()? {
///     builder = builder.resume_throttle(&saved)?;
/// }
/// let client = builder.store_throttle(move |saved| std::future::ready(file.write(saved.text()))).build();
/// # Ok(client)
/// # }
/// ```
#[must_use = "it does nothing until `build`"]
pub struct ClientBuilder<T = HyperTransport> {
    account: Account,
    transport: T,
    clock: Arc<dyn Clock>,
    dice: Dice,
    limits: ThrottleLimits,
    throttle: Option<AccountThrottle>,
    longest_wait: Duration,
    store: Option<Store>,
}

impl ClientBuilder {
    /// Starts a client over [`HyperTransport`].
    ///
    /// # Errors
    ///
    /// [`InsecureAddress`] if an address of the account is neither https nor on this machine.
    pub(crate) fn new(account: Account) -> Result<Self, InsecureAddress> {
        InsecureAddress::check_account(&account)?;
        Ok(Self::with_transport(account, HyperTransport::new()))
    }

    /// Sets the time limit for connecting, sending and receiving together. Default: 60 seconds.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.transport = self.transport.deadline(deadline);
        self
    }

    /// Sets the maximum length of a reply body in bytes. Default: 16 MiB.
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.transport = self.transport.body_limit(bytes);
        self
    }

    /// Sets how many idle connections to keep per host, and for how long. Default: 32 for 15 seconds.
    pub fn pool(mut self, idle_connections: usize, idle_time: Duration) -> Self {
        self.transport = self.transport.pool(idle_connections, idle_time);
        self
    }
}

impl<T: Transport> ClientBuilder<T> {
    /// Starts a client over any transport. The client refuses addresses that are neither https nor on this machine.
    pub fn with_transport(account: Account, transport: T) -> Self {
        Self {
            account,
            transport,
            clock: Arc::new(SystemClock::default()),
            dice: Dice::System,
            limits: ThrottleLimits::default(),
            throttle: None,
            longest_wait: LONGEST_WAIT,
            store: None,
        }
    }

    /// Sets the clock of machines, calls and throttle. Default: [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets the seed for the random parts of pauses, to make a test deterministic. Default: the system's randomness.
    pub fn seed(mut self, seed: u64) -> Self {
        self.dice = Dice::seeded(seed);
        self
    }

    /// Sets the limits of the service for this account. Default: [`ThrottleLimits::default`].
    pub fn limits(mut self, limits: ThrottleLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long a call waits for the [limits](Self::limits) before it fails with
    /// [`Error::Throttled`](crate::Error::Throttled). Machines wait without a limit. Default: two minutes.
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// Resumes the throttle from the state that was [saved](Self::store_throttle) last. Refused credentials remain
    /// stopped until [`Client::resume_sending`]. Requests with other credentials may be sent.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a throttle.
    pub fn resume_throttle(mut self, saved: &SavedState) -> Result<Self, ResumeError> {
        self.throttle = Some(AccountThrottle::resume(saved, &self.account, self.limits)?);
        Ok(self)
    }

    /// Saves the throttle of the client's machines and calls: before and after each request, and before each wait for the
    /// throttle.
    ///
    /// A program that restarts repeatedly with wrong credentials would otherwise make a failed request each time, and
    /// more than five a day lock the address out (spec 1 §5). With this function and
    /// [`resume_throttle`](Self::resume_throttle), it makes one failed request.
    ///
    /// A later state replaces earlier states, and one state is saved at a time. It contains no credentials, only 16
    /// bits of a salted hash of them; see [`AccountThrottle`]. If saving fails, panics or takes longer than 5 seconds, an
    /// event of the target `pg.drive` reports it, and requests are still sent. A save that takes longer continues: the
    /// next state is saved after it.
    ///
    /// Each process needs its own state.
    pub fn store_throttle<F, Stored, E>(mut self, store: F) -> Self
    where
        F: Fn(SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<StoreError>,
    {
        self.store = Some(Store::new(store));
        self
    }

    /// Builds the client.
    #[must_use]
    pub fn build(self) -> Client<T> {
        let Self { account, transport, clock, dice, limits, throttle, longest_wait, store } = self;
        let throttle = throttle
            .map_or_else(|| AccountThrottle::new(&account, limits, dice.number()), |throttle| throttle.limits(limits));
        Client::of(account, transport, RequestScheduler::of(clock, dice, limits, longest_wait, throttle, store))
    }
}

impl<T> std::fmt::Debug for ClientBuilder<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("account", &self.account)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
