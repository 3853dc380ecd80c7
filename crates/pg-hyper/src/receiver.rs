//! Receives callbacks of the service and customers who return, and hands them out as notifications.
//!
//! Requests are unsigned: anyone who knows a URL can send one. Each URL holds a token that cannot be guessed, a notification is a
//! hint that a machine confirms and never proof, and the same notification may arrive any number of times.

use std::{fmt, io, net::SocketAddr, time::Duration};

use pg_proto::BaseUrl;
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};

mod answer;
mod endpoint;
mod notification;
mod receipt;
mod serve;
mod service;

pub use endpoint::{Endpoint, EndpointPurpose};
pub use notification::{Notification, Received};
pub use receipt::ReceiptHandle;
pub use service::ReceiverService;

/// Takes callbacks and returns over HTTP, and hands out what they say.
///
/// It listens on a port of its own ([`bind`](Self::bind)), or is a [tower service](ReceiverService) in a server that you
/// have already ([`nested`](Self::nested)).
///
/// On its own port it speaks plain HTTP: where it is to be reached from outside, a proxy with a certificate stands before it, and
/// [`public_url`](Self::public_url) says what its addresses begin with there. It answers with a few fixed words and never
/// with anything that it was sent. Dropped, it stops.
///
/// A browser is answered at once. A callback is answered with 200 when its [`ReceiptHandle`] is dropped, since the service calls
/// back once (spec 1 §6) and has to learn if that failed: if it is not taken in time, it is told to come again,
/// with 503, and when the process is killed it hears nothing.
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
    notifications: mpsc::Receiver<Received>,
    service: ReceiverService,
    /// The port of its own.
    listening: Option<(SocketAddr, JoinHandle<()>)>,
}

/// How much a [`Receiver`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiverLimits {
    /// Bytes of a body. Default: 4 MiB, twice a callback about 5,000 cards.
    pub body_bytes: usize,
    /// The time for a request with its answer. Default: 30 seconds.
    pub time: Duration,
    /// Connections at a time; when there are as many, the one that has been silent for longest is closed in favour of a new
    /// one. A connection brings one request. As a [service](ReceiverService), requests at a time; when there are as many, the one whose
    /// body has been incomplete for longest is answered with 503 in favour of a new one. Default: 64.
    pub connections: usize,
    /// Notifications that wait to be taken; while there are so many, more are answered with 503. Default: 256.
    pub waiting: usize,
    /// How long a callback waits for its receipt; past that it is answered with 503, and its notification is handed out all
    /// the same. Default: 5 seconds.
    pub receipt: Duration,
}

impl ReceiverLimits {
    /// Bytes of a body.
    #[must_use]
    pub const fn body_bytes(mut self, body_bytes: usize) -> Self {
        self.body_bytes = body_bytes;
        self
    }

    /// The time for a request with its answer.
    #[must_use]
    pub const fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Connections at a time; when there are as many, the one that has been silent for longest is closed in favour of a new one.
    #[must_use]
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// News that wait to be taken; while there are so many, more are answered with 503.
    #[must_use]
    pub const fn waiting(mut self, waiting: usize) -> Self {
        self.waiting = waiting;
        self
    }

    /// How long a callback waits for its receipt.
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

/// So many of the largest bodies may be held at the same time.
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
    /// Listens there, with the usual limits. Port 0 takes a free one.
    ///
    /// # Errors
    /// When it can't listen there.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::on(pg_connections::listen(address)?, ReceiverLimits::default())
    }

    /// Takes a listener over. Needs the tokio runtime that the listener belongs to.
    ///
    /// # Errors
    /// When the listener has no address.
    pub fn on(listener: TcpListener, limits: ReceiverLimits) -> io::Result<Self> {
        let local = listener.local_addr()?;
        let mut receiver = Self::make(&format!("http://{local}"), limits);
        let server = tokio::spawn(serve::listen(listener, receiver.service.clone()));
        receiver.listening = Some((local, server));
        Ok(receiver)
    }

    /// Listens nowhere: its [service](Self::service) is nested in a server that is reached at `base`, such as
    /// `https://shop.example/pg`. Needs a tokio runtime with timers when requests come in.
    #[must_use]
    pub fn nested(base: &BaseUrl, limits: ReceiverLimits) -> Self {
        Self::make(base.as_str(), limits)
    }

    fn make(base: &str, limits: ReceiverLimits) -> Self {
        let (sender, notifications) = mpsc::channel(limits.waiting.max(1));
        let service = ReceiverService::new(base, limits, sender);
        Self { notifications, service, listening: None }
    }

    /// The service that takes its requests, to be nested in another server, and that opens its addresses while another task
    /// holds the receiver. After the receiver is dropped it answers callbacks with 503.
    #[must_use]
    pub fn service(&self) -> ReceiverService {
        self.service.clone()
    }

    /// What its addresses begin with from outside, instead of where it listens.
    #[must_use]
    pub fn public_url(mut self, base: &BaseUrl) -> Self {
        self.service = self.service.clone().public_url(base.as_str());
        self
    }

    /// Where it listens; `None` if it is [nested](Self::nested).
    #[must_use]
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.listening.as_ref().map(|(local, _)| *local)
    }

    /// A new URL for this purpose, with a token that cannot be guessed.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn open(&self, purpose: EndpointPurpose) -> io::Result<Endpoint> {
        self.service.open(purpose)
    }

    /// An address that was opened before, perhaps by another process: callbacks may come a day later. `token` is
    /// [`Endpoint::token`].
    ///
    /// # Errors
    /// When that is no token.
    pub fn reopen(&self, purpose: EndpointPurpose, token: &str) -> io::Result<Endpoint> {
        self.service.reopen(purpose, token)
    }

    /// Nothing is taken at this address from now on.
    pub fn close(&self, endpoint: &Endpoint) {
        self.service.close(endpoint);
    }

    /// Waits for what comes in. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Received> {
        self.notifications.recv().await
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
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
