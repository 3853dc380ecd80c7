//! The address of a store: a file, or the address of a database.

use std::path::{Component, Path, is_separator};

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::{command::intents, failure::Failure};

/// Whether a store is a PostgreSQL database, and not a file.
///
/// # Errors
/// If it looks like another address, or like one with a mistake. The error does not repeat it: it may contain a password.
pub(in crate::command) fn is_postgres(store: &str) -> Result<bool, Failure> {
    if store.starts_with("postgres://") || store.starts_with("postgresql://") {
        return Ok(true);
    }
    // The first part of a URL, of settings (`host=db password=…`) and of `user:password@host` has no folder.
    let first = store.split([':', '=']).next().unwrap_or_default();
    let folder = first.split("//").next().unwrap_or_default();
    let has_folder =
        folder.contains(is_separator) || matches!(Path::new(store).components().next(), Some(Component::Prefix(_)));
    if (first.len() == store.len() || has_folder) && !store.contains("://") {
        return Ok(false);
    }
    Err(Failure::misuse(
        "the store looks like an address, which is not repeated here, but is not of the form postgres://user@host:port/database; \
         a file with `:` or `=` in its name is given with its folder, as ./NAME",
    ))
}

/// Checks that a store of intents exists in a file.
///
/// # Errors
/// If there is no file, or it is not a file.
pub(in crate::command) fn check_file(store: &str) -> Result<(), Failure> {
    let path = Path::new(store);
    if path.is_file() {
        return Ok(());
    }
    let problem = if path.exists() {
        "it is not a file; a store of intents is a SQLite file or postgres://user@host:port/database".to_owned()
    } else {
        format!("there is no such file. {}", intents::without_store(store))
    };
    Err(Failure::misuse(format!("{store}: {problem}")))
}

/// Names the variable in the error for a value that is empty or not text.
pub(super) fn parser() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|given| match given.into_string() {
        Ok(store) if store.is_empty() => Err("--store or PG_INTENTS_STORE is empty"),
        Ok(store) => Ok(store),
        Err(_) => Err("--store or PG_INTENTS_STORE is not valid UTF-8"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Exit;

    #[test]
    fn an_address_with_a_mistake_is_refused_and_not_repeated() {
        for address in ["postgres://u:hunter2@h/d", "postgresql://u:hunter2@h/d"] {
            assert!(is_postgres(address).unwrap());
        }
        for file in ["shop.sqlite", "/tmp//shop.sqlite", "/tmp/12:30.sqlite", "./a=b", "a//b", "a/b=1//c"] {
            assert!(!is_postgres(file).unwrap(), "{file}");
        }
        for address in [
            "postgres:/u:hunter2@h/d",
            "postgres:u:hunter2@h",
            "postgres//u:hunter2@h/d",
            "postgresql:u:hunter2@h/d",
            "Postgres://u:hunter2@h/d",
            "postgres:/u:a://hunter2@h",
            "/data/postgres://u:hunter2@h/d",
            "u:hunter2@h/d",
            "//u:hunter2@h/d",
            "mysql://u:hunter2@h/d",
            "host=/run/postgresql password=hunter2",
            "host = h password = hunter2",
            "Host=h;Port=5432;Username=u;Password=hunter2;Database=d",
            "PGPASSWORD=hunter2 postgres",
        ] {
            let refused = is_postgres(address).unwrap_err();
            assert_eq!(refused.exit(), Exit::Misuse);
            assert!(!refused.message().contains("hunter2"), "{}", refused.message());
        }
    }
}
