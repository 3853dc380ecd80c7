//! A few connections to the database, replaced when they break.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use pg_connections::{PostgresUrl, explain};
use tokio::{sync::Semaphore, time::timeout};
use tokio_postgres::{
    Client, Row,
    error::SqlState,
    types::{ToSql, Type},
};

use crate::{StoreError, telemetry::DatabaseOperation};

/// The time limit of a statement, which detects a silent database.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
const NO_ANSWER: &str = "no answer within 10 seconds";
const STANDBY: &str = "the database is read-only: it is a standby; connect to the primary";
/// Whether a server is a standby, from which reads may be late.
const IS_STANDBY: &str = "SELECT pg_is_in_recovery()";
/// How often a statement is repeated after a conflict with another statement.
const REPEATS: u32 = 5;

/// A value and its type: with both, a statement needs neither a name nor a second round trip, as PgBouncer in transaction mode
/// requires.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) struct Pool {
    database: PostgresUrl,
    idle: Mutex<Vec<Client>>,
    places: Semaphore,
}

impl Pool {
    pub(super) fn new(database: PostgresUrl, connections: usize) -> Self {
        Self { database, idle: Mutex::default(), places: Semaphore::new(connections.max(1)) }
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
        loop {
            let failed = match self.attempt(sql, values).await {
                Ok(rows) => return Ok(rows),
                Err(Failed::Lost(error)) => error,
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
        let work = async {
            let _place =
                self.places.acquire().await.map_err(|_| Failed::Lost("the connection pool is closed".to_owned()))?;
            let idle = loop {
                let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                if idle.as_ref().is_none_or(|client| !client.is_closed()) {
                    break idle;
                }
            };
            let client = match idle {
                Some(client) => client,
                None => self.connect().await.map_err(Failed::Lost)?,
            };
            let rows = client.query_typed(sql, values).await;
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            match &rows {
                // After a failover, the other connections may also lead to the old server.
                Err(error) if client.is_closed() || leads_elsewhere(error) => idle.clear(),
                // After other errors from the server the connection is still usable.
                _ => idle.push(client),
            }
            drop(idle);
            rows.map_err(|error| Failed::of(&error))
        };
        timeout(PATIENCE, work).await.unwrap_or_else(|_| Err(Failed::Lost(NO_ANSWER.to_owned())))
    }

    /// Runs the statements of a migration by the simple protocol.
    pub(super) async fn execute(&self, sql: &str) -> Result<(), StoreError> {
        let client = self.connect().await.map_err(StoreError::Unavailable)?;
        client.batch_execute(sql).await.map_err(|error| StoreError::Unavailable(explain(&error)))
    }

    async fn connect(&self) -> Result<Client, String> {
        // The driver's time limit covers connecting, but not the server's first response.
        let connected = timeout(PATIENCE, self.database.connect()).await.map_err(|_| NO_ANSWER.to_owned())?;
        let (client, connection) = connected.map_err(|error| {
            let why = explain(&error);
            format!("{why}{}", self.database.advice(&why))
        })?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(target: "pg.fleet", error = explain(&error), "a connection to the database broke");
            }
        });
        let asked = timeout(PATIENCE, client.query_typed(IS_STANDBY, &[])).await.map_err(|_| NO_ANSWER.to_owned())?;
        match asked {
            Ok(rows) if rows.first().is_some_and(|row| row.try_get(0).unwrap_or(false)) => Err(STANDBY.to_owned()),
            Ok(_) => Ok(client),
            // Not every database with PostgreSQL's protocol has standbys.
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) => Ok(client),
            Err(error) => Err(explain(&error)),
        }
    }
}

/// Returns whether another connection may lead to a server that does what this one does not: this one has become a standby or was made
/// read-only (25006), shuts down, or is about to start (class 57).
fn leads_elsewhere(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| *code == SqlState::READ_ONLY_SQL_TRANSACTION || code.code().starts_with("57"))
}

/// Returns the first verb of a statement.
fn operation(sql: &str) -> Option<&'static str> {
    let verbs = ["INSERT", "UPDATE", "DELETE", "SELECT"];
    sql.split(|c: char| !c.is_ascii_alphabetic()).find_map(|word| verbs.into_iter().find(|verb| *verb == word))
}

enum Failed {
    Lost(String),
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
}
