//! The connection to the database, for a thread that waits for each answer.

use std::{
    future::{Future, pending, poll_fn},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::watch,
    time::timeout,
};
use tokio_postgres::{
    Client, Error, Row, SimpleQueryMessage,
    types::{ToSql, Type},
};

use super::{
    super::StoreError,
    address::{Address, causes},
};

/// How long the database may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a connection is tried, and the pause between two of them: a restart of the database takes seconds.
const TRIES: u32 = 60;
const PAUSE: Duration = Duration::from_millis(250);

/// A value of a statement and its type: a statement that has both for all of them needs no name and no second round trip, which is what
/// connection poolers in transaction mode want.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// A statement that is under way.
type Sent<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + Send + 'a>>;

/// Why a transaction is undone, or may be.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// Another one came first; it may succeed when it is tried again.
    Conflict,
    /// The connection broke.
    Broken(String),
    /// The connection broke during the commit, and the database was not to be reached afterwards.
    Unknown,
    /// Anything else.
    Failed(StoreError),
}

impl Trouble {
    pub(super) fn error(&self) -> StoreError {
        match self {
            Self::Conflict => StoreError::Conflict,
            Self::Broken(why) => StoreError::Unreachable(why.clone()),
            Self::Unknown => StoreError::Unknown,
            Self::Failed(error) => error.clone(),
        }
    }

    fn of(error: &Error) -> Self {
        let Some(said) = error.as_db_error() else { return Self::Broken(causes(error)) };
        let code = said.code();
        // The detail may show values of a row and is left out.
        let text = format!("{} ({})", said.message(), code.code());
        match code.code() {
            // Serialisation failure, deadlock, no lock within its time.
            "40001" | "40P01" | "55P03" => Self::Conflict,
            "25006" => Self::Failed(StoreError::ReadOnly),
            "53100" => Self::Failed(StoreError::Full),
            // Connection exceptions, shutdown and start of the server, a transaction that idled, too many connections.
            known if known.starts_with("08") || known.starts_with("57P") || matches!(known, "25P03" | "53300") => {
                Self::Broken(text)
            }
            _ => Self::Failed(StoreError::Engine(text)),
        }
    }
}

pub(super) struct Link {
    address: Address,
    /// Nothing while it is being dropped.
    runtime: Option<Runtime>,
    client: Option<Client>,
    /// Whether the database has the lock and the settings with which groups take turns.
    takes_turns: bool,
    /// Whether the last attempt to connect, or to begin a transaction, reached the database.
    reached: watch::Sender<bool>,
}

impl Link {
    /// Reads the URL; connects to nothing yet.
    pub(super) fn new(url: &str) -> Result<Self, StoreError> {
        let mut address = Address::parse(url)?;
        address.config.connect_timeout(CONNECT);
        if address.config.get_application_name().is_none() {
            address.config.application_name("pg sandbox");
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Engine(format!("a runtime: {error}")))?;
        Ok(Self { address, runtime: Some(runtime), client: None, takes_turns: true, reached: watch::Sender::new(true) })
    }

    /// Whether groups take turns; where the database cannot do that, isolation alone keeps them apart.
    pub(super) const fn takes_turns(&self) -> bool {
        self.takes_turns
    }

    /// The database has refused to let groups take turns.
    pub(super) fn go_without_turns(&mut self) {
        self.takes_turns = false;
        self.drop_connection();
    }

    /// Tells whether the database is reached.
    pub(super) fn reach(&self) -> watch::Receiver<bool> {
        self.reached.subscribe()
    }

    fn note_reached(&self, reached: bool) {
        self.reached.send_if_modified(|known| std::mem::replace(known, reached) != reached);
    }

    /// Connects, unless it is connected.
    fn connect(&mut self) -> Result<(), Trouble> {
        if self.client.as_ref().is_some_and(|client| !client.is_closed()) {
            return Ok(());
        }
        let (config, tls) = (self.address.config.clone(), self.address.tls.clone());
        let connecting = async move {
            let (client, connection) = config.connect(tls).await?;
            // It ends with the client; its requests report the error.
            tokio::spawn(async move { drop(connection.await) });
            Ok(client)
        };
        let connected = self.run(connecting).map_err(|trouble| match trouble {
            Trouble::Broken(why) if why.contains("server does not support TLS") => {
                Trouble::Broken(why + self.address.advice)
            }
            other => other,
        });
        self.client = Some(connected?);
        self.note_reached(true);
        Ok(())
    }

    /// Forgets the connection; the next statement makes another one.
    pub(super) fn drop_connection(&mut self) {
        self.client = None;
    }

    /// Statements by the simple protocol, over a new connection if there is none.
    pub(super) fn simple(&mut self, text: &str) -> Result<Vec<SimpleQueryMessage>, Trouble> {
        self.connect()?;
        let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
        let done = self.run(client.simple_query(text));
        self.keep(client, done)
    }

    /// The same, but reconnects repeatedly while the database restarts. Only for statements that are safe to repeat.
    pub(super) fn insist(&mut self, text: &str) -> Result<Vec<SimpleQueryMessage>, Trouble> {
        let mut left = TRIES;
        loop {
            match self.simple(text) {
                Err(Trouble::Broken(_)) if left > 0 => {
                    left -= 1;
                    self.note_reached(false);
                    self.drop_connection();
                    self.pause();
                }
                done => return done,
            }
        }
    }

    /// One statement.
    pub(super) fn query(&mut self, text: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Trouble> {
        self.connect()?;
        let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
        let done = self.run(client.query_typed(text, values));
        self.keep(client, done)
    }

    /// Several statements and COMMIT, without waiting in between.
    pub(super) fn finish(&mut self, statements: &[(&str, Vec<Value<'_>>)]) -> Result<(), Trouble> {
        let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
        let all = async {
            let mut under_way: Vec<Sent<'_>> = Vec::new();
            for (text, values) in statements {
                under_way.push(Box::pin(async { client.query_typed(text, values).await.map(drop) }));
            }
            under_way.push(Box::pin(async { client.batch_execute("COMMIT").await }));
            in_order(under_way).await
        };
        let done = self.run(all);
        self.keep(client, done)
    }

    fn keep<T>(&mut self, client: Client, done: Result<T, Trouble>) -> Result<T, Trouble> {
        if !matches!(done, Err(Trouble::Broken(_))) {
            self.client = Some(client);
        }
        done
    }

    pub(super) fn pause(&self) {
        // There is no answer to wait for, only time.
        let _ = self.run(async { timeout(PAUSE, pending::<Result<(), Error>>()).await.unwrap_or(Ok(())) });
    }

    /// Waits for an answer. A runtime must not wait on a thread of another one: there a thread of its own does it.
    fn run<T: Send>(&self, work: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Trouble> {
        let Some(runtime) = &self.runtime else { return Err(Trouble::Broken("closed".to_owned())) };
        let within = async { timeout(PATIENCE, work).await };
        let answer = if Handle::try_current().is_err() {
            runtime.block_on(within)
        } else {
            let waited = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(within)).join());
            waited.map_err(|_| Trouble::Broken("a defect of the sandbox".to_owned()))?
        };
        match answer {
            Ok(done) => done.map_err(|error| Trouble::of(&error)),
            Err(_) => Err(Trouble::Broken(format!("no answer within {} seconds", PATIENCE.as_secs()))),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // A runtime must not wait for its end on a thread of another one.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Polls all of them in their order, so that each is sent before the next, and gives the first error.
async fn in_order(mut under_way: Vec<Sent<'_>>) -> Result<(), Error> {
    let mut first = Ok(());
    let mut done = vec![false; under_way.len()];
    poll_fn(|context| {
        for (future, done) in under_way.iter_mut().zip(&mut done).filter(|(_, done)| !**done) {
            if let Poll::Ready(result) = future.as_mut().poll(context) {
                *done = true;
                if first.is_ok() {
                    first = result;
                }
            }
        }
        if done.iter().all(|done| *done) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    first
}

/// The rows among the messages of simple statements.
pub(super) fn rows(messages: &[SimpleQueryMessage]) -> impl Iterator<Item = &tokio_postgres::SimpleQueryRow> {
    messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })
}

/// Bytes as PostgreSQL reads and writes them.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
