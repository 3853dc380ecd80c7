//! Creates and upgrades the tables.

use super::pool::Pool;
use crate::StoreError;

/// The migrations, in order: a database administrator can run them by hand. They need the right to create tables in the schema,
/// and no extension.
pub const POSTGRES_MIGRATIONS: &[&str] =
    &[include_str!("migration_1.sql"), include_str!("migration_2.sql"), include_str!("migration_3.sql")];
/// Keeps two processes from running the migrations at once.
const MIGRATION_LOCK: i64 = 0x7067_6931;
/// How often a migration is tried while another session has locked a table, a second each. Statements of running processes wait behind
/// its own lock meanwhile.
const TRIES: u32 = 5;

/// The version of the tables that this program needs.
pub(super) fn newest() -> i32 {
    i32::try_from(POSTGRES_MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// Runs the migrations after this version, in the schema that already has the store.
pub(super) async fn run(pool: &Pool, found: i32, schema: Option<&str>) -> Result<(), StoreError> {
    let missing = POSTGRES_MIGRATIONS.get(usize::try_from(found).unwrap_or_default()..).unwrap_or_default();
    if missing.is_empty() {
        return Ok(());
    }
    // Otherwise a new table would be created in the first schema that the role searches.
    let place = schema.map(|schema| format!("SET LOCAL search_path = {schema};")).unwrap_or_default();
    let statements = format!(
        "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({MIGRATION_LOCK}); \
         SET LOCAL lock_timeout = '1s'; {place} {} COMMIT",
        missing.concat()
    );
    let mut left = TRIES;
    loop {
        left -= 1;
        match pool.execute(&statements).await {
            Err(StoreError::Unavailable(why)) if left > 0 && why.ends_with(LOCKED) => {
                tracing::warn!(target: "pg.fleet", left, "another session has locked the tables; the migration is tried again");
            }
            Err(StoreError::Unavailable(why)) => return Err(StoreError::Unavailable(advised(&why))),
            done => return done,
        }
    }
}

const LOCKED: &str = "(55P03)";

/// Adds to an explained error what to do about it.
fn advised(why: &str) -> String {
    let advice = if why.ends_with(LOCKED) {
        "; another session uses the tables in a long transaction, for example pg_dump, and running processes must not wait behind this \
         migration: run it again when that transaction has ended"
    } else if why.ends_with("(42501)") {
        "; let the owner of the tables and their schema run the migration"
    } else if why.ends_with("(3F000)") {
        "; the search_path of the role contains no schema that exists: create it, or correct the role"
    } else {
        ""
    };
    format!("{why}{advice}")
}
