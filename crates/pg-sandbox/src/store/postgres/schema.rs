//! Finds, creates and upgrades the tables in a database.

use tokio_postgres::Row;
use zeroize::Zeroizing;

use super::{
    keys::{self, KeyRing},
    link::{self, Link, Trouble, hex, rows},
    table::Table,
};
use crate::store::{
    StoreError,
    seal::{Sealer, fingerprint},
};

/// A step of the format. Steps only go forward, and one that was published is never changed.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// The statements. They run in a separate transaction, which waits for its turn like a group of requests.
    pub sql: &'static str,
    /// The oldest format whose programs may still write after this step. A step that only adds tables does not change
    /// it, so that old and new processes can run at the same time.
    pub least: i64,
}

/// The steps that this program knows. The number of a format is the number of its steps.
pub(super) const STEPS: &[Step] = &[
    Step { sql: include_str!("1.sql"), least: 1 },
    Step { sql: include_str!("2.sql"), least: 1 },
    Step { sql: include_str!("3.sql"), least: 1 },
    Step { sql: include_str!("4.sql"), least: 1 },
    Step { sql: include_str!("5.sql"), least: 1 },
];
/// The format that has the journal.
pub(super) const JOURNAL: i64 = 2;

/// The format that counts quiet groups.
pub(super) const QUIET: i64 = 4;

/// The format that has the number of the last key.
pub(super) const LAST_KEY: i64 = 5;

/// The number of the newest of these formats.
pub(super) fn newest(steps: &[Step]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

/// Begins a transaction and waits for this process's turn. LOCK takes no snapshot, so the transaction sees what was
/// committed before its turn. A process that stops in the middle loses its turn.
const BEGIN: &str = "BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE; \
    SET LOCAL lock_timeout = '20s'; SET LOCAL idle_in_transaction_session_timeout = '20s'; \
    SET LOCAL synchronous_commit = on; LOCK TABLE payment_sandbox.turn IN EXCLUSIVE MODE;";

/// Begins a transaction without a turn, for a compatible database that lacks the lock or the settings. Concurrent
/// groups conflict, and are retried.
const BEGIN_WITHOUT_TURN: &str = "BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE;";
/// The errors of such a database: a syntax error, a missing feature, an unknown setting.
const REFUSALS: [&str; 3] = ["(42601)", "(0A000)", "(42704)"];

/// Begins a transaction with a turn over a connection that keeps the settings.
const BEGIN_DIRECT: &str =
    "BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE; LOCK TABLE payment_sandbox.turn IN EXCLUSIVE MODE;";

/// How a transaction begins.
pub(super) const fn beginning(link: &Link) -> &'static str {
    match (link.takes_turns(), link.is_direct()) {
        (true, true) => BEGIN_DIRECT,
        (true, false) => BEGIN,
        (false, _) => BEGIN_WITHOUT_TURN,
    }
}

/// Begins the question whether a commit was done. Where groups take no turns, it reads what is committed while it waits for
/// the row that every group writes.
pub(super) const fn beginning_of_question(link: &Link) -> &'static str {
    if link.takes_turns() { beginning(link) } else { "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED;" }
}

/// Writes the row that every group writes: waits for a group that has written it, and conflicts with one that has not yet.
pub(super) const TOUCH: &str = "UPDATE payment_sandbox.store SET generation = generation WHERE id = 0;";

/// The error of a [`note`] of a number that was committed already: it would become NULL.
pub(super) const REPEATED: &str = "(23502)";

/// Notes in the transaction that a process commits the group of this number, and the last key if the format has it. Fails if
/// the process has committed this number before. A quiet group has written nothing that processes keep a copy of.
pub(super) fn note(known: i64, is_quiet: bool) -> String {
    let quiet = if is_quiet { ", quiet = quiet + 1" } else { "" };
    let last_key = if known >= LAST_KEY { ", last_key = $3" } else { "" };
    format!(
        "WITH noted AS (UPDATE payment_sandbox.store SET generation = generation + 1{quiet}{last_key}) \
         INSERT INTO payment_sandbox.processes (id, number, seen) VALUES ($1, $2, now()) \
         ON CONFLICT (id) DO UPDATE SET seen = EXCLUDED.seen, \
         number = CASE WHEN processes.number < EXCLUDED.number THEN EXCLUDED.number END"
    )
}

/// The state of the store at the beginning of a transaction.
pub(super) struct State {
    /// The oldest format whose programs may write.
    pub(super) format: i64,
    /// The number of groups that have written something that processes may keep a copy of.
    pub(super) generation: i64,
    /// The number of changes of the keys; 0 if the format has one key.
    pub(super) key_changes: i64,
    /// The number of the last key of a record; 0 if the format lacks it.
    pub(super) last_key: u64,
}

/// Begins a transaction, and reads the state of the store.
pub(super) fn begin(link: &mut Link, known: i64) -> Result<State, Trouble> {
    begin_with(link, known, &[]).map(|(state, _)| state)
}

/// Begins a transaction and runs its first queries, in one round trip.
pub(super) fn begin_with(
    link: &mut Link,
    known: i64,
    queries: &[link::Statement<'_>],
) -> Result<(State, Vec<Vec<Row>>), Trouble> {
    let key_changes = if known >= keys::SEVERAL { "key_changes" } else { "0" };
    let generation = if known >= QUIET { "generation - quiet" } else { "generation" };
    let last_key = if known >= LAST_KEY { "last_key" } else { "0" };
    let select =
        format!("SELECT format, {generation}, {key_changes}, {last_key} FROM payment_sandbox.store WHERE id = 0");
    let (messages, found) = match link.begin_with(&|link| format!("{} {select}", beginning(link)), queries) {
        Err(Trouble::Failed(StoreError::Engine(why)))
            if link.takes_turns() && REFUSALS.iter().any(|code| why.ends_with(code)) =>
        {
            link.go_without_turns();
            return begin_with(link, known, queries);
        }
        Err(trouble) => {
            // The failed transaction is still open. After a conflict the connection works, and is needed again at once.
            if !matches!(trouble, Trouble::Conflict) || link.end("ROLLBACK").is_err() {
                link.drop_connection();
            }
            return Err(trouble);
        }
        Ok(done) => done,
    };
    let number = |row: &tokio_postgres::SimpleQueryRow, at: usize| row.get(at)?.parse().ok();
    let state = rows(&messages).find_map(|row| {
        Some(State {
            format: number(row, 0)?,
            generation: number(row, 1)?,
            key_changes: number(row, 2)?,
            last_key: row.get(3)?.parse().ok()?,
        })
    });
    let Some(state) = state else {
        link.drop_connection();
        return Err(Trouble::Failed(StoreError::Foreign));
    };
    Ok((state, found))
}

/// The state of a store when it is opened.
pub(super) struct Found {
    pub(super) tables: Vec<Table>,
    pub(super) key_changes: i64,
    pub(super) sealer: Sealer,
    pub(super) root: Zeroizing<[u8; 32]>,
}

/// Reads the schema, creates missing tables, upgrades those of an earlier format, and determines the keys.
pub(super) fn open(link: &mut Link, ring: &KeyRing, process: &str, steps: &[Step]) -> Result<Found, StoreError> {
    let mut left = OPENINGS;
    loop {
        let trouble = match attempt(link, ring, process, steps) {
            Ok(found) => return Ok(found),
            Err(trouble) => trouble,
        };
        // Undoes whatever was begun.
        link.drop_connection();
        if left == 0 || link.takes_turns() || !may_be_another(&trouble) {
            return Err(match trouble {
                Trouble::Broken(why) => StoreError::Unreachable(why),
                other => other.error(),
            });
        }
        left -= 1;
        link.pause();
    }
}

/// How many times opening is retried if another process creates or upgrades the store at the same moment without taking
/// turns.
const OPENINGS: u32 = 20;

/// Whether another process may have done the same at the same moment: a conflict, or an object that exists already.
fn may_be_another(trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Conflict => true,
        Trouble::Failed(StoreError::Engine(why)) => {
            ["(42701)", "(42P06)", "(42P07)", "(23505)", "(XX000)"].iter().any(|code| why.ends_with(code))
        }
        _ => false,
    }
}

/// Whether the database contains the store's schema.
pub(super) fn is_there(link: &mut Link) -> Result<bool, Trouble> {
    // Does not use information_schema, which hides objects that the role may not use.
    let look = "SELECT count(*)::text FROM pg_namespace WHERE nspname = 'payment_sandbox'";
    Ok(!rows(&link.simple(look)?).any(|row| row.get(0) == Some("0")))
}

fn attempt(link: &mut Link, ring: &KeyRing, process: &str, steps: &[Step]) -> Result<Found, Trouble> {
    let foreign = || Trouble::Failed(StoreError::Foreign);
    if !is_there(link)? {
        create(link, ring)?;
    }
    if !has_columns(link, &["id", "format", "fingerprint", "generation"])? {
        return Err(foreign());
    }
    let state = link.simple("SELECT format, encode(fingerprint, 'hex') FROM payment_sandbox.store WHERE id = 0")?;
    let row = rows(&state).next().ok_or_else(foreign)?;
    let format: i64 = row.get(0).and_then(|text| text.parse().ok()).ok_or_else(foreign)?;
    let first = row.get(1).ok_or_else(foreign)?.to_owned();
    if format > newest(steps) {
        return Err(Trouble::Failed(StoreError::Newer { found: format, known: newest(steps) }));
    }
    // Checks this before anything is changed; the table of keys gives the details.
    if level(link)? < keys::SEVERAL && !ring.holds(&first) {
        return Err(Trouble::Failed(StoreError::WrongKey));
    }
    // A read-only database fails here rather than at the first request.
    begin(link, 1)?;
    // Removes processes that ended long ago; their commits are settled. From here on this one has a row: if it is missing when
    // a commit is in doubt, it was removed.
    link.end(&format!(
        "DELETE FROM payment_sandbox.processes WHERE seen < now() - interval '7 days'; \
         INSERT INTO payment_sandbox.processes (id, number, seen) VALUES ('{}', 0, now()) ON CONFLICT (id) DO NOTHING; COMMIT",
        process.replace('\'', "''")
    ))?;
    if level(link)? < newest(steps) {
        upgrade(link, steps)?;
    }
    let known = if newest(steps) < keys::SEVERAL {
        let key = ring.newest();
        (Sealer::new(key), Zeroizing::new(*key), 0)
    } else {
        begin(link, newest(steps))?;
        let known = keys::settle(link, ring, &first, process)?;
        let changes = link.simple("SELECT key_changes FROM payment_sandbox.store WHERE id = 0")?;
        let changes = rows(&changes).find_map(|row| row.get(0)?.parse().ok()).ok_or_else(foreign)?;
        link.end("COMMIT")?;
        (known.sealer, known.root, changes)
    };
    let columns = format!(
        "SELECT held.relname, each.attname, each.atttypid = 'bytea'::regtype {COLUMNS} \
         AND held.relname NOT IN ('store', 'turn', 'processes', 'keys') ORDER BY held.relname, each.attnum"
    );
    let columns = link.simple(&columns)?;
    let named = rows(&columns).filter_map(|row| Some((row.get(0)?, row.get(1)?, row.get(2)? == "t")));
    let (sealer, root, key_changes) = known;
    Ok(Found { tables: Table::all(named), key_changes, sealer, root })
}

/// Returns the columns of the tables. Does not use information_schema, whose views are slower than everything else at
/// the start.
const COLUMNS: &str = "FROM pg_attribute AS each JOIN pg_class AS held ON held.oid = each.attrelid \
    JOIN pg_namespace AS here ON here.oid = held.relnamespace \
    WHERE here.nspname = 'payment_sandbox' AND held.relkind IN ('r', 'p') AND each.attnum > 0 AND NOT each.attisdropped";

/// Whether the table `store` has these columns.
fn has_columns(link: &mut Link, names: &[&str]) -> Result<bool, Trouble> {
    let text = format!(
        "SELECT count(*)::text {COLUMNS} AND held.relname = 'store' AND each.attname IN ('{}')",
        names.join("', '")
    );
    let all = names.len().to_string();
    Ok(rows(&link.simple(&text)?).any(|row| row.get(0) == Some(&*all)))
}

/// The format that the tables have.
fn level(link: &mut Link) -> Result<i64, Trouble> {
    if !has_columns(link, &["level"])? {
        return Ok(1);
    }
    let found = link.simple("SELECT level FROM payment_sandbox.store WHERE id = 0")?;
    let level = rows(&found).find_map(|row| row.get(0)?.parse().ok());
    level.ok_or(Trouble::Failed(StoreError::Foreign))
}

/// Upgrades the tables to the newest format, one step at a time, while other processes work: each step waits for its
/// turn like a group of requests.
fn upgrade(link: &mut Link, steps: &[Step]) -> Result<(), Trouble> {
    for (number, step) in (1..).zip(steps) {
        let state = begin(link, 1)?;
        // Another process may have been faster.
        if level(link)? >= number {
            link.end("COMMIT")?;
            continue;
        }
        let text = format!(
            "{} UPDATE payment_sandbox.store SET level = {number}, format = {}; COMMIT",
            step.sql,
            step.least.max(state.format)
        );
        link.end(&text).map_err(|trouble| match trouble {
            Trouble::Failed(StoreError::Engine(why) | StoreError::Denied(why)) => {
                let of_owner = "; start one process once with the role that owns the tables";
                let advice = if why.ends_with("(42501)") { of_owner } else { "" };
                let problem = format!("its upgrade from format {} to {number} was refused: {why}{advice}", number - 1);
                Trouble::Failed(StoreError::Engine(problem))
            }
            other => other,
        })?;
    }
    Ok(())
}

/// Creates the tables of the first format; the further steps follow. If another process does the same at the same
/// moment, one of the two waits and finds the tables.
fn create(link: &mut Link, ring: &KeyRing) -> Result<(), Trouble> {
    let text = format!(
        "BEGIN; {} INSERT INTO payment_sandbox.store (id, format, fingerprint, generation) \
         VALUES (0, 1, decode('{}', 'hex'), 0); COMMIT",
        STEPS[0].sql,
        hex(&fingerprint(ring.newest()))
    );
    match link.simple(&text) {
        Ok(_) => Ok(()),
        Err(Trouble::Failed(StoreError::Engine(why))) if why.contains("(42P06)") || why.contains("(23505)") => {
            link.drop_connection();
            Ok(())
        }
        Err(trouble) => Err(trouble),
    }
}
