//! Invalid command lines: the errors of clap, for people and for programs.

use std::{io::Write, process::ExitCode};

use pg_model::mask;

use crate::{
    argument,
    command::sandbox,
    failure::{Exit, Failure},
    output,
};

/// Prints clap's output: help, version, or the error in the arguments.
pub(crate) fn not_understood(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return match output::printed(error.print().and_then(|()| std::io::stdout().flush())) {
            Ok(()) => Exit::Done.into(),
            Err(failure) => output::failure(&failure, false).into(),
        };
    }
    let text = error.to_string();
    // If a name was left out, the argument may be a card number, or an address with a password and a mistake.
    let given = std::env::args_os().filter_map(|argument| argument.into_string().ok());
    let addresses = given.filter(|argument| argument::has_password(argument));
    let masked = addresses.fold(mask::without_passwords(&text), |text, address| text.replace(&address, "***"));
    let masked = in_plain_words(mask::text(&masked));
    let masked = output::harmless_lines(&masked);
    let message = on_one_line(&masked);
    if sandbox::logs_as_json(std::env::args_os()) {
        sandbox::log_misuse(&message);
    } else if masked != text {
        drop(write!(std::io::stderr(), "{masked}"));
    } else {
        drop(error.print());
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        output::failure_as_json(&Failure::misuse(message));
    }
    Exit::Misuse.into()
}

/// Returns an error on one line, without the usage: clap writes names, values and tips on separate lines.
fn on_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let told = lines.take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    told.fold(String::new(), |said, line| match line {
        _ if said.is_empty() => line.trim_start_matches("error: ").to_owned(),
        _ if line.starts_with("tip:") => format!("{said}; {line}"),
        _ if line.starts_with('[') || said.ends_with(':') => format!("{said} {line}"),
        _ => format!("{said}, {line}"),
    })
}

/// Replaces the standard library's and clap's messages about numbers with plain ones.
fn in_plain_words(text: String) -> String {
    let plain = [
        ("invalid digit found in string", "expected a whole number"),
        ("cannot parse integer from empty string", "expected a whole number"),
        ("number too large to fit in target type", "the number is too large"),
    ]
    .into_iter()
    .fold(text, |text, (told, plain)| text.replace(told, plain));
    match range_in_words(&plain) {
        Some(text) => text,
        None => plain,
    }
}

/// Writes the range of a number, such as `1..=5`, in words, if the text has one.
fn range_in_words(text: &str) -> Option<String> {
    let (before, rest) = text.split_once(" is not in ")?;
    let range = rest.split_whitespace().next()?;
    let (low, high) = range.split_once("..=").filter(|(low, _)| low.parse::<u64>().is_ok())?;
    Some(format!("{before} is not from {low} to {high}{}", &rest[range.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_on_one_line_keeps_names_values_and_tips() {
        let missing = "error: the following required arguments were not provided:\n  <METHOD>\n  <KIND>\n\n\
                       Usage: pg x <METHOD> <KIND>\n\nFor more information, try '--help'.\n";
        assert_eq!(on_one_line(missing), "the following required arguments were not provided: <METHOD>, <KIND>");
        let wrong = "error: invalid value 'b' for '<K>'\n  [possible values: a, c]\n\n  tip: a similar value exists: 'a'\n\n\
                     For more information, try '--help'.\n";
        let told = "invalid value 'b' for '<K>' [possible values: a, c]; tip: a similar value exists: 'a'";
        assert_eq!(on_one_line(wrong), told);
    }

    #[test]
    fn ranges_of_numbers_are_words() {
        let told = in_plain_words("invalid value '200' for '--status <S>': 200 is not in 400..=599\n\nmore".to_owned());
        assert_eq!(told, "invalid value '200' for '--status <S>': 200 is not from 400 to 599\n\nmore");
        let other = "the word is not in a list";
        assert_eq!(in_plain_words(other.to_owned()), other);
    }
}
