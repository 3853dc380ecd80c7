//! Receives callbacks of the service and returning customers, and hands them out as notifications.
//!
//! Requests are unsigned: anyone who knows a URL can send one. So each URL contains a token that cannot be guessed. A
//! notification is a hint that a machine confirms, never proof. The same notification may arrive any number of times.

use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use pg_proto::BaseUrl;
use tokio::{net::TcpListener, task::JoinHandle};

mod answer;
mod endpoint;
mod guarded;
mod notification;
mod queue;
mod receipt;
mod serve;
mod service;
mod shares;

pub use endpoint::{Endpoint, EndpointPurpose};
pub use guarded::{GuardedBody, serve_guarded, serve_guarded_until};
pub use notification::{Notification, Received};
pub use receipt::ReceiptHandle;
pub use service::ReceiverService;

use queue::NotificationQueue;

/// Receives callbacks and returning customers over HTTP, and hands them out as notifications.
///
/// It listens on its own port ([`bind`](Self::bind)), or is a [tower service](ReceiverService) in your existing server
/// ([`nested`](Self::nested)).
///
/// On its own port it speaks plain HTTP. For access from outside, put a proxy with a certificate in front, and set the
/// proxy's address with [`public_url`](Self::public_url). It answers with a few fixed texts and never repeats its
/// input. Dropping the receiver stops it.
///
/// A browser is answered at once. A callback is answered with 200 when its [`ReceiptHandle`] acknowledges it. The service
/// calls back once (spec 1 §6), so it must learn of a failure: a callback whose handle is dropped, or that is not
/// acknowledged in time, is answered with 503. If the process is killed, a callback gets no answer.
///
/// ```no_run
/// use pg_hyper::{Client, EndpointPurpose, Receiver, UpdateEvent, proto::machine::account_update::UpdatePlan};
///
/// # async fn refresh(client: Client, keys: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
/// let mut receiver = Receiver::bind("127.0.0.1:0".parse()?).await?;
/// let endpoint = receiver.open(EndpointPurpose::UpdaterCallback)?;
/// let plan = UpdatePlan::new("updater key").callback_url(endpoint.url());
/// let mut updating = client.update_accounts(plan, keys.into_iter())?;
/// loop {
///     tokio::select! {
///         update = updating.next() => match update? {
///             Some(UpdateEvent::Ended(summary)) => break println!("{:?}", summary.progress),
///             _ => {}
///         },
///         Some(received) = receiver.next() => updating.receive(received),
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Receiver {
    notifications: Arc<NotificationQueue>,
    service: ReceiverService,
    /// The port of its own server; `None` if it is nested in another server.
    listening: Option<(SocketAddr, JoinHandle<()>)>,
}

/// Limits of a [`Receiver`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiverLimits {
    /// Maximum length of a body in bytes. Default: 4 MiB, which is twice the size of a callback about 5,000 cards.
    pub body_bytes: usize,
    /// Time limit for a request and its answer. Default: 30 seconds.
    pub time: Duration,
    /// Maximum number of connections, with one request each. At the limit, the connection that has been open for longest
    /// without naming an open URL is closed in favour of a new one; a request to an open URL makes room only if all
    /// connections have such requests. For a [service](ReceiverService), the maximum number of requests: at the limit,
    /// the request whose body has been incomplete for longest is answered with 503. Requests that arrive and callbacks
    /// that wait for their receipts share the connections fairly: a URL that holds more connections than it leaves free
    /// loses some too. Default: 64.
    pub connections: usize,
    /// Maximum number of notifications of one URL that wait for [`next`](Receiver::next). At the limit, further
    /// notifications are answered with 503. All URLs share room for twice as many, and for the bytes of eight bodies of
    /// maximum length. A URL may use as much as it leaves free. Default: 256.
    pub waiting: usize,
    /// How long a callback waits for its receipt. After that the callback is answered with 503, but its notification is
    /// still handed out. Default: 5 seconds.
    pub receipt: Duration,
}

impl ReceiverLimits {
    /// Sets the maximum length of a body in bytes.
    #[must_use]
    pub const fn body_bytes(mut self, body_bytes: usize) -> Self {
        self.body_bytes = body_bytes;
        self
    }

    /// Sets the time limit for a request and its answer.
    #[must_use]
    pub const fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets the maximum number of connections. At the limit, the connection that has been open for longest without naming
    /// an open URL is closed in favour of a new one.
    #[must_use]
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// Sets the maximum number of waiting notifications of one URL. At the limit, further notifications are answered
    /// with 503.
    #[must_use]
    pub const fn waiting(mut self, waiting: usize) -> Self {
        self.waiting = waiting;
        self
    }

    /// Sets how long a callback waits for its receipt.
    #[must_use]
    pub const fn receipt(mut self, receipt: Duration) -> Self {
        self.receipt = receipt;
        self
    }
}

impl Default for ReceiverLimits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            time: Duration::from_secs(30),
            connections: 64,
            waiting: 256,
            receipt: Duration::from_secs(5),
        }
    }
}

/// Maximum length of a request head in bytes. Its URL may contain the data of a card form.
const HEAD_BYTES: usize = 64 << 10;

/// Number of bodies of maximum length that can be in memory at the same time.
const LARGEST_BODIES: usize = 4;

impl ReceiverLimits {
    fn of_connections(&self) -> pg_connections::ConnectionLimits {
        let bodies = self.body_bytes.saturating_mul(LARGEST_BODIES);
        pg_connections::ConnectionLimits::default()
            .connections(self.connections.max(1))
            .per_address(usize::MAX)
            .body_bytes(u32::try_from(bodies).unwrap_or(u32::MAX))
    }
}

impl Receiver {
    /// Listens on this address with the default limits. Port 0 picks a free port.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::on(pg_connections::listen(address)?, ReceiverLimits::default())
    }

    /// Uses an existing listener. Needs the tokio runtime to which the listener belongs.
    ///
    /// # Errors
    ///
    /// If the listener has no address.
    pub fn on(listener: TcpListener, limits: ReceiverLimits) -> io::Result<Self> {
        let local = listener.local_addr()?;
        let mut receiver = Self::make(&format!("http://{local}"), limits);
        let server = tokio::spawn(serve::listen(listener, receiver.service.clone()));
        receiver.listening = Some((local, server));
        Ok(receiver)
    }

    /// Creates a receiver without a port: its [service](Self::service) is nested in a server at `base`, such as
    /// `https://shop.example/pg`. Requests need a tokio runtime with timers.
    #[must_use]
    pub fn nested(base: &BaseUrl, limits: ReceiverLimits) -> Self {
        Self::make(base.as_str(), limits)
    }

    fn make(base: &str, limits: ReceiverLimits) -> Self {
        let notifications = Arc::new(NotificationQueue::new(&limits));
        let service = ReceiverService::new(base, limits, Arc::clone(&notifications));
        Self { notifications, service, listening: None }
    }

    /// Returns the service for another server. It can also open addresses while another task holds the receiver. After
    /// the receiver is dropped, the service answers callbacks with 503.
    #[must_use]
    pub fn service(&self) -> ReceiverService {
        self.service.clone()
    }

    /// Sets the beginning of the receiver's URLs as seen from outside, instead of the address on which it listens.
    #[must_use]
    pub fn public_url(mut self, base: &BaseUrl) -> Self {
        self.service = self.service.clone().public_url(base.as_str());
        self
    }

    /// Returns the address on which it listens; `None` if it is [nested](Self::nested).
    #[must_use]
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.listening.as_ref().map(|(local, _)| *local)
    }

    /// Opens a new URL for this purpose, with a token that cannot be guessed.
    ///
    /// # Errors
    ///
    /// If the system has no random bytes.
    pub fn open(&self, purpose: EndpointPurpose) -> io::Result<Endpoint> {
        self.service.open(purpose)
    }

    /// Opens an earlier URL again, perhaps in another process: callbacks may come a day later. `token` is from
    /// [`Endpoint::token`].
    ///
    /// # Errors
    ///
    /// If `token` is malformed.
    pub fn reopen(&self, purpose: EndpointPurpose, token: &str) -> io::Result<Endpoint> {
        self.service.reopen(purpose, token)
    }

    /// Closes this URL: later requests are refused.
    pub fn close(&self, endpoint: &Endpoint) {
        self.service.close(endpoint);
    }

    /// Waits for the next notification. URLs take turns, so that many notifications of one URL do not delay those of
    /// other URLs. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Received> {
        Some(self.notifications.next().await)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.notifications.close();
        if let Some((_, server)) = &self.listening {
            server.abort();
        }
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("local", &self.local_address()).finish_non_exhaustive()
    }
}
