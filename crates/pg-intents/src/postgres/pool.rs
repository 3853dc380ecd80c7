//! A few connections to the database, replaced when they break.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pg_connections::{PostgresUrl, explain};
use tokio::{
    runtime::Handle,
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_postgres::{
    Row,
    error::SqlState,
    types::{ToSql, Type},
};

use super::{
    condition::{CONDITION, Refused, flaw},
    idle::{Connection, Idle},
    timeline::{TIMELINE, Timelines},
};
use crate::{StoreError, telemetry::DatabaseOperation};

/// The time limit of a statement, which detects a silent database.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The time limit of each server of an address, if one of them was refused: three of them, and the time of the driver, are within
/// [`PATIENCE`].
const EACH: Duration = Duration::from_secs(2);
const NO_ANSWER: &str = "no answer within 10 seconds";
/// The server's time limit of a statement, without its commit: a statement that waits for a lock ends before its caller gives up. No role has
/// just this value, so it shows whether the option has reached the server.
const LIMIT: &str = "-c statement_timeout=8001";
/// How long the place of a statement without an answer stays taken at least, if the server has the time limit. The driver notices a broken
/// connection earlier.
const HELD: Duration = Duration::from_secs(60);
/// How often a statement is repeated after a conflict with another statement.
const REPEATS: u32 = 5;

/// A value and its type: with both, a statement needs neither a name nor a second round trip, as PgBouncer in transaction mode
/// requires.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) struct Pool {
    /// With all hosts.
    address: Address,
    /// With one host each, and its name.
    hosts: Vec<(String, Address)>,
    /// Whether a pooler refuses or drops the time limit: it is an option of the connection.
    is_plain: AtomicBool,
    idle: Arc<Idle>,
    places: Arc<Semaphore>,
    timelines: Timelines,
    /// Whether each connection must find the whole store.
    needs_store: bool,
    /// The places that changes may have: one fewer, so that outcomes can be read while the commits of all changes wait for a synchronous
    /// standby.
    changing: Arc<Semaphore>,
    /// The connections without an answer whose places others may have. Their servers may still wait: more of them would in the end take
    /// every connection that the database has.
    silent: Arc<Semaphore>,
}

/// The address with the time limit of statements and without it.
struct Address {
    limited: PostgresUrl,
    plain: PostgresUrl,
}

impl Address {
    fn new(plain: PostgresUrl) -> Self {
        let mut limited = plain.clone();
        // The last of a repeated option counts: that of the URL.
        let options = plain.config.get_options().unwrap_or_default();
        limited.config.options(format!("{LIMIT} {options}"));
        Self { limited, plain }
    }
}

/// The place of a statement, and that of a change.
type Place = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

impl Pool {
    /// At least two connections.
    pub(super) fn new(database: PostgresUrl, connections: usize) -> Self {
        let connections = connections.max(2);
        let [places, changing, silent] =
            [connections, connections - 1, connections].map(|most| Arc::new(Semaphore::new(most)));
        let hosts = database.each_host().into_iter().map(|(name, host)| (name, Address::new(host))).collect();
        Self {
            address: Address::new(database),
            hosts,
            is_plain: AtomicBool::new(false),
            idle: Arc::default(),
            places,
            changing,
            silent,
            timelines: Timelines::default(),
            needs_store: false,
        }
    }

    /// From now on, each connection is refused unless it finds the whole store.
    pub(super) async fn need_store(&mut self) -> Result<(), StoreError> {
        self.needs_store = true;
        self.idle.doubt(self.idle.epoch());
        self.query("SELECT 1", &[]).await.map(drop)
    }

    /// Runs one statement, which is one transaction.
    pub(super) async fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let operation = DatabaseOperation::begin("postgresql", operation(sql));
        let result = self.repeat(sql, values).await;
        operation.end(&result);
        result
    }

    async fn repeat(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        let mut left = REPEATS;
        let mut may_read_again = operation(sql) == Some("SELECT");
        loop {
            let failed = match self.attempt(sql, values).await {
                Ok(rows) => return Ok(rows),
                Err(Failed::Lost(error)) => error,
                // The server ended the connection, for example when it restarted; there may be others.
                Err(Failed::Broken(error)) => {
                    if std::mem::take(&mut may_read_again) {
                        continue;
                    }
                    error
                }
                Err(Failed::Conflict(error)) => {
                    left -= 1;
                    if left > 0 {
                        continue;
                    }
                    error
                }
            };
            return Err(StoreError::Unavailable(failed));
        }
    }

    async fn attempt(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failed> {
        let mut silent_epoch = None;
        let work = async {
            let place = self.place(sql).await.map_err(|_| Failed::Lost("the connection pool is closed".to_owned()))?;
            let connection = match self.idle.take() {
                Some(connection) => connection,
                // Its future is large, and would be part of that of every call.
                None => Arc::new(Box::pin(self.connect()).await.map_err(Failed::Lost)?),
            };
            let held = if self.is_plain.load(Ordering::Relaxed) { PATIENCE } else { HELD };
            let mut running = Running {
                connection: Arc::clone(&connection),
                place: Some(place),
                idle: Arc::clone(&self.idle),
                silent: Arc::clone(&self.silent),
                held,
            };
            let mut asked = pin!(running.connection.client.query_typed(sql, values));
            let rows = match timeout(PATIENCE / 2, &mut asked).await {
                Ok(rows) => rows,
                Err(_) => {
                    silent_epoch = Some(connection.epoch);
                    asked.await
                }
            };
            let _place = running.place.take();
            let rows = rows.map_err(|error| {
                let is_broken = connection.client.is_closed() || leads_elsewhere(&error);
                // Statements also reach their time limit at the primary of before a failover, where commits wait for ever.
                if is_broken || error.code() == Some(&SqlState::QUERY_CANCELED) {
                    self.idle.doubt(connection.epoch);
                }
                if is_broken { Failed::Broken(explain(&error)) } else { Failed::of(&error) }
            });
            self.idle.keep(connection);
            rows
        };
        let answered = timeout(PATIENCE, work).await;
        answered.unwrap_or_else(|_| {
            // A statement that waited for its place for most of the time says nothing about its server. If it closed connections, a
            // burst of statements would make the pool connect for ever.
            if let Some(epoch) = silent_epoch {
                self.idle.doubt(epoch);
            }
            Err(Failed::Lost(NO_ANSWER.to_owned()))
        })
    }

    async fn place(&self, sql: &str) -> Result<Place, AcquireError> {
        let changing = match operation(sql) {
            Some("SELECT") => None,
            _ => Some(Arc::clone(&self.changing).acquire_owned().await?),
        };
        Ok((Arc::clone(&self.places).acquire_owned().await?, changing))
    }

    /// Runs the statements of a migration by the simple protocol.
    pub(super) async fn execute(&self, sql: &str) -> Result<(), StoreError> {
        let connection = self.connect().await.map_err(StoreError::Unavailable)?;
        connection.client.batch_execute(sql).await.map_err(|error| StoreError::Unavailable(explain(&error)))
    }

    async fn connect(&self) -> Result<Connection, String> {
        let named = |why| {
            let hosts: Vec<&str> = self.hosts.iter().map(|(host, _)| &**host).collect();
            format!("{}: {why}", hosts.join(" or "))
        };
        match self.connect_to(&self.address).await {
            Ok(connection) => return Ok(connection),
            Err(Refused::Away(error)) => return Err(error),
            Err(Refused::Unfit(why)) if self.hosts.len() == 1 => return Err(named(why)),
            Err(Refused::Unfit(_)) => {}
            Err(Refused::Unsafe(why)) => return Err(named(why)),
        }
        // The server is one of several, and the driver has not tried those behind it.
        let mut errors = Vec::new();
        for (host, address) in &self.hosts {
            let tried = timeout(EACH, self.connect_to(address)).await;
            let (is_last, why) =
                match tried.unwrap_or_else(|_| Err(Refused::Away("no answer within 2 seconds".to_owned()))) {
                    Ok(connection) => return Ok(connection),
                    Err(Refused::Away(why)) => (false, why),
                    Err(Refused::Unfit(why)) => {
                        tracing::warn!(target: "pg.fleet", host, why, "a server of the store is not used");
                        (false, why)
                    }
                    Err(Refused::Unsafe(why)) => (true, why),
                };
            errors.push(format!("{host}: {why}"));
            if is_last {
                break;
            }
        }
        Err(errors.join("; "))
    }

    async fn connect_to(&self, address: &Address) -> Result<Connection, Refused> {
        let epoch = self.idle.epoch();
        let is_plain = self.is_plain.load(Ordering::Relaxed);
        let mut connected = in_time((if is_plain { &address.plain } else { &address.limited }).connect()).await?;
        if !is_plain && connected.as_ref().is_err_and(may_refuse_options) {
            connected = in_time(address.plain.connect()).await?;
            self.is_plain.store(connected.is_ok(), Ordering::Relaxed);
        }
        let (client, connection) = connected.map_err(|error| {
            let why = explain(&error);
            format!("{why}{}", address.plain.advice(&why))
        })?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(target: "pg.fleet", error = explain(&error), "a connection to the database broke");
            }
        });
        let is_promoted = match in_time(client.query_typed(CONDITION, &[])).await? {
            Ok(rows) => {
                let flaw = rows.first().and_then(|row| flaw(row, self.needs_store));
                if let Some(standby @ Refused::Unfit(_)) = flaw {
                    return Err(standby);
                }
                // A pooler may also accept the option and drop it.
                if rows.first().is_some_and(|row| row.try_get(3).unwrap_or(false)) {
                    self.is_plain.store(true, Ordering::Relaxed);
                }
                let timeline = in_time(client.query_typed(TIMELINE, &[])).await?;
                if let Err(error) = &timeline
                    && error.as_db_error().is_none()
                {
                    return Err(explain(error).into());
                }
                let is_promoted = self.timelines.see(timeline, flaw.is_none()).map_err(Refused::Unfit)?;
                if let Some(flaw) = flaw {
                    return Err(flaw);
                }
                is_promoted
            }
            // Not every database with PostgreSQL's protocol has standbys, or can run this statement.
            Err(error) if error.code().is_some_and(|code| UNKNOWN.contains(code)) => false,
            Err(error) => return Err(explain(&error).into()),
        };
        // The others may lead to the old primary.
        if is_promoted {
            self.idle.doubt(self.idle.epoch());
        }
        Ok(Connection { client, epoch: epoch + u64::from(is_promoted) })
    }
}

/// A statement in progress. If its caller gives up, its place stays taken until it ends: the server goes on with it, for example with
/// waiting for a lock, and one more connection in its place would wait for the same.
///
/// It is not cancelled. A commit that waits for a synchronous standby would then become visible without being on the standby: for
/// example, a customer would get a page that the standby does not know after a failover.
struct Running {
    connection: Arc<Connection>,
    place: Option<Place>,
    idle: Arc<Idle>,
    silent: Arc<Semaphore>,
    held: Duration,
}

impl Drop for Running {
    fn drop(&mut self) {
        let (Some(place), Ok(runtime)) = (self.place.take(), Handle::try_current()) else { return };
        let (connection, idle, silent, held) =
            (Arc::clone(&self.connection), Arc::clone(&self.idle), Arc::clone(&self.silent), self.held);
        runtime.spawn(async move {
            // The server answers in order.
            let mut answered = Box::pin(connection.client.query_typed("SELECT 1", &[]));
            let is_usable = if let Ok(answered) = timeout(held, &mut answered).await {
                answered.is_ok()
            } else if let Ok(_silent) = silent.try_acquire() {
                drop(place);
                // Its place has another connection now, so this one is closed after its answer.
                let _ = answered.await;
                return;
            } else {
                answered.await.is_ok()
            };
            if is_usable {
                idle.keep(Arc::clone(&connection));
            }
            drop(place);
        });
    }
}

/// The driver's time limit covers connecting, but not the server's first response.
async fn in_time<T>(work: impl Future<Output = T>) -> Result<T, String> {
    timeout(PATIENCE, work).await.map_err(|_| NO_ANSWER.to_owned())
}

/// Returns whether a connection may have been refused because of its options: not for its user (class 28), its database (3D), the number
/// of connections (53), or because the server shuts down or starts (57).
fn may_refuse_options(error: &tokio_postgres::Error) -> bool {
    let others = ["28", "3D", "53", "57"];
    error.as_db_error().is_some_and(|said| !others.iter().any(|class| said.code().code().starts_with(class)))
}

/// How other databases with PostgreSQL's protocol refuse a statement that PostgreSQL can run.
const UNKNOWN: [SqlState; 3] =
    [SqlState::UNDEFINED_FUNCTION, SqlState::FEATURE_NOT_SUPPORTED, SqlState::DATATYPE_MISMATCH];

/// Returns whether only a new connection shows what to do: it may lead to another server after this one has become a standby or was made
/// read-only (25006), shuts down, or is about to start (class 57, in which only a cancelled statement says nothing about the server); and it
/// names the right that the role lacks (42501), or the table that it does not find whole (42P01, 42703).
fn leads_elsewhere(error: &tokio_postgres::Error) -> bool {
    let codes = ["25006", "42501", "42P01", "42703"];
    error.code().is_some_and(|code| {
        codes.contains(&code.code()) || code.code().starts_with("57") && *code != SqlState::QUERY_CANCELED
    })
}

/// Returns the first verb of a statement.
fn operation(sql: &str) -> Option<&'static str> {
    let verbs = ["INSERT", "UPDATE", "DELETE", "SELECT"];
    sql.split(|c: char| !c.is_ascii_alphabetic()).find_map(|word| verbs.into_iter().find(|verb| *verb == word))
}

enum Failed {
    Lost(String),
    /// The connection broke, or leads to a server that does not serve.
    Broken(String),
    /// Two transactions conflicted, and this transaction was rolled back.
    Conflict(String),
}

impl Failed {
    fn of(error: &tokio_postgres::Error) -> Self {
        let conflict = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
        match error.code() {
            Some(code) if conflict.contains(code) => Self::Conflict(explain(error)),
            _ => Self::Lost(explain(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use pg_stores::Postgres;
    use tokio::net::TcpListener;

    use super::*;

    /// Virtual time: it passes only while nothing else can happen.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_accepts_and_never_answers_ends_a_migration() {
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("postgres://shop@{}/shop?sslmode=require", silent.local_addr().unwrap());
        let pool = Pool::new(PostgresUrl::parse(&url).unwrap(), 1);
        let ended = timeout(Duration::from_secs(3_600), pool.execute("SELECT 1")).await;
        let error = ended.expect("it does not wait for ever").unwrap_err();
        assert!(error.to_string().contains(NO_ANSWER), "{error}");
    }

    #[tokio::test]
    async fn a_time_limit_of_the_role_is_not_taken_for_the_option_of_the_connection() {
        let Some(server) = Postgres::for_one_test(&[]) else { return };
        server.psql("postgres", "ALTER ROLE pg SET statement_timeout = '8s'").unwrap();
        let url = PostgresUrl::parse(&server.url("postgres")).unwrap();
        let mut pool = Pool::new(url.clone(), 2);
        pool.query("SELECT 1", &[]).await.unwrap();
        assert!(!pool.is_plain.load(Ordering::Relaxed));
        // As through a pooler that drops options.
        let address = Address { limited: url.clone(), plain: url.clone() };
        pool = Pool { address, ..Pool::new(url, 2) };
        pool.query("SELECT 1", &[]).await.unwrap();
        assert!(pool.is_plain.load(Ordering::Relaxed));
    }

    /// While the old primary still runs, a statement may be in progress there when the promotion is noticed.
    #[tokio::test]
    async fn connections_from_before_a_promotion_are_not_used_again() {
        let Some(server) = Postgres::for_one_test(&[]) else { return };
        let pool = Pool::new(PostgresUrl::parse(&server.url("postgres")).unwrap(), 4);
        let backend = async || -> i32 { pool.query("SELECT pg_backend_pid()", &[]).await.unwrap()[0].get(0) };
        let old = backend().await;
        assert_eq!(backend().await, old);
        pool.idle.doubt(pool.idle.epoch());
        let new = backend().await;
        assert_ne!(new, old);
        assert_eq!(backend().await, new);

        // The server of the next connection was promoted since then.
        pool.timelines.predate();
        let promoted = Arc::new(pool.connect().await.unwrap());
        let row = promoted.client.query_typed("SELECT pg_backend_pid()", &[]).await.unwrap();
        pool.idle.keep(promoted);
        assert_eq!(backend().await, row[0].get::<_, i32>(0));
    }

    /// Virtual time. Connections are opened before it begins.
    #[tokio::test]
    async fn statements_without_an_answer_take_at_most_twice_the_connections() {
        let Some(server) = Postgres::for_one_test(&[]) else { return };
        let pool = Pool::new(PostgresUrl::parse(&server.url("postgres")).unwrap(), 2);
        let mut connections = Vec::new();
        for _ in 0..6 {
            connections.push(pool.connect().await.unwrap().client);
        }
        tokio::time::pause();
        for client in connections {
            pool.idle.keep(Arc::new(Connection { client, epoch: pool.idle.epoch() }));
            let error = pool.query("SELECT pg_sleep(8)", &[]).await.unwrap_err();
            assert!(error.to_string().contains(NO_ANSWER), "{error}");
            let _ = timeout(HELD, std::future::pending::<()>()).await;
        }
        // A statement that got no place does not close them: a burst would make the pool connect for ever.
        let unused = std::iter::from_fn(|| pool.idle.take()).count();
        assert_eq!(unused, 2, "four of six wait: two have places, two have lost theirs");
        assert_eq!((pool.places.available_permits(), pool.silent.available_permits()), (0, 0));
        tokio::time::resume();
        // Every statement ends, and every place is free again.
        let _places = pool.places.acquire_many(2).await.unwrap();
        let _silent = pool.silent.acquire_many(2).await.unwrap();
        assert!(pool.idle.take().is_none(), "none is used again without a check");
    }

    #[tokio::test]
    async fn a_server_that_is_refused_is_not_taken_for_the_present_primary() {
        let Some(server) = Postgres::for_one_test(&["-c", "fsync=off"]) else { return };
        let pool = Pool::new(PostgresUrl::parse(&server.url("postgres")).unwrap(), 2);
        let refused = pool.query("SELECT 1", &[]).await.unwrap_err();
        let name = format!("127.0.0.1:{}: the database acknowledges", server.port());
        assert!(refused.to_string().contains(&name) && refused.to_string().contains("fsync is off"), "{refused}");
        assert!(pool.timelines.is_empty());

        let Some(fit) = Postgres::for_one_test(&[]) else { return };
        let both = format!("postgres://pg@127.0.0.1:{},127.0.0.1:{}/postgres", server.port(), fit.port());
        let pool = Pool::new(PostgresUrl::parse(&both).unwrap(), 2);
        // The other one may be the primary of before a failover.
        let refused = pool.query("SELECT 1", &[]).await.unwrap_err();
        assert!(refused.to_string().contains("fsync is off"), "{refused}");
    }
}
