//! The address of a store: a file, or the address of a database.

use clap::builder::{OsStringValueParser, TypedValueParser};
use pg_model::mask;

use crate::{command::intents, failure::Failure};

const STORES: &str = "a store of intents is a SQLite file or postgres://user@host:port/database";
/// The settings of PostgreSQL that say which database is meant, in the form of an address that is not supported:
/// `host=db dbname=shop`.
const SETTINGS: [&str; 6] = ["dbname", "host", "hostaddr", "password", "service", "user"];

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
    let shown = match store.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://…"),
        None => match setting(store) {
            Some(name) => format!("{name}=…"),
            None => return Ok(()),
        },
    };
    Err(Failure::misuse(format!("{}: {STORES}", mask::text(&shown))))
}

/// Returns the first of the [`SETTINGS`] that a text has.
fn setting(text: &str) -> Option<&'static str> {
    let mut parts: Vec<&str> = text.split('=').collect();
    parts.pop();
    let mut names = parts.into_iter().filter_map(|part| part.split_whitespace().next_back());
    names.find_map(|name| SETTINGS.into_iter().find(|setting| *setting == name))
}

/// Names the variable in the error for a value that is not text.
pub(super) fn parser() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new()
        .try_map(|given| given.into_string().map_err(|_| "--store or PG_INTENTS_STORE is not valid UTF-8"))
}
