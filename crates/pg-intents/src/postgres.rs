//! The store for many machines: PostgreSQL, and databases that speak its protocol.

use std::{cmp::Ordering, time::Duration};

use pg_connections::{PostgresUrl, explain};
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

use self::{
    condition::loses_commits,
    listener::Listener,
    migrations::newest,
    pool::{PATIENCE, Pool, Value},
    statements as sql,
};
use crate::{
    Begun, Claimed, Directive, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow,
    IntentStatus, IntentStore, NewIntent, RewritableStore, ShareWish, StoreError,
    store::{EVENTS, millis},
};

mod condition;
mod idle;
mod listener;
mod migrations;
mod pool;
mod statements;
mod timeline;

pub use self::migrations::POSTGRES_MIGRATIONS;

/// How long the database may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The number of connections of one process.
const CONNECTIONS: usize = 8;
/// How often a beginning is repeated because its row is in use and is not found.
const ROUNDS: u32 = 5;

/// Intents in PostgreSQL, or in a database that speaks its protocol.
///
/// Every change is one unnamed statement, one transaction and one round trip, so that it works through PgBouncer in transaction
/// mode. `LISTEN` does not work there: without [`listening`](Self::listening) workers poll.
pub struct PostgresStore {
    pool: Pool,
    listener: Option<Listener>,
    /// Whether the database has notifications. CockroachDB has none, and refuses statements that name `pg_notify`.
    notifies: bool,
}

impl PostgresStore {
    /// Connects to `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=FILE`. With TLS, the
    /// certificate and its host name are always checked, even with `sslmode=require`: against the authorities in
    /// `sslrootcert`, or without it against those that Mozilla trusts. Beyond this machine, TLS is required unless the
    /// address says `sslmode=disable`. On this machine, TLS is used only if the address says so.
    ///
    /// # Errors
    /// [`StoreError::Older`] if the migrations were not run, [`StoreError::Newer`] if a later version created the
    /// tables, [`StoreError::Foreign`] if another program created them, [`StoreError::Elsewhere`] if they are in a schema
    /// that is not searched, [`StoreError::Unavailable`] if the database cannot be reached, is read-only, acknowledges
    /// commits that it can lose, has an encoding other than UTF8, or denies the role a right or a table that a statement needs.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let mut store = Self::at(url)?;
        let (found, known) = (store.found().await?.version, newest());
        match found.cmp(&known) {
            Ordering::Greater => Err(StoreError::Newer { found, known }),
            Ordering::Less => Err(StoreError::Older { found, known }),
            Ordering::Equal => {
                store.pool.need_store().await?;
                Ok(store)
            }
        }
    }

    /// Runs the missing migrations, then connects. The tables are created in the schema that already has the store, or in the first one that
    /// the role searches.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), and [`StoreError::Unavailable`] if another session has locked the tables for seconds.
    pub async fn migrate(url: &str) -> Result<Self, StoreError> {
        let mut store = Self::at(url)?;
        let found = store.found().await?;
        // The version is read again after an error: another process may have migrated first.
        if let Err(error) = migrations::run(&store.pool, found.version, found.schema.as_deref()).await
            && store.found().await?.version != newest()
        {
            return Err(error);
        }
        Self::connect(url).await
    }

    /// Wakes workers by `LISTEN`, over a separate connection to this address: the address of the database itself, not
    /// of PgBouncer in transaction mode. When that connection breaks, workers poll until it is restored. A database
    /// without notifications, such as CockroachDB, is polled.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn listening(mut self, url: &str) -> Result<Self, StoreError> {
        let database = parsed(url)?;
        if self.notifies {
            self.listener = Some(Listener::start(database));
        }
        Ok(self)
    }

    fn at(url: &str) -> Result<Self, StoreError> {
        Ok(Self { pool: Pool::new(parsed(url)?, CONNECTIONS), listener: None, notifies: true })
    }

    /// Reads what is in the database.
    async fn found(&mut self) -> Result<Found, StoreError> {
        let rows = self.query(sql::FITNESS, &[]).await?;
        let row = rows.first().ok_or_else(|| StoreError::Unavailable("the database returned no row".to_owned()))?;
        let (commit, fsync): (String, String) = (get(row, 1)?, get(row, 2)?);
        self.notifies = get(row, 5)?;
        if get::<bool>(row, 0)? {
            return Err(StoreError::Unavailable(
                "the database is read-only, perhaps a standby; connect to the primary".to_owned(),
            ));
        }
        if let Some(why) = loses_commits(&commit, &fsync) {
            return Err(StoreError::Unavailable(why));
        }
        match (get::<bool>(row, 3)?, get::<bool>(row, 4)?) {
            (false, false) => {
                return match get(row, 6)? {
                    Some(schema) => Err(StoreError::Elsewhere { schema }),
                    None => Ok(Found { version: 0, schema: None }),
                };
            }
            (false, true) => {
                return Err(StoreError::Foreign(
                    "the table payment_intents was not created by this program".to_owned(),
                ));
            }
            (true, _) => {}
        }
        let schema = get(row, 7)?;
        let rows = self.query(sql::MADE_BY, &[]).await?;
        let made = match &rows[..] {
            [row] if get::<Option<&str>>(row, 0)? == Some("pg-intents") => get::<Option<&str>>(row, 1)?,
            _ => None,
        };
        let version = made.and_then(|version| version.parse().ok());
        let foreign = || StoreError::Foreign("the table payment_store was not created by this program".to_owned());
        Ok(Found { version: version.ok_or_else(foreign)?, schema })
    }

    async fn query(&self, statement: &str, values: &[Value<'_>]) -> Result<Vec<Row>, StoreError> {
        if self.notifies {
            return self.pool.query(statement, values).await;
        }
        self.pool.query(&statement.replace(sql::NOTIFY, "NULL::text"), values).await
    }

    async fn changed_one(&self, statement: &str, values: &[Value<'_>]) -> Result<(), StoreError> {
        match &self.query(statement, values).await?[..] {
            [] => Err(StoreError::Lost),
            _ => Ok(()),
        }
    }

    async fn intents(&self, statement: &str, values: &[Value<'_>]) -> Result<Vec<IntentRow>, StoreError> {
        self.query(statement, values).await?.iter().map(intent).collect()
    }
}

/// What is in a database.
struct Found {
    /// The version of the tables; 0 if there are none.
    version: i32,
    /// The schema of `payment_store`, quoted.
    schema: Option<String>,
}

/// Returns the URL with the settings that all connections of a store have.
fn parsed(url: &str) -> Result<PostgresUrl, StoreError> {
    let invalid = |why| StoreError::Unavailable(format!("the address of the database is invalid: {why}"));
    let mut database = PostgresUrl::parse(url).map_err(invalid)?;
    let config = &mut database.config;
    config.application_name("pg-intents").connect_timeout(CONNECT);
    // A server that has gone without a word ends its connections; the URL may say otherwise.
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(PATIENCE).keepalives_idle(PATIENCE / 2).keepalives_interval(PATIENCE / 5);
    }
    Ok(database)
}

fn get<'a, V: tokio_postgres::types::FromSql<'a>>(row: &'a Row, at: usize) -> Result<V, StoreError> {
    row.try_get(at).map_err(|error| StoreError::Unreadable(explain(&error)))
}

fn intent(row: &Row) -> Result<IntentRow, StoreError> {
    Ok(IntentRow {
        key: IntentKey { account: get(row, 0)?, reference: get(row, 1)? },
        kind: get(row, 2)?,
        digest: get(row, 3)?,
        request: get(row, 4)?,
        state: get(row, 5)?,
        status: IntentStatus::of(get(row, 6)?),
        fence: get(row, 7)?,
        owner: get(row, 8)?,
        due: get(row, 9)?,
        claims: get(row, 10)?,
        outcome: get(row, 11)?,
        event: get(row, 12)?,
        told: get(row, 13)?,
        created: get(row, 14)?,
        changed: get(row, 15)?,
        history: get(row, 16)?,
        version: get(row, 17)?,
        asks: get(row, 18)?,
        inbox: get(row, 19)?,
        lookups: get(row, 20)?,
        read_at: get(row, 21)?,
    })
}

fn text<V: ToSql + Sync>(value: &V) -> Value<'_> {
    (value, Type::TEXT)
}

fn big(value: &(dyn ToSql + Sync)) -> Value<'_> {
    (value, Type::INT8)
}

fn int(value: &(dyn ToSql + Sync)) -> Value<'_> {
    (value, Type::INT4)
}

fn small(value: &(dyn ToSql + Sync)) -> Value<'_> {
    (value, Type::INT2)
}

/// Splits kinds and versions into two arrays.
fn known(kinds: &[IntentKind]) -> (Vec<&str>, Vec<i32>) {
    kinds.iter().map(|kind| (&*kind.name, kind.version)).unzip()
}

/// Returns the first four values of a statement on a held row.
fn held(hold: &IntentLease) -> [Value<'_>; 4] {
    [text(&hold.key.account), text(&hold.key.reference), big(&hold.fence), text(&hold.owner)]
}

impl IntentStore for PostgresStore {
    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        let rows = self.query(sql::ENLIST, &[]).await?;
        let row = rows.first().ok_or_else(|| StoreError::Foreign("payment_store is empty".to_owned()))?;
        Ok(format!("{name}#{}", get::<i64>(row, 0)?))
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        let lease = if new.owner.is_some() { millis(new.lease) } else { 0 };
        let NewIntent { key, kind, digest, request, state, version, owner, .. } = &new;
        let values = [
            text(&key.account),
            text(&key.reference),
            text(kind),
            text(digest),
            text(request),
            text(state),
            text(owner),
            big(&lease),
            int(version),
        ];
        // A conflicting row was deleted meanwhile, which only an administrator can do.
        for _ in 0..ROUNDS {
            if !self.query(sql::BEGIN, &values).await?.is_empty() {
                return Ok(Begun::New);
            }
            if let Some(existing) = self.find(key).await? {
                return Ok(Begun::Existing(Box::new(existing)));
            }
        }
        Err(StoreError::Unreadable(
            "the reference is in use by a row that this role cannot see, perhaps because of row-level security"
                .to_owned(),
        ))
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        let [a, b, c, d] = held(hold);
        self.changed_one(sql::SAVE, &[a, b, c, d, text(&state), big(&millis(lease))]).await
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        let [a, b, c, d] = held(hold);
        self.changed_one(sql::RENEW, &[a, b, c, d, big(&millis(lease))]).await
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        let [a, b, c, d] = held(hold);
        self.changed_one(sql::RELEASE, &[a, b, c, d, big(&millis(wake))]).await
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        let [a, b, c, d] = held(hold);
        let (status, wake, what) = (end.status.code(), end.wake.map(millis), end.status.name());
        let quiet = millis(end.quiet);
        let (state, outcome, heard) = (text(&end.state), text(&end.outcome), int(&end.heard));
        let values = [a, b, c, d, small(&status), state, outcome, big(&wake), text(&what), heard, big(&quiet)];
        let rows = self.query(sql::END, &values).await?;
        let events: i32 = get(rows.first().ok_or(StoreError::Lost)?, 0)?;
        // The end is stored even if this fails: acknowledging the outcome removes the remaining events.
        if events > 0
            && end.status == IntentStatus::Ended
            && let Err(error) = self.query(sql::DRAIN, &[text(&hold.key.account), text(&hold.key.reference)]).await
        {
            tracing::debug!(target: "pg.fleet", %error, "events of an ended intent stay until its outcome is acknowledged");
        }
        Ok(())
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        let (lease, most, (names, versions)) = (millis(lease), i64::from(most), known(kinds));
        let (names, versions) = ((&names as _, Type::TEXT_ARRAY), (&versions as _, Type::INT4_ARRAY));
        let values = [text(&owner), big(&lease), names, versions, text(&account), big(&most)];
        self.intents(&[sql::CLAIM, sql::COLUMNS].concat(), &values).await
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        let [a, b, c, d] = held(hold);
        let wake = millis(rest.wake);
        let values = [a, b, c, d, text(&rest.state), text(&rest.asks), int(&rest.heard), big(&wake)];
        self.changed_one(sql::REST, &values).await
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        let [account, reference] = [&key.account, &key.reference];
        let rows = self.query(sql::DELIVER, &[text(account), text(reference), text(&event)]).await?;
        let Some(row) = rows.first() else { return Ok(false) };
        let (number, each) = (get::<i32>(row, 1)?, i64::from(EVENTS / 2));
        if number > 1 {
            let values = [text(account), text(reference), int(&number), text(&event), big(&each)];
            self.query(sql::TRIM, &values).await?;
        }
        Ok(true)
    }

    async fn events(&self, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        let rows = self.query(sql::EVENTS, &[text(&key.account), text(&key.reference), int(&after)]).await?;
        rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect()
    }

    /// Connections may lead to different servers while a failover goes on.
    async fn events_of(&self, hold: &IntentLease, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        let [account, reference, ..] = held(hold);
        let rows = self.query(sql::EVENTS_OF, &[account, reference, int(&after)]).await?;
        let fence = rows.first().map_or(Ok(0), |row| get::<i64>(row, 0))?;
        if fence < hold.fence {
            return Err(StoreError::Unavailable("this server is behind the one that made the claim".to_owned()));
        }
        let mut events = Vec::with_capacity(rows.len());
        for row in &rows {
            if let Some(number) = get(row, 1)? {
                events.push((number, get(row, 2)?));
            }
        }
        Ok(events)
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        let (lease, (names, versions)) = (millis(lease), known(kinds));
        let (names, versions) = ((&names as _, Type::TEXT_ARRAY), (&versions as _, Type::INT4_ARRAY));
        let values = [text(&owner), big(&lease), names, versions, text(&key.account), text(&key.reference)];
        if let Some(taken) = self.intents(&[sql::CLAIM_ONE, sql::COLUMNS].concat(), &values).await?.pop() {
            return Ok(Some(Claimed::Taken(Box::new(taken))));
        }
        Ok(self.find(key).await?.map(|found| Claimed::Not(Box::new(found))))
    }

    async fn find(&self, key: &IntentKey) -> Result<Option<IntentRow>, StoreError> {
        let statement = ["SELECT ", sql::COLUMNS, sql::FIND].concat();
        Ok(self.intents(&statement, &[text(&key.account), text(&key.reference)]).await?.pop())
    }

    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        let statuses: Vec<i16> = filter.statuses.iter().map(|status| status.code()).collect();
        let statement = ["SELECT ", sql::COLUMNS, sql::LIST].concat();
        let most = i64::from(filter.most);
        let values = [
            (&statuses as _, Type::INT2_ARRAY),
            int(&filter.claims),
            text(&filter.account),
            big(&most),
            text(&filter.reference),
        ];
        self.intents(&statement, &values).await
    }

    async fn accounts(&self, from: &str, most: u32) -> Result<Vec<String>, StoreError> {
        let most = i64::from(most);
        let rows = self.query(sql::ACCOUNTS, &[text(&from), big(&most)]).await?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        let statement = match directive {
            Directive::Park => sql::PARK,
            Directive::Reconcile => sql::RECONCILE,
        };
        Ok(!self.query(statement, &[text(&key.account), text(&key.reference)]).await?.is_empty())
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        let (visibility, most) = (millis(visibility), i64::from(most));
        let values = [big(&visibility), text(&account), big(&most)];
        self.intents(&[sql::UNTOLD, sql::COLUMNS].concat(), &values).await
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        let values = [text(&key.account), text(&key.reference), int(&event)];
        self.query(sql::TOLD, &values).await.map(drop)
    }

    async fn changed(&self) {
        match &self.listener {
            Some(listener) => listener.heard().await,
            None => std::future::pending().await,
        }
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        let (account, owner) = (text(&wish.account), text(&wish.owner));
        let (total, lease, quarantine) =
            (i32::try_from(wish.total).unwrap_or(i32::MAX), millis(wish.lease), millis(wish.quarantine));
        let rows = if wish.most == 0 {
            self.query(sql::SHARES_KEPT, &[account, owner, big(&lease), int(&total)]).await?
        } else {
            let most = i64::from(wish.most);
            let values = [account, owner, big(&lease), big(&quarantine), int(&total), big(&most)];
            let rows = self.query(sql::SHARES_TAKEN, &values).await?;
            if rows.len() < usize::try_from(wish.most).unwrap_or(usize::MAX) {
                let longest = millis(wish.longest.max(wish.lease));
                self.query(sql::SHARES_SHORTENED, &[text(&wish.account), text(&wish.owner), big(&longest)]).await?;
            }
            rows
        };
        let mut usable = 0;
        for row in &rows {
            usable += u32::from(get::<bool>(row, 0)?);
        }
        Ok(usable)
    }

    async fn stop(&self, account: &str, reason: Option<&str>) -> Result<(), StoreError> {
        match reason {
            Some(reason) => self.query(sql::STOP, &[text(&account), text(&reason)]).await.map(drop),
            None => self.query(sql::UNSTOP, &[text(&account)]).await.map(drop),
        }
    }

    async fn stopped(&self, account: &str) -> Result<Option<String>, StoreError> {
        let rows = self.query(sql::STOPPED, &[text(&account)]).await?;
        rows.first().map(|row| get(row, 0)).transpose()
    }
}

impl RewritableStore for PostgresStore {
    async fn scan(&self, after: Option<&IntentKey>, most: u32) -> Result<Vec<IntentRow>, StoreError> {
        let most = i64::from(most);
        let (account, reference) = (after.map(|key| &*key.account), after.map(|key| &*key.reference));
        let statement = ["SELECT ", sql::COLUMNS, sql::SCAN].concat();
        self.intents(&statement, &[text(&account), text(&reference), big(&most)]).await
    }

    async fn rewrite(&self, old: &IntentRow, new: &IntentRow, events: &[(i32, String)]) -> Result<bool, StoreError> {
        let (numbers, texts): (Vec<i32>, Vec<&str>) = events.iter().map(|(number, text)| (*number, &**text)).unzip();
        let mut values = vec![text(&old.key.account), text(&old.key.reference)];
        for row in [old, new] {
            values.extend([text(&row.kind), text(&row.digest), text(&row.request), text(&row.state)]);
            values.extend([text(&row.asks), text(&row.outcome)]);
        }
        values.extend([(&numbers as _, Type::INT4_ARRAY), (&texts as _, Type::TEXT_ARRAY)]);
        Ok(!self.query(sql::REWRITE, &values).await?.is_empty())
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PostgresStore")
    }
}
