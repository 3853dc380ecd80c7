//! Commands for a sandbox that runs: its faults, clock, cards, accounts, callbacks, lists and inspector.

mod account;
mod accounts;
mod batches;
mod callbacks;
mod cards;
mod clock;
pub(in crate::command) mod destinations;
mod faults;
mod list;
mod open;

use clap::{Subcommand, ValueEnum};
use serde_json::Value;

pub(in crate::command) use self::{accounts::find as account, list::transactions};

use crate::{
    command,
    failure::{Exit, Failure},
    indented::indented,
    output, suggestion,
};

/// Commands for a running sandbox.
#[derive(clap::Subcommand)]
pub(crate) enum Remote {
    Faults(faults::Arguments),
    Clock(clock::Arguments),
    Cards(cards::Arguments),
    Account(account::Arguments),
    Accounts(accounts::Arguments),
    Callbacks(callbacks::Arguments),
    Batches(batches::Arguments),
    List(list::Arguments),
    Open(open::Arguments),
}

/// Runs a command against the sandbox that its flags name.
pub(super) fn run(remote: Remote, json: bool) -> Result<Exit, Failure> {
    command::block_on(async {
        match remote {
            Remote::Faults(arguments) => faults::run(arguments, json).await,
            Remote::Clock(arguments) => clock::run(arguments, json).await,
            Remote::Cards(arguments) => cards::run(arguments, json).await,
            Remote::Account(arguments) => account::run(arguments, json).await,
            Remote::Accounts(arguments) => accounts::run(arguments, json).await,
            Remote::Callbacks(arguments) => return callbacks::run(arguments, json).await,
            Remote::Batches(arguments) => batches::run(arguments, json).await,
            Remote::List(arguments) => list::run(arguments, json).await,
            Remote::Open(arguments) => open::run(arguments, json).await,
        }?;
        Ok(Exit::Done)
    })
}

/// Prints the control interface's JSON, or a text for people.
fn print(value: &Value, json: bool, page: impl FnOnce(&Value) -> String) -> Result<(), Failure> {
    if json { output::json(value) } else { output::page(&page(value)) }
}

/// Prints a list; if it is empty, says why on standard error.
fn print_list(value: &Value, json: bool, empty: &str, page: impl FnOnce(&[Value]) -> String) -> Result<(), Failure> {
    let entries = entries(value);
    if json {
        output::json(value)
    } else if entries.is_empty() {
        output::say(empty);
        Ok(())
    } else {
        output::page(&page(entries))
    }
}

fn entries(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a member as text: a string unchanged, a number or a flag as JSON, null as an empty text.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a value of an argument as it is typed, which is also its name in the control interface.
fn typed(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// One entry with all its members.
fn whole(value: &Value) -> String {
    output::harmless_lines(&indented(&pg_model::json::escape_invisible(&value.to_string()))).into_owned()
}

/// Returns a key or number as one segment of a path.
fn segment(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    key.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Returns the error for words that are not a subcommand of `pg sandbox NAME`. It suggests the command to which the
/// first word belongs, else the nearest subcommand.
fn unknown_subcommand<S: Subcommand>(name: &str, words: &[String], meant: Option<String>) -> Failure {
    let word = words.first().map_or("", String::as_str);
    let command = S::augment_subcommands(clap::Command::new("pg"));
    let known: Vec<String> = command.get_subcommands().map(|known| known.get_name().to_owned()).collect();
    let meant = meant.or_else(|| {
        let near = suggestion::nearest(word, known.iter().map(String::as_str))?;
        let rest: String = words
            .iter()
            .skip(1)
            .take_while(|word| !word.starts_with('-'))
            .map(|word| format!(" {}", crate::shell::word(word)))
            .collect();
        Some(format!("pg sandbox {name} {near}{rest}"))
    });
    let meant =
        meant.map_or_else(|| format!("see `pg sandbox {name} --help`"), |meant| format!("did you mean `{meant}`?"));
    let problem = if known.iter().any(|known| known == word) {
        "options come after the subcommand".to_owned()
    } else {
        format!("pg sandbox {name} has no subcommand {word:?}")
    };
    // The word may be a card number.
    let said = format!("{problem}; {meant}");
    Failure::misuse(pg_model::mask::text(&said)).for_programs(words.iter().any(|word| word == "--json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_in_its_segment() {
        assert_eq!(segment("4f2c-91"), "4f2c-91");
        assert_eq!(segment("a/../b?"), "a%2F..%2Fb%3F");
    }
}
