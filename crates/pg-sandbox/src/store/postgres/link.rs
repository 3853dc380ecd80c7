//! The blocking connection to the database.

use std::{
    collections::HashMap,
    future::{Future, pending, poll_fn},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use pg_connections::PostgresUrl;
use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::watch,
    time::timeout,
};
use tokio_postgres::{
    Client, Error, Row, SimpleQueryMessage, Statement as Named,
    types::{ToSql, Type},
};

use super::{
    super::{Halt, StoreError},
    direct::greeted_by,
    patience::Patience,
};

mod trouble;

pub(super) use trouble::Trouble;

/// How long the database may take to answer: longer than it may wait for a turn.
const ANSWER: Duration = Duration::from_secs(25);
/// How long it may take to accept a connection and greet.
const CONNECT: Duration = Duration::from_secs(5);
/// The pause between two attempts to connect: a restart of the database takes seconds.
const PAUSE: Duration = Duration::from_millis(250);

/// A value of a statement and its type. A statement with both for each value needs no name and no second round trip, as
/// connection poolers in transaction mode require.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// A statement and its values.
pub(super) type Statement<'a> = (&'a str, Vec<Value<'a>>);

/// A statement in progress.
type Sent<'a> = Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send + 'a>>;

/// The result of statements: messages of the simple protocol, rows of a query, or nothing.
enum Answer {
    Messages(Vec<SimpleQueryMessage>),
    Rows(Vec<Row>),
}

pub(super) struct Link {
    database: PostgresUrl,
    /// `None` while it is being dropped.
    runtime: Option<Runtime>,
    client: Option<Client>,
    /// Whether a transaction was begun and not ended: no other connection is in it.
    begun: bool,
    /// Whether the connection has its own server process, which keeps settings and named statements.
    direct: bool,
    /// Whether any connection may do so.
    may_be_direct: bool,
    /// The named statements of the connection, by their text.
    named: HashMap<String, Named>,
    /// Whether the database has the lock and the settings for queued groups.
    takes_turns: bool,
    /// Whether the last attempt to connect, or to begin a transaction, reached the database.
    reached: watch::Sender<bool>,
    /// Why the last attempt to connect failed.
    problem: String,
    /// Until when attempts of the current group may begin. Without it each attempt to begin has its own patience.
    patience: Option<Patience>,
    halt: Halt,
}

impl Link {
    /// Reads the URL. It does not connect yet.
    pub(super) fn new(url: &str) -> Result<Self, StoreError> {
        let mut runtime = Builder::new_current_thread();
        Self::over(url, runtime.enable_all())
    }

    fn over(url: &str, runtime: &mut Builder) -> Result<Self, StoreError> {
        let mut database = PostgresUrl::parse(url)
            .map_err(|invalid| StoreError::Unreachable(format!("its URL is invalid: {invalid}")))?;
        database.config.connect_timeout(CONNECT);
        if database.config.get_application_name().is_none() {
            database.config.application_name("pg sandbox");
        }
        let runtime = runtime.build().map_err(|error| StoreError::Engine(format!("a runtime: {error}")))?;
        Ok(Self {
            database,
            runtime: Some(runtime),
            client: None,
            begun: false,
            direct: false,
            may_be_direct: true,
            named: HashMap::new(),
            takes_turns: true,
            reached: watch::Sender::new(true),
            problem: "not connected".to_owned(),
            patience: None,
            halt: Halt::default(),
        })
    }

    /// Ends its waits together with those of another connection.
    pub(super) fn halted_by(mut self, halt: Halt) -> Self {
        self.halt = halt;
        self
    }

    /// Returns what ends all waits.
    pub(super) fn halt(&self) -> Halt {
        self.halt.clone()
    }

    /// Begins the patience of a group of requests, or of a task without a request.
    pub(super) fn begin_patience(&mut self, is_task: bool) {
        self.patience = self.inside(if is_task { Patience::of_task } else { Patience::of_requests });
    }

    /// Does work with the patience of a group of requests of its own.
    pub(super) fn with_own_patience<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let shared = self.patience.take();
        let done = work(self);
        self.patience = shared;
        done
    }

    /// Reads the clock of the runtime.
    fn inside<T>(&self, read: impl FnOnce() -> T) -> Option<T> {
        let _inside = self.runtime.as_ref()?.enter();
        Some(read())
    }

    /// Whether a patience lasts, as one of its conditions tells; none does once the process stops.
    fn lasts(&self, patience: Option<Patience>, is_lasting: fn(&Patience) -> bool) -> bool {
        let lasts = || patience.is_none_or(|patience| is_lasting(&patience));
        !self.halt.is_ended() && self.inside(lasts).unwrap_or(false)
    }

    /// Whether groups queue for the lock. If the database cannot do that, isolation alone separates them.
    pub(super) const fn takes_turns(&self) -> bool {
        self.takes_turns
    }

    /// Whether the connection keeps the settings of a transaction.
    pub(super) const fn is_direct(&self) -> bool {
        self.direct
    }

    /// Records that the database does not support the lock.
    pub(super) fn go_without_turns(&mut self) {
        self.takes_turns = false;
        self.drop_connection();
    }

    /// Records whether the database is reachable.
    pub(super) fn reach(&self) -> watch::Receiver<bool> {
        self.reached.subscribe()
    }

    fn note_reached(&self, reached: bool) {
        self.reached.send_if_modified(|known| std::mem::replace(known, reached) != reached);
    }

    fn is_connected(&self) -> bool {
        self.client.as_ref().is_some_and(|client| !client.is_closed())
    }

    /// Connects, unless it is connected. Over another connection, the rest of a transaction would run outside it.
    fn connect(&mut self) -> Result<(), Trouble> {
        if self.is_connected() {
            return Ok(());
        }
        if self.begun {
            return Err(Trouble::Broken("it closed the connection in the middle of a transaction".to_owned()));
        }
        // A connection that breaks late in a group, which waited for its turn, is replaced once.
        let was_reached = *self.reached.borrow();
        let condition = if was_reached { Patience::may_begin } else { Patience::may_connect };
        if !self.lasts(self.patience, condition) {
            return Err(Trouble::Broken(self.problem.clone()));
        }
        let connecting = async {
            let (client, connection) = self.database.connect().await?;
            // It ends with the client; its requests report the error.
            tokio::spawn(async move { drop(connection.await) });
            let direct = self.may_be_direct && leads_to_one_process(&client).await.unwrap_or(false);
            Ok((client, direct))
        };
        let connected = match self.run_within(CONNECT, connecting) {
            Ok((client, _)) if client.is_closed() => Err(Trouble::Broken("it closed the connection".to_owned())),
            Err(Trouble::Broken(why)) => {
                let advice = self.database.advice(&why);
                Err(Trouble::Broken(why + advice))
            }
            other => other,
        };
        if let Err(Trouble::Broken(why)) = &connected {
            self.problem.clone_from(why);
            self.note_reached(false);
        }
        let (client, direct) = connected?;
        self.named.clear();
        self.direct = direct;
        self.client = Some(client);
        self.note_reached(true);
        Ok(())
    }

    /// Names these statements on a direct connection, which then parses and plans each once instead of once for each
    /// group.
    fn name(&mut self, statements: &[Statement<'_>]) -> Result<(), Trouble> {
        let unknown = |(text, _): &&Statement<'_>| self.direct && !self.named.contains_key(*text);
        for (text, values) in statements.iter().filter(unknown).collect::<Vec<_>>() {
            let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
            let types: Vec<Type> = values.iter().map(|(_, of)| of.clone()).collect();
            let done = self.run(client.prepare_typed(text, &types));
            let named = self.keep(client, done)?;
            self.named.insert((*text).to_owned(), named);
        }
        Ok(())
    }

    /// Drops the connection; the next statement opens another one.
    pub(super) fn drop_connection(&mut self) {
        self.client = None;
        self.begun = false;
    }

    /// Begins a transaction and runs its first queries, as [`Link::insist_with`] does. The connection belongs to it until
    /// it ends.
    pub(super) fn begin_with(
        &mut self,
        text: &dyn Fn(&Self) -> String,
        queries: &[Statement<'_>],
    ) -> Result<(Vec<SimpleQueryMessage>, Vec<Vec<Row>>), Trouble> {
        let done = self.insist_with(text, queries)?;
        self.begun = true;
        Ok(done)
    }

    /// Runs the last statements of a transaction by the simple protocol, of which the very last is COMMIT or ROLLBACK.
    pub(super) fn end(&mut self, text: &str) -> Result<(), Trouble> {
        let done = self.simple(text);
        self.begun = false;
        done.map(drop)
    }

    /// Runs statements by the simple protocol, over a new connection if there is none.
    pub(super) fn simple(&mut self, text: &str) -> Result<Vec<SimpleQueryMessage>, Trouble> {
        self.connect()?;
        let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
        let done = self.run(client.simple_query(text));
        self.keep(client, done)
    }

    /// Runs statements that depend on the connection, and queries after them, without waiting in between. Returns the
    /// rows of each query. It reconnects repeatedly while the database restarts, as long as the patience lasts. Only for
    /// statements that are safe to repeat.
    pub(super) fn insist_with(
        &mut self,
        text: &dyn Fn(&Self) -> String,
        queries: &[Statement<'_>],
    ) -> Result<(Vec<SimpleQueryMessage>, Vec<Vec<Row>>), Trouble> {
        self.begun = false;
        if !self.lasts(self.patience, Patience::may_begin) {
            // Over a connection that works, only conflicts can have taken so long.
            let conflicts = self.is_connected() && !self.halt.is_ended();
            return Err(if conflicts { Trouble::Conflict } else { Trouble::Broken(self.problem.clone()) });
        }
        let patience = self.patience.or_else(|| self.inside(Patience::of_requests));
        loop {
            let done = self.simple_with(text, queries);
            let Err(Trouble::Broken(why)) = &done else { return done };
            self.problem.clone_from(why);
            self.note_reached(false);
            self.drop_connection();
            if !self.lasts(patience, Patience::may_connect) {
                return done;
            }
            self.pause();
        }
    }

    fn simple_with(
        &mut self,
        text: &dyn Fn(&Self) -> String,
        queries: &[Statement<'_>],
    ) -> Result<(Vec<SimpleQueryMessage>, Vec<Vec<Row>>), Trouble> {
        self.connect()?;
        self.name(queries)?;
        let text = text(self);
        let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
        let all = async {
            let mut under_way: Vec<Sent<'_>> =
                vec![Box::pin(async { client.simple_query(&text).await.map(Answer::Messages) })];
            under_way.extend(queries.iter().map(|query| sent(&client, &self.named, query)));
            in_order(under_way).await
        };
        let done = self.run(all);
        let answers = self.keep(client, done)?;
        let (mut messages, mut rows) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer {
                Answer::Messages(found) => messages = found,
                Answer::Rows(found) => rows.push(found),
            }
        }
        Ok((messages, rows))
    }

    /// Runs several queries without waiting in between. Returns the rows of each query.
    pub(super) fn queries(&mut self, queries: &[Statement<'_>]) -> Result<Vec<Vec<Row>>, Trouble> {
        self.connect()?;
        self.name(queries)?;
        let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
        let under_way = queries.iter().map(|query| sent(&client, &self.named, query)).collect();
        let done = self.run(in_order(under_way));
        let answers = self.keep(client, done)?;
        let rows = |answer| if let Answer::Rows(rows) = answer { rows } else { Vec::new() };
        Ok(answers.into_iter().map(rows).collect())
    }

    /// Runs one statement.
    pub(super) fn query(&mut self, text: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Trouble> {
        self.connect()?;
        let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
        let done = self.run(client.query_typed(text, values));
        self.keep(client, done)
    }

    /// Runs several statements and COMMIT, without waiting in between.
    pub(super) fn finish(&mut self, statements: &[Statement<'_>]) -> Result<(), Trouble> {
        self.begun = false;
        self.name(statements)?;
        let Some(client) = self.client.take() else { return Err(Trouble::Broken("not connected".to_owned())) };
        let all = async {
            let mut under_way: Vec<Sent<'_>> =
                statements.iter().map(|statement| sent(&client, &self.named, statement)).collect();
            under_way.push(Box::pin(async { client.simple_query("COMMIT").await.map(Answer::Messages) }));
            in_order(under_way).await
        };
        let done = self.run(all);
        self.keep(client, done).map(drop)
    }

    fn keep<T>(&mut self, client: Client, done: Result<T, Trouble>) -> Result<T, Trouble> {
        match done {
            Err(Trouble::Broken(_)) => {}
            Err(Trouble::Elsewhere) => self.may_be_direct = false,
            _ => self.client = Some(client),
        }
        done
    }

    pub(super) fn pause(&self) {
        // This only waits for time to pass, not for an answer.
        let _ = self.run(async { timeout(PAUSE, pending::<Result<(), Error>>()).await.unwrap_or(Ok(())) });
    }

    /// Waits for an answer.
    fn run<T: Send>(&self, work: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Trouble> {
        self.run_within(ANSWER, work)
    }

    /// Waits for an answer, for a limited time. A runtime must not wait on another runtime's thread, so a separate thread
    /// waits.
    fn run_within<T: Send>(
        &self,
        limit: Duration,
        work: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Trouble> {
        let Some(runtime) = &self.runtime else { return Err(Trouble::Broken("closed".to_owned())) };
        let stopping = || Trouble::Broken("the process stops".to_owned());
        if self.halt.is_ended() {
            return Err(stopping());
        }
        let within = async {
            tokio::select! {
                biased;
                done = timeout(limit, work) => match done {
                    Ok(done) => done.map_err(|error| Trouble::of(&error)),
                    Err(_) => Err(Trouble::Broken(format!("no answer within {} seconds", limit.as_secs()))),
                },
                () = self.halt.ended() => Err(stopping()),
            }
        };
        if Handle::try_current().is_err() {
            runtime.block_on(within)
        } else {
            let waited = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(within)).join());
            waited.map_err(|_| Trouble::Broken("a defect of the sandbox".to_owned()))?
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // A runtime must not wait for its end on another runtime's thread.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The settings of a direct connection. It uses indexes even while a table is small, since a plan is kept when the
/// table grows. It does not compile plans, which the cost of a disabled scan would cause for the one row of `store`.
/// The rest is what [`beginning`] otherwise sets for each transaction.
///
/// [`beginning`]: super::schema::beginning
const SETTINGS: &str = "SET enable_seqscan = off; SET jit = off; SET lock_timeout = '20s'; \
    SET idle_in_transaction_session_timeout = '20s'; SET synchronous_commit = on";

/// Whether the connection has its own server process, which then gets the settings; otherwise nothing is set.
async fn leads_to_one_process(client: &Client) -> Result<bool, Error> {
    let Some(greeted) = greeted_by(client).await else { return Ok(false) };
    let answering = client.simple_query("SELECT pg_backend_pid()").await?;
    if rows(&answering).find_map(|row| row.get(0)?.parse().ok()) != Some(greeted) {
        return Ok(false);
    }
    client.batch_execute(SETTINGS).await.map(|()| true)
}

/// Returns a query that is sent at its first poll.
fn sent<'a>(client: &'a Client, named: &'a HashMap<String, Named>, (text, values): &'a Statement<'_>) -> Sent<'a> {
    let Some(known) = named.get(*text) else {
        return Box::pin(async move { client.query_typed(text, values).await.map(Answer::Rows) });
    };
    let values: Vec<_> = values.iter().map(|(value, _)| *value).collect();
    Box::pin(async move { client.query(known, &values).await.map(Answer::Rows) })
}

/// Polls all futures in order, so that each statement is sent before the next. Returns the first error.
async fn in_order(mut under_way: Vec<Sent<'_>>) -> Result<Vec<Answer>, Error> {
    let mut answers: Vec<Option<Result<Answer, Error>>> = under_way.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, answer) in under_way.iter_mut().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
            if let Poll::Ready(result) = future.as_mut().poll(context) {
                *answer = Some(result);
            }
        }
        if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers.into_iter().flatten().collect()
}

/// The rows among the messages of simple statements.
pub(super) fn rows(messages: &[SimpleQueryMessage]) -> impl Iterator<Item = &tokio_postgres::SimpleQueryRow> {
    messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    })
}

/// Returns bytes in PostgreSQL's notation.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
