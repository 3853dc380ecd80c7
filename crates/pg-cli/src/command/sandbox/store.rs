//! Where the records of a sandbox are.

use std::path::Path;

use pg_sandbox::StoreChoice;

use crate::{failure::Failure, output};

/// The store that `--store` names, and where its records are, in words.
pub(super) fn chosen(store: &Path, key: Option<&Path>) -> Result<(StoreChoice, String), Failure> {
    let is_database = |text: &&str| text.starts_with("postgres://") || text.starts_with("postgresql://");
    if let Some(url) = store.to_str().filter(is_database) {
        return database(url, key);
    }
    if key.is_some() {
        return Err(Failure::misuse("--store-key belongs to a PostgreSQL store; a file has its key beside it"));
    }
    if store.to_str() == Some("memory") {
        return Ok((StoreChoice::Memory, "in memory: gone when the sandbox ends".to_owned()));
    }
    Ok((StoreChoice::File(store.to_owned()), format!("in {}", output::harmless(&store.display().to_string()))))
}

#[cfg(not(feature = "postgres"))]
fn database(_url: &str, _key: Option<&Path>) -> Result<(StoreChoice, String), Failure> {
    Err(Failure::misuse(
        "this pg was built without PostgreSQL; build it with: cargo install pg-cli --features postgres",
    ))
}

#[cfg(feature = "postgres")]
fn database(url: &str, key: Option<&Path>) -> Result<(StoreChoice, String), Failure> {
    use pg_sandbox::{SharedStore, StoreKey};

    /// Where the key is when it is in no file.
    const KEY: &str = "PG_STORE_KEY";
    let key = match (key, std::env::var(KEY)) {
        (Some(file), _) => StoreKey::File(file.to_owned()),
        (None, Ok(digits)) => StoreKey::from_hex(&digits)
            .ok_or_else(|| Failure::misuse(format!("{KEY} does not hold 64 hexadecimal digits")))?,
        (None, Err(_)) => {
            return Err(Failure::misuse(format!(
                "a PostgreSQL store needs a key: give --store-key FILE, or {KEY} with 64 hexadecimal digits"
            )));
        }
    };
    let shared = SharedStore::new(url, key);
    let words = format!("in {}", output::harmless(&shared.shown()));
    Ok((StoreChoice::Postgres(shared), words))
}
