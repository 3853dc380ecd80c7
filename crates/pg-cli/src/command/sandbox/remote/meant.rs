//! Suggestions for an unknown subcommand.

use clap::Subcommand;

use crate::{failure::Failure, suggestion};

/// The error for words that are not a subcommand of `pg sandbox NAME`: with the command that the first of them belongs to, else with
/// the nearest subcommand.
pub(super) fn unknown<S: Subcommand>(name: &str, words: &[String], meant: Option<String>) -> Failure {
    let word = words.first().map_or("", String::as_str);
    let meant = meant.or_else(|| {
        let command = S::augment_subcommands(clap::Command::new("pg"));
        let known: Vec<String> = command.get_subcommands().map(|known| known.get_name().to_owned()).collect();
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
    // The word may be a card number.
    let said = format!("pg sandbox {name} has no subcommand {word:?}; {meant}");
    Failure::misuse(pg_model::mask::text(&said))
}
