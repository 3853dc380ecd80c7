//! Test cards from a file, from standard input or from arguments.

use std::{fs::File, io};

use pg_survey::{Card, Cards, Role};

use crate::{
    account::variable,
    argument::{self, Given},
    failure::Failure,
    output,
};

/// Returns the file of test cards: that of `--cards`, or else that of the environment.
///
/// # Errors
/// If the variable is not valid UTF-8.
pub(super) fn file(chosen: Option<&str>) -> Result<Option<String>, Failure> {
    chosen.map_or_else(|| variable("PG_SURVEY_CARDS"), |chosen| Ok(Some(chosen.to_owned())))
}

/// Reads the file first, then the arguments, which take precedence.
///
/// # Errors
/// If the file cannot be read, or a text is not a card. The message does not repeat the text.
pub(super) fn read(file: Option<&str>, arguments: &[String]) -> Result<Cards, Failure> {
    let mut cards = Cards::default();
    if let Some(file) = self::file(file)? {
        let shown = if file == "-" { "standard input" } else { &file };
        let cannot = |error: io::Error| Failure::misuse(format!("cannot read the test cards from {shown}: {error}"));
        let source = if file == "-" { argument::standard_input() } else { File::open(&file) };
        let text = source.and_then(|mut source| argument::read_text(&mut source)).map_err(cannot)?;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let (role, card) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                cards = with(cards, role, card, &format!("{shown}, line {}", at + 1))?;
            }
        }
    }
    if arguments.iter().any(|argument| is_inline(argument)) {
        output::warn(
            "--card on the command line is visible to other users and stays in the shell's history; use --cards FILE \
            or \
             --card ROLE=@FILE",
        );
    }
    for (role, card) in Given::read(arguments)?.pairs() {
        cards = with(cards, role, card, "--card")?;
    }
    Ok(cards)
}

fn is_inline(argument: &str) -> bool {
    let value = argument.split_once('=').map_or(argument, |(_, value)| value);
    value != "-" && (!value.starts_with('@') || value.starts_with("@@"))
}

fn with(cards: Cards, role: &str, card: &str, place: &str) -> Result<Cards, Failure> {
    let roles = || Role::ALL.iter().copied().map(Role::name).collect::<Vec<_>>().join(", ");
    // A word that is not a role may be a card number whose role was left out.
    let role = Role::named(role).ok_or_else(|| Failure::misuse(format!("{place}: no such role; write {}", roles())))?;
    let card = Card::parse(card).map_err(|error| Failure::misuse(format!("{place}: {error}")))?;
    Ok(cards.with(role, card))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_come_from_a_file_and_nothing_of_a_wrong_one_is_repeated() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        std::fs::write(
            file.path(),
            "# staging\napproved 4000000000001000 12/49 123\n\ndeclined 4000000000002008 12/49\n",
        )
        .unwrap();
        let cards = read(Some(&path), &[]).unwrap();
        assert!(cards.of(Role::Approved).is_some() && cards.of(Role::Declined).is_some());
        assert!(cards.of(Role::Challenge).is_none());

        for wrong in ["4000000000001000 12/49", "approved 4000000000001000", "approved 4000000000001000 1249 123"] {
            std::fs::write(file.path(), wrong).unwrap();
            let said = read(Some(&path), &[]).unwrap_err().message().to_owned();
            assert!(said.contains("line 1") && !said.contains("4000"), "{said}");
        }
    }
}
