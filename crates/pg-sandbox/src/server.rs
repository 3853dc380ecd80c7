//! A thin HTTP/1.1 server around the sandbox: the only part that reads the real clock and asks the
//! system for randomness.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    thread,
};

use pg_connections::Acceptor;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use self::{delivery::Courier, failure::Failure};
#[cfg(feature = "postgres")]
use crate::SharedStore;
use crate::{OpenError, Sandbox, Settings, certificate::ServerCertificate, store::Halt, store::StoreError};

mod connection;
mod delivery;
mod failure;
mod hello;
mod inbox;
mod listener;
mod release;
mod system;
mod writer;

pub(crate) use system::random_seed;

/// The configuration of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The address to bind; port 0 picks a free port.
    pub listen: SocketAddr,
    /// Where the records are stored.
    pub store: StoreChoice,
    /// Accounts, limits, and access to the control interface.
    pub settings: Settings,
}

impl Config {
    /// Sets the address to bind; port 0 picks a free port.
    #[must_use]
    pub fn listen(mut self, listen: SocketAddr) -> Self {
        self.listen = listen;
        self
    }

    /// Sets where the records are stored.
    #[must_use]
    pub fn store(mut self, store: StoreChoice) -> Self {
        self.store = store;
        self
    }

    /// Sets accounts, limits, and access to the control interface.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }
}

impl Default for Config {
    /// A free loopback port, records in memory, the built-in accounts.
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            store: StoreChoice::Memory,
            settings: Settings::default(),
        }
    }
}

/// Where the records are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreChoice {
    /// In memory: lost when the server ends.
    Memory,
    /// In a SQLite file, with a key file beside it; both are created if missing.
    File(PathBuf),
    /// In a PostgreSQL database, which other processes may use at the same time.
    #[cfg(feature = "postgres")]
    Postgres(SharedStore),
}

/// A running sandbox server. Dropping it stops it without waiting.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    stop: watch::Sender<bool>,
    listening: JoinHandle<()>,
    delivering: JoinHandle<()>,
    writing: writer::Writing,
    halt: Option<Halt>,
    failed: watch::Receiver<Option<StoreError>>,
}

impl Server {
    /// Opens the store, binds the address, and starts to serve on the caller's runtime.
    ///
    /// # Errors
    /// [`StartError`] if the store cannot be opened or the address cannot be bound.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let courier = courier(&config.settings)?;
        let seed = random_seed().map_err(StartError::Randomness)?;
        let sandbox = match &config.store {
            StoreChoice::Memory => Sandbox::in_memory_with(config.settings, **seed)?,
            #[cfg(feature = "postgres")]
            StoreChoice::Postgres(shared) => {
                let (opening, settings) = (shared.clone(), config.settings);
                let other_seed = random_seed().map_err(StartError::Randomness)?;
                // Opening waits for the database.
                let opened = tokio::task::spawn_blocking(move || {
                    if opening.reseals {
                        opening.reseal(**other_seed)?;
                    }
                    Sandbox::open_shared(&opening, settings, **seed)
                });
                let opened = opened.await.map_err(|error| StartError::Thread(io::Error::other(error)))?;
                opened.map_err(|error| StartError::Database(shared.shown(), error))?
            }
            StoreChoice::File(path) => {
                Sandbox::open(path, config.settings, **seed).map_err(|error| StartError::Store(path.clone(), error))?
            }
        };
        Self::run(sandbox, config.listen, courier).await
    }

    /// Serves a given sandbox, for example one with a custom store, according to its settings.
    ///
    /// # Errors
    /// [`StartError`] if the address cannot be bound or a certificate authority is invalid.
    pub async fn serve(sandbox: Sandbox, listen: SocketAddr) -> Result<Self, StartError> {
        let courier = courier(sandbox.settings())?;
        Self::run(sandbox, listen, courier).await
    }

    async fn run(sandbox: Sandbox, listen: SocketAddr, courier: Courier) -> Result<Self, StartError> {
        let limits = sandbox.settings().limits;
        let connections = sandbox.settings().connections;
        let tls = sandbox.settings().certificate.as_ref().map(ServerCertificate::acceptor);
        let scheme = sandbox.settings().scheme();
        let listener = pg_connections::listen(listen).map_err(|error| StartError::Address(listen, error))?;
        let address = listener.local_addr().map_err(|error| StartError::Address(listen, error))?;
        let halt = sandbox.halt();
        let (due, outgoing) = mpsc::unbounded_channel();
        let failure = Arc::new(Failure::new(sandbox.settings().log.clone()));
        let failed = failure.watch();
        let (queue, writing) = writer::start(sandbox, due, failure).map_err(StartError::Thread)?;
        let (stop, stopped) = watch::channel(false);
        let delivering = tokio::spawn(delivery::send_all(outgoing, courier, queue.clone(), stopped.clone()));
        let listening =
            tokio::spawn(listener::listen(Acceptor::new(listener, connections), tls, queue, limits, stopped));
        Ok(Self { address, scheme, stop, listening, delivering, writing, halt, failed })
    }

    /// The bound address.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL of the version 3 services, without a slash at the end.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// The base URL of the version 5 service.
    #[must_use]
    pub fn enterprise_base_url(&self) -> String {
        format!("{}/enterprise", self.base_url())
    }

    /// Waits until the disk has reported an error after it had accepted a write. From then on every request is refused, and
    /// the outcome of requests that were in progress is unknown until the next start.
    pub async fn store_failed(&self) -> StoreError {
        let mut failed = self.failed.clone();
        if let Ok(error) = failed.wait_for(Option::is_some).await
            && let Some(error) = &*error
        {
            return error.clone();
        }
        std::future::pending().await
    }

    /// Stops accepting connections, finishes requests and callbacks in progress (for at most five seconds), and closes
    /// the store. If closing takes another five seconds because a shared store is unreachable, it stops waiting for the
    /// store: no caller has received a response to a request that was still in progress.
    ///
    /// # Errors
    /// If the store cannot be closed, for example because the disk is full. Nothing is lost: the next start completes the store
    /// file. Until then the file is incomplete without the logs beside it. [`StoreError::Unsynced`] if the [store has
    /// failed](Self::store_failed).
    pub async fn shutdown(self) -> Result<(), StoreError> {
        // These fail only if the other side has ended already.
        let _ = self.stop.send(true);
        let _ = self.listening.await;
        let _ = self.delivering.await;
        let writing = self.writing;
        let mut writing = tokio::task::spawn_blocking(move || writing.join());
        if let Some(halt) = self.halt {
            if let Ok(ended) = tokio::time::timeout(listener::GRACE, &mut writing).await {
                return closed(ended);
            }
            halt.end_waits();
        }
        closed(writing.await)
    }
}

/// Whether the thread has closed the store.
fn closed<E>(ended: Result<thread::Result<Result<(), StoreError>>, E>) -> Result<(), StoreError> {
    match ended {
        Ok(Ok(closed)) => closed,
        _ => Err(StoreError::Engine("the thread that owns the store has panicked".to_owned())),
    }
}

fn courier(settings: &Settings) -> Result<Courier, StartError> {
    let authorities = &settings.outgoing.certificate_authorities;
    Courier::new(authorities).map_err(|error| StartError::CertificateAuthority(error.to_string()))
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The store file, or the key file beside it, cannot be opened.
    #[error("cannot open the store {path}: {problem}", path = .0.display(), problem = .1)]
    Store(PathBuf, #[source] OpenError),
    /// The database of a shared store.
    #[cfg(feature = "postgres")]
    #[error("cannot open the store {0}: {1}")]
    Database(String, #[source] OpenError),
    /// The store in memory cannot be opened.
    #[error(transparent)]
    Memory(#[from] OpenError),
    /// The address cannot be bound.
    #[error("cannot listen on {0}: {1}")]
    Address(SocketAddr, #[source] io::Error),
    /// One of the additional certificate authorities is invalid.
    #[error("a certificate authority for callbacks is invalid: {0}")]
    CertificateAuthority(String),
    /// The operating system provides no random bytes.
    #[error("the operating system provides no random bytes: {0}")]
    Randomness(#[source] io::Error),
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
}

#[cfg(test)]
mod tests;
