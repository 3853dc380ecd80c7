//! PostgreSQL servers for the command, in a program that was built with them.

use pg_stores::Postgres;

/// A server that syncs what it commits: stores of intents refuse others. `None` where none is installed, unless nothing may be left out.
pub(crate) fn server() -> Option<Postgres> {
    match Postgres::start(&[]) {
        Ok(server) => Some(server),
        Err(error) => {
            let may_be_missing = !std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
            assert!(may_be_missing && Postgres::installed().is_none(), "{error}");
            eprintln!("left out: {error}");
            None
        }
    }
}
