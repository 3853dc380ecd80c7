//! The operations of a store, as changes within one transaction.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Result, Row, ToSql, params, params_from_iter};

use crate::{
    Begun, Claimed, Directive, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow,
    IntentStatus, NewIntent, ShareWish, StoreError,
    store::{EVENTS, millis},
};

const COLUMNS: &str = "account, reference, kind, digest, request, state, status, fence, owner, due, claims, outcome, event, told, \
                       created, changed, history, version, asks, inbox, lookups";
/// Maximum length of a history in characters.
const HISTORY: i64 = 4096;
/// A time that never comes.
pub(super) const NEVER: i64 = i64::MAX;

pub(super) fn now(connection: &Connection) -> Result<i64> {
    connection.query_row("SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)", [], |row| row.get(0))
}

pub(super) fn later(now: i64, by: Duration) -> i64 {
    now.saturating_add(millis(by))
}

fn line(now: i64, owner: &str, fence: i64, what: &str) -> String {
    format!("{now} {owner} {fence} {what}\n")
}

fn intent(row: &Row<'_>, read_at: i64) -> Result<IntentRow> {
    Ok(IntentRow {
        key: IntentKey { account: row.get(0)?, reference: row.get(1)? },
        kind: row.get(2)?,
        digest: row.get(3)?,
        request: row.get(4)?,
        state: row.get(5)?,
        status: IntentStatus::of(row.get(6)?),
        fence: row.get(7)?,
        owner: row.get(8)?,
        due: row.get(9)?,
        claims: row.get(10)?,
        outcome: row.get(11)?,
        event: row.get(12)?,
        told: row.get(13)?,
        created: row.get(14)?,
        changed: row.get(15)?,
        history: row.get(16)?,
        version: row.get(17)?,
        asks: row.get(18)?,
        inbox: row.get(19)?,
        lookups: row.get(20)?,
        read_at,
    })
}

pub(super) fn enlist(connection: &Connection, name: &str) -> Result<String> {
    let sql = "UPDATE payment_store SET workers = workers + 1 RETURNING workers";
    let number: i64 = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(format!("{name}#{number}"))
}

pub(super) fn begin(connection: &Connection, now: i64, new: &NewIntent) -> Result<Begun> {
    let sql = "INSERT INTO payment_intents (account, reference, kind, digest, request, state, status, fence, owner, due, claims, \
               event, told, tell_due, created, changed, history, version) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 1, ?7, ?8, 0, 0, 0, 0, ?9, ?9, ?10, ?11) ON CONFLICT DO NOTHING";
    let due = if new.owner.is_some() { later(now, new.lease) } else { now };
    let history = line(now, new.owner.as_deref().unwrap_or("-"), 1, "begun");
    let stored = connection.prepare_cached(sql)?.execute(params![
        new.key.account,
        new.key.reference,
        new.kind,
        new.digest,
        new.request,
        new.state,
        new.owner,
        due,
        now,
        history,
        new.version
    ])?;
    if stored == 1 {
        return Ok(Begun::New);
    }
    let existing = find(connection, now, &new.key)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(Begun::Existing(Box::new(existing)))
}

pub(super) fn find(connection: &Connection, now: i64, key: &IntentKey) -> Result<Option<IntentRow>> {
    let sql = format!("SELECT {COLUMNS} FROM payment_intents WHERE account = ?1 AND reference = ?2");
    connection.prepare_cached(&sql)?.query_row([&key.account, &key.reference], |row| intent(row, now)).optional()
}

/// Matches the row of a lease, as long as the lease holds.
const HELD: &str = "WHERE account = ?1 AND reference = ?2 AND fence = ?3 AND owner = ?4 AND status < 2";

fn held(connection: &Connection, set: &str, hold: &IntentLease, values: &[&dyn ToSql]) -> Result<Option<()>> {
    let sql = format!("UPDATE payment_intents SET {set} {HELD}");
    let key: [&dyn ToSql; 4] = [&hold.key.account, &hold.key.reference, &hold.fence, &hold.owner];
    let all = key.into_iter().chain(values.iter().copied());
    Ok((connection.prepare_cached(&sql)?.execute(params_from_iter(all))? == 1).then_some(()))
}

pub(super) fn save(
    connection: &Connection,
    now: i64,
    hold: &IntentLease,
    state: &str,
    lease: Duration,
) -> Result<Option<()>> {
    held(connection, "state = ?5, due = ?6, changed = ?7", hold, &[&state, &later(now, lease), &now])
}

pub(super) fn renew(connection: &Connection, now: i64, hold: &IntentLease, lease: Duration) -> Result<Option<()>> {
    held(connection, "due = ?5", hold, &[&later(now, lease)])
}

pub(super) fn release(connection: &Connection, now: i64, hold: &IntentLease, wake: Duration) -> Result<Option<()>> {
    let set = format!(
        "owner = NULL, claims = claims - (claims > 0), due = ?5, changed = ?6, history = substr(history || ?7, -{HISTORY})"
    );
    held(connection, &set, hold, &[&later(now, wake), &now, &line(now, &hold.owner, hold.fence, "released")])
}

/// The plan's next lookup keeps its time, and waiting events make an unknown intent due once the quiet time is over.
pub(super) fn end(connection: &Connection, now: i64, hold: &IntentLease, end: &IntentEnd) -> Result<Option<()>> {
    let set = format!(
        "status = ?5, state = ?6, event = event + (outcome IS NOT ?7), outcome = ?7, owner = NULL, \
         next_lookup = iif(?5 = 1, coalesce(next_lookup, ?8), NULL), \
         due = iif(?5 = 1, min(coalesce(next_lookup, ?8, {NEVER}), iif(inbox > ?11, ?12, {NEVER})), {NEVER}), quiet = ?12, \
         claims = iif(?5 = 2, claims, 0), changed = ?9, tell_due = ?9, history = substr(history || ?10, -{HISTORY})"
    );
    let (lookup, quiet) = (end.wake.map(|wake| later(now, wake)), later(now, end.quiet));
    let (status, history) = (end.status.code(), line(now, &hold.owner, hold.fence, end.status.name()));
    let values: [&dyn ToSql; 8] = [&status, &end.state, &end.outcome, &lookup, &now, &history, &end.heard, &quiet];
    let ended = held(connection, &set, hold, &values)?;
    if ended.is_some() {
        match end.status {
            IntentStatus::Ended => drop_events(connection, hold, i32::MAX)?,
            IntentStatus::Unknown => drop_events(connection, hold, end.heard)?,
            IntentStatus::Open | IntentStatus::Parked => {}
        }
    }
    Ok(ended)
}

fn drop_events(connection: &Connection, hold: &IntentLease, last: i32) -> Result<()> {
    let drop = "DELETE FROM payment_events WHERE account = ?1 AND reference = ?2 AND number <= ?3";
    connection.prepare_cached(drop)?.execute(params![hold.key.account, hold.key.reference, last]).map(|_| ())
}

pub(super) fn rest(connection: &Connection, now: i64, hold: &IntentLease, rest: &IntentRest) -> Result<Option<()>> {
    let set = format!(
        "status = 0, state = ?5, asks = ?6, owner = NULL, claims = 0, changed = ?8, \
         due = min(coalesce(next_lookup, {NEVER}), iif(inbox > ?7, ?8, ?9)), \
         history = substr(history || ?10, -{HISTORY})"
    );
    let (due, history) = (later(now, rest.wake), line(now, &hold.owner, hold.fence, "rests"));
    let rested = held(connection, &set, hold, &[&rest.state, &rest.asks, &rest.heard, &now, &due, &history])?;
    if rested.is_some() {
        drop_events(connection, hold, rest.heard)?;
    }
    Ok(rested)
}

/// An intent that workers have parked gets one more claim for the event. An intent that an operator has parked has no
/// claims, and stays parked.
pub(super) fn deliver(connection: &Connection, now: i64, key: &IntentKey, event: &str) -> Result<bool> {
    let sql = "UPDATE payment_intents SET inbox = inbox + 1, changed = ?3, \
               due = iif(owner IS NULL AND (status < 2 OR claims > 0), min(due, max(?3, quiet)), due), \
               status = iif(status = 2 AND claims > 0, 1, status), \
               claims = iif(status = 2 AND claims > 0, claims - 2, claims) \
               WHERE account = ?1 AND reference = ?2 AND status < 3 RETURNING inbox";
    let number =
        connection.prepare_cached(sql)?.query_row(params![key.account, key.reference, now], |row| row.get::<_, i32>(0));
    let Some(number) = number.optional()? else { return Ok(false) };
    let sql = "INSERT INTO payment_events (account, reference, number, event) VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![key.account, key.reference, number, event])?;
    // The same event under an earlier number, then those in the middle.
    let sql = "DELETE FROM payment_events WHERE account = ?1 AND reference = ?2 AND number < ?3 AND event = ?4";
    connection.prepare_cached(sql)?.execute(params![key.account, key.reference, number, event])?;
    let sql = "DELETE FROM payment_events WHERE account = ?1 AND reference = ?2 AND number IN (SELECT number FROM \
               (SELECT number, row_number() OVER (ORDER BY number) AS nth, row_number() OVER (ORDER BY number DESC) AS last \
               FROM payment_events WHERE account = ?1 AND reference = ?2) WHERE nth > ?3 AND last > ?3)";
    connection.prepare_cached(sql)?.execute(params![key.account, key.reference, EVENTS / 2])?;
    Ok(true)
}

pub(super) fn events(connection: &Connection, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>> {
    let sql = "SELECT number, event FROM payment_events WHERE account = ?1 AND reference = ?2 AND number > ?3 ORDER BY number";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![key.account, key.reference, after], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// A claimer, and the kinds that it knows.
pub(super) struct Claimer {
    owner: String,
    lease: Duration,
    kinds: Vec<IntentKind>,
}

impl Claimer {
    pub(super) fn new(owner: &str, lease: Duration, kinds: &[IntentKind]) -> Self {
        Self { owner: owner.to_owned(), lease, kinds: kinds.to_vec() }
    }

    /// Runs a statement that claims; `target` are its ?4 and ?5.
    fn rows(&self, connection: &Connection, now: i64, sql: &str, target: [&dyn ToSql; 2]) -> Result<Vec<IntentRow>> {
        let due = later(now, self.lease);
        let first: [&dyn ToSql; 5] = [&self.owner, &due, &now, target[0], target[1]];
        let kinds = self.kinds.iter().flat_map(|kind| [&kind.name as &dyn ToSql, &kind.version]);
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params_from_iter(first.into_iter().chain(kinds)), |row| intent(row, now))?;
        rows.collect()
    }
}

/// A claim at the time of a lookup of the plan, or in the second before, is that lookup. A worker that takes its own intent again
/// has not died on it.
const CLAIM: &str = "fence = fence + 1, owner = ?1, due = ?2, claims = claims + 1 - coalesce(owner = ?1 AND due > ?3, 0), \
                     changed = ?3, asks = NULL, \
                     lookups = lookups + coalesce(next_lookup <= ?3 + 1000, 0), \
                     next_lookup = iif(next_lookup > ?3 + 1000, next_lookup, NULL)";

/// Returns the version that the claimer knows of a row's kind: its kinds and their versions are the parameters from ?6 on. It is
/// NULL for other kinds. `WHEN NULL` matches no kind; it is there because `CASE` needs a `WHEN` and a claimer may know no kind.
fn known(kinds: usize) -> String {
    let known = (0..kinds).map(|at| format!(" WHEN ?{} THEN ?{}", 6 + 2 * at, 7 + 2 * at));
    format!("CASE kind WHEN NULL THEN NULL{} END", known.collect::<String>())
}

fn claiming(condition: &str, known: &str) -> String {
    format!(
        "UPDATE payment_intents SET {CLAIM}, version = {known}, \
         history = substr(history || ?3 || ' ' || ?1 || ' ' || (fence + 1) || ' claimed' || char(10), -{HISTORY}) \
         WHERE {condition} RETURNING {COLUMNS}"
    )
}

/// Returns the statement that claims what is due, for a claimer of so many kinds.
pub(super) fn claiming_due(kinds: usize) -> String {
    let known = known(kinds);
    let condition = format!(
        "(account, reference) IN (SELECT account, reference FROM payment_intents \
         WHERE account = ?4 AND status < 2 AND due <= ?3 AND version <= {known} ORDER BY due LIMIT ?5)"
    );
    claiming(&condition, &known)
}

/// The same for one intent.
pub(super) fn claiming_one(kinds: usize) -> String {
    let known = known(kinds);
    let condition = format!(
        "account = ?4 AND reference = ?5 AND status < 2 AND (owner IS NULL OR owner = ?1 OR due <= ?3) AND version <= {known}"
    );
    claiming(&condition, &known)
}

pub(super) fn claim(
    connection: &Connection,
    now: i64,
    account: &str,
    most: u32,
    claimer: &Claimer,
) -> Result<Vec<IntentRow>> {
    claimer.rows(connection, now, &claiming_due(claimer.kinds.len()), [&account, &most])
}

pub(super) fn claim_one(
    connection: &Connection,
    now: i64,
    key: &IntentKey,
    claimer: &Claimer,
) -> Result<Option<Claimed>> {
    let sql = claiming_one(claimer.kinds.len());
    let taken = claimer.rows(connection, now, &sql, [&key.account, &key.reference])?.pop();
    if let Some(taken) = taken {
        return Ok(Some(Claimed::Taken(Box::new(taken))));
    }
    Ok(find(connection, now, key)?.map(|found| Claimed::Not(Box::new(found))))
}

pub(super) fn list(connection: &Connection, now: i64, filter: &IntentFilter) -> Result<Vec<IntentRow>> {
    let mut statement = connection.prepare_cached(&listing(filter))?;
    let rows = statement
        .query_map(params![filter.claims, filter.account, filter.most, filter.reference], |row| intent(row, now))?;
    rows.collect()
}

/// Returns the statement of a list. The partial index has all open and unknown intents, which are few beside those that have ended; SQLite
/// does not choose it by itself. With account and reference, the row is found by its key.
pub(super) fn listing(filter: &IntentFilter) -> String {
    let statuses: Vec<String> = filter.statuses.iter().map(|status| status.code().to_string()).collect();
    let is_indexed = filter.reference.is_none() && filter.statuses.iter().all(|status| *status < IntentStatus::Parked);
    let (index, range) = if is_indexed { ("INDEXED BY payment_intents_due", "status < 2 AND") } else { ("", "") };
    let account = if filter.account.is_some() { "account = ?2" } else { "?2 IS NULL" };
    let reference = if filter.reference.is_some() { "reference = ?4" } else { "?4 IS NULL" };
    format!(
        "SELECT {COLUMNS} FROM payment_intents {index} WHERE {range} status IN ({}) AND claims >= ?1 AND {account} AND {reference} \
         ORDER BY changed DESC LIMIT ?3",
        statuses.join(", ")
    )
}

/// Finds each account by the primary key, and reads no other row.
pub(super) const ACCOUNTS: &str = "WITH RECURSIVE found(account) AS ( \
     SELECT min(account) FROM payment_intents WHERE account >= ?1 UNION ALL \
     SELECT (SELECT min(i.account) FROM payment_intents AS i WHERE i.account > found.account) FROM found \
     WHERE account IS NOT NULL LIMIT ?2) SELECT account FROM found WHERE account IS NOT NULL";

pub(super) fn accounts(connection: &Connection, from: &str, most: u32) -> Result<Vec<String>> {
    let mut statement = connection.prepare_cached(ACCOUNTS)?;
    let rows = statement.query_map(params![from, most], |row| row.get(0))?;
    rows.collect()
}

pub(super) fn direct(connection: &Connection, now: i64, key: &IntentKey, directive: Directive) -> Result<bool> {
    let (status, due, what) = match directive {
        Directive::Park => ("2", NEVER, "parked on request"),
        Directive::Reconcile => ("CASE WHEN outcome IS NULL THEN 0 ELSE 1 END", now, "reconciled on request"),
    };
    let sql = format!(
        "UPDATE payment_intents SET status = {status}, owner = NULL, fence = fence + 1, claims = 0, lookups = 0, next_lookup = NULL, \
         quiet = 0, due = ?3, changed = ?4, \
         history = substr(history || ?4 || ' - ' || (fence + 1) || ' {what}' || char(10), -{HISTORY}) \
         WHERE account = ?1 AND reference = ?2 AND status < 3"
    );
    Ok(connection.prepare_cached(&sql)?.execute(params![key.account, key.reference, due, now])? == 1)
}

pub(super) fn untold(
    connection: &Connection,
    now: i64,
    account: &str,
    most: u32,
    visibility: Duration,
) -> Result<Vec<IntentRow>> {
    let sql = format!(
        "UPDATE payment_intents SET tell_due = ?1 WHERE (account, reference) IN (SELECT account, reference FROM payment_intents \
         WHERE account = ?2 AND told < event AND tell_due <= ?3 ORDER BY tell_due LIMIT ?4) RETURNING {COLUMNS}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![later(now, visibility), account, now, most], |row| intent(row, now))?;
    rows.collect()
}

pub(super) fn told(connection: &Connection, key: &IntentKey, event: i32) -> Result<()> {
    let sql =
        "UPDATE payment_intents SET told = ?3 WHERE account = ?1 AND reference = ?2 AND told < ?3 AND ?3 <= event";
    connection.prepare_cached(sql)?.execute(params![key.account, key.reference, event]).map(drop)
}

pub(super) fn shares(connection: &Connection, now: i64, wish: &ShareWish<'_>) -> Result<u32> {
    let due = later(now, wish.lease);
    let keep = "UPDATE payment_shares SET due = ?3 WHERE account = ?1 AND owner = ?2 AND number < ?4";
    let kept = connection.prepare_cached(keep)?.execute(params![wish.account, wish.owner, due, wish.total])?;
    let mut missing = wish.most.saturating_sub(u32::try_from(kept).unwrap_or(u32::MAX));
    for number in 0..wish.total {
        if missing == 0 {
            break;
        }
        // A share that was never taken, or was given back, may be used at once.
        let take = "INSERT INTO payment_shares (account, number, owner, due, usable) VALUES (?1, ?2, ?3, ?4, ?5) \
                    ON CONFLICT (account, number) DO UPDATE SET owner = ?3, due = ?4, usable = ?6 WHERE due <= ?5";
        let values = params![wish.account, number, wish.owner, due, now, later(now, wish.quarantine)];
        missing -= u32::from(connection.prepare_cached(take)?.execute(values)? == 1);
    }
    if missing > 0 {
        // Such a lease began while the clock was ahead.
        let shorten = "UPDATE payment_shares SET due = ?2 WHERE account = ?1 AND owner <> ?3 AND due > ?2";
        let longest = later(now, wish.longest.max(wish.lease));
        connection.prepare_cached(shorten)?.execute(params![wish.account, longest, wish.owner])?;
    }
    let usable =
        "SELECT count(*) FROM payment_shares WHERE account = ?1 AND owner = ?2 AND usable <= ?3 AND number < ?4";
    connection.prepare_cached(usable)?.query_row(params![wish.account, wish.owner, now, wish.total], |row| row.get(0))
}

pub(super) fn stop(connection: &Connection, now: i64, account: &str, reason: Option<&str>) -> Result<()> {
    match reason {
        Some(reason) => {
            let sql = "INSERT INTO payment_stops (account, reason, since) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            connection.prepare_cached(sql)?.execute(params![account, reason, now]).map(drop)
        }
        None => connection.prepare_cached("DELETE FROM payment_stops WHERE account = ?1")?.execute([account]).map(drop),
    }
}

pub(super) fn stopped(connection: &Connection, account: &str) -> Result<Option<String>> {
    let sql = "SELECT reason FROM payment_stops WHERE account = ?1";
    connection.prepare_cached(sql)?.query_row([account], |row| row.get(0)).optional()
}

pub(super) fn scan(connection: &Connection, now: i64, after: Option<&IntentKey>, most: u32) -> Result<Vec<IntentRow>> {
    // For a bound parameter the planner cannot know that it is NULL.
    let condition = if after.is_some() { "(account, reference) > (?1, ?2)" } else { "?1 IS NULL AND ?2 IS NULL" };
    let sql = format!("SELECT {COLUMNS} FROM payment_intents WHERE {condition} ORDER BY account, reference LIMIT ?3");
    let (account, reference) = (after.map(|key| &key.account), after.map(|key| &key.reference));
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![account, reference, most], |row| intent(row, now))?;
    rows.collect()
}

pub(super) fn rewrite(
    connection: &Connection,
    old: &IntentRow,
    new: &IntentRow,
    events: &[(i32, String)],
) -> Result<bool> {
    let sql = "UPDATE payment_intents SET kind = ?9, digest = ?10, request = ?11, state = ?12, asks = ?13, outcome = ?14 \
               WHERE account = ?1 AND reference = ?2 AND kind = ?3 AND digest = ?4 AND request IS ?5 AND state = ?6 AND asks IS ?7 \
               AND outcome IS ?8";
    let IntentKey { account, reference } = &old.key;
    let values = params![
        account,
        reference,
        old.kind,
        old.digest,
        old.request,
        old.state,
        old.asks,
        old.outcome,
        new.kind,
        new.digest,
        new.request,
        new.state,
        new.asks,
        new.outcome
    ];
    if connection.prepare_cached(sql)?.execute(values)? == 0 {
        return Ok(false);
    }
    let sql = "UPDATE payment_events SET event = ?4 WHERE account = ?1 AND reference = ?2 AND number = ?3";
    for (number, event) in events {
        connection.prepare_cached(sql)?.execute(params![account, reference, number, event])?;
    }
    Ok(true)
}

/// Returns the message of an error of SQLite.
pub(super) fn unavailable(error: &rusqlite::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}
