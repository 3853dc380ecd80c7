//! The address of a store: a file, or the address of a database.

use clap::builder::{OsStringValueParser, TypedValueParser};
use pg_model::mask;

use crate::{command::intents, failure::Failure};

const STORES: &str = "a store of intents is a SQLite file or postgres://user@host:port/database";

/// Whether a store is a PostgreSQL database.
pub(in crate::command) fn is_postgres(store: &str) -> bool {
    store.starts_with("postgres://") || store.starts_with("postgresql://")
}

/// Checks that a store of intents exists in a file.
///
/// # Errors
/// If there is no file, or it is not a file.
pub(in crate::command) fn check_file(store: &str) -> Result<(), Failure> {
    let path = std::path::Path::new(store);
    if path.is_file() {
        return Ok(());
    }
    check_address(store)?;
    let problem = if path.exists() {
        format!("it is not a file; {STORES}")
    } else {
        format!("there is no such file. {}", intents::without_store(store))
    };
    Err(Failure::misuse(format!("{store}: {problem}")))
}

/// Refuses what looks like the address of a database, and would be taken for the name of a new file.
pub(super) fn check_address(store: &str) -> Result<(), Failure> {
    // The rest of an address may contain a password.
    let shown = match (store.split_once("://"), store.split_once('=')) {
        (Some((scheme, _)), _) => format!("{scheme}://…"),
        // Settings, such as `host=db dbname=shop`. A file of such a name can be given with its folder.
        (None, Some((name, _))) if !name.contains(['/', std::path::MAIN_SEPARATOR]) => "…=…".to_owned(),
        _ => return Ok(()),
    };
    Err(Failure::misuse(format!("{}: {STORES}", mask::text(&shown))))
}

/// Names the variable in the error for a value that is empty or not text.
pub(super) fn parser() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|given| match given.into_string() {
        Ok(store) if store.is_empty() => Err("--store or PG_INTENTS_STORE is empty"),
        Ok(store) => Ok(store),
        Err(_) => Err("--store or PG_INTENTS_STORE is not valid UTF-8"),
    })
}
