//! The store of a sandbox's records.

use pg_sandbox::StoreChoice;

use super::Arguments;
use crate::{command::intents::address::is_postgres, failure::Failure, output};

/// Returns the store that `--store` names, and a description of where it is.
pub(super) fn chosen(arguments: &Arguments) -> Result<(StoreChoice, String), Failure> {
    let store = &arguments.store;
    let text = store.to_string_lossy();
    if text == ":memory:" {
        return Err(Failure::misuse("--store :memory: is not a file; `--store memory` keeps the records in memory"));
    }
    if is_postgres(&text)? {
        return database(&text, arguments);
    }
    if arguments.store_key.is_some() || !arguments.store_key_older.is_empty() || arguments.reseal {
        return Err(Failure::misuse(
            "--store-key, --store-key-older and --reseal are for PostgreSQL stores only; a store file has its key file beside it",
        ));
    }
    if text == "memory" {
        return Ok((StoreChoice::Memory, "in memory: lost when the sandbox ends".to_owned()));
    }
    Ok((StoreChoice::File(store.to_owned()), format!("in {}", output::harmless(&text))))
}

#[cfg(not(feature = "postgres"))]
fn database(_url: &str, _arguments: &Arguments) -> Result<(StoreChoice, String), Failure> {
    Err(crate::command::without_postgres())
}

#[cfg(feature = "postgres")]
fn database(url: &str, arguments: &Arguments) -> Result<(StoreChoice, String), Failure> {
    use pg_sandbox::{SharedStore, StoreKey};

    use crate::account::variable;

    /// The environment variable with the key.
    const KEY: &str = "PG_STORE_KEY";
    /// The command that prints it.
    const COMMAND: &str = "PG_STORE_KEY_COMMAND";
    let from_hex = |digits: &str, from: &str| {
        StoreKey::from_hex(digits).ok_or_else(|| Failure::misuse(format!("{from} is not 64 hexadecimal digits")))
    };
    let key = match (&arguments.store_key, variable(KEY)?, variable(COMMAND)?) {
        (Some(file), _, _) => StoreKey::File(file.to_owned()),
        (None, Some(digits), _) => from_hex(&digits, KEY)?,
        (None, None, Some(command)) => {
            let printed = printed_by(&command).map_err(|why| Failure::misuse(format!("{COMMAND}: {why}")))?;
            from_hex(&printed, COMMAND)?
        }
        (None, None, None) => {
            return Err(Failure::misuse(format!(
                "a PostgreSQL store needs a key: give --store-key FILE, {KEY} with 64 hexadecimal digits, or {COMMAND} with a \
                 command that prints them"
            )));
        }
    };
    /// The environment variable with older keys.
    const OLDER: &str = "PG_STORE_KEY_OLDER";
    /// The command that prints them.
    const OLDER_COMMAND: &str = "PG_STORE_KEY_OLDER_COMMAND";
    let mut older: Vec<StoreKey> = arguments.store_key_older.iter().cloned().map(StoreKey::File).collect();
    if let Some(keys) = variable(OLDER)? {
        for digits in keys.split_whitespace() {
            older.push(from_hex(digits, OLDER)?);
        }
    }
    if let Some(command) = variable(OLDER_COMMAND)? {
        let printed = printed_by(&command).map_err(|why| Failure::misuse(format!("{OLDER_COMMAND}: {why}")))?;
        for digits in printed.split_whitespace() {
            older.push(from_hex(digits, OLDER_COMMAND)?);
        }
    }
    let shared = SharedStore::new(url, key).older_keys(older).reseal_at_start(arguments.reseal);
    let words = format!("in {}", output::harmless(&shared.shown()));
    Ok((StoreChoice::Postgres(shared), words))
}

/// Returns the output of a shell command. Its errors go to this program's standard error.
#[cfg(any(feature = "postgres", test))]
fn printed_by(command: &str) -> Result<String, String> {
    use std::process::{Command, Stdio};

    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let output = Command::new(shell).args([flag, command]).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start {shell}: {error}"))?;
    if !output.status.success() {
        return Err(format!("the command failed: {}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| "the command's output is not valid UTF-8".to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_from_the_output_of_a_successful_command() {
        assert_eq!(printed_by("printf abc").unwrap(), "abc");
        assert!(printed_by("printf abc; exit 3").unwrap_err().contains("exit status: 3"));
        assert!(printed_by("printf '\\377'").unwrap_err().contains("UTF-8"));
    }
}
