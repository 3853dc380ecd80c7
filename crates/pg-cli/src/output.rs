//! Output: results go to stdout, diagnostics to stderr.

use std::{
    borrow::Cow,
    io::{self, ErrorKind, IsTerminal, Write},
};

use pg_model::{json, mask::is_invisible};
use serde::Serialize;

use crate::failure::{Exit, Failure};

/// Prints data and a line break. On a terminal, invisible characters are escaped; files and pipes get the text
/// unchanged. A closed pipe is not an error.
///
/// # Errors
/// If standard output cannot be written, for example because a disk is full.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    page(&for_stdout(text))
}

/// Prints a text from this program, or one that is [`harmless`]: it may contain colours.
///
/// # Errors
/// As [`data`].
pub(crate) fn page(text: &str) -> Result<(), Failure> {
    printed(write(text))
}

/// Returns the result of writing to standard output. A closed pipe is not an error.
///
/// # Errors
/// As [`data`].
pub(crate) fn printed(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::output(&error)),
        _ => Ok(()),
    }
}

/// Prints data that is delivered only once: if the reader has gone, the data would be lost.
///
/// # Errors
/// If standard output cannot be written, or its reader has gone.
pub(crate) fn news(text: &str) -> Result<(), Failure> {
    write(&for_stdout(text)).map_err(|error| Failure::output(&error))
}

/// Returns a text of several lines for standard output, [`harmless`] if standard output is a terminal.
pub(crate) fn for_stdout(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() { harmless_lines(text) } else { text.into() }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush())
}

/// Prints data as JSON on one line.
///
/// # Errors
/// As [`data`].
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    data(&to_json(value)?)
}

/// Prints the result of a command that may have failed as one JSON document: with a failure, it has the failure's members
/// too. Returns how the command ended.
///
/// # Errors
/// That of the command, or as [`data`].
pub(crate) fn result(value: &impl Serialize, ended: Result<Exit, Failure>) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Whole<'a, T> {
        #[serde(flatten)]
        value: &'a T,
        #[serde(flatten)]
        failure: Option<&'a Failure>,
    }
    json(&Whole { value, failure: ended.as_ref().err() })?;
    ended.map_err(Failure::after_document)
}

/// Returns a value as JSON on one line.
///
/// # Errors
/// If it cannot be serialized.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::output(&error.into()))?;
    Ok(json::escape_invisible(&text).into_owned())
}

/// Prints one line to standard error. Line breaks in the text are escaped.
pub(crate) fn say(text: &str) {
    // A failure to write to stderr cannot be reported anywhere.
    drop(writeln!(io::stderr(), "{}", harmless(text)));
}

/// Prints a harmless text to standard error: it may contain colours.
pub(crate) fn talk(text: &str) {
    // A failure to write to stderr cannot be reported anywhere.
    drop(writeln!(io::stderr(), "{text}"));
}

/// Returns a text on one line with escaped invisible characters, so that no reply can manipulate a terminal: control
/// characters, direction marks and characters without width.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    replaced(text, is_invisible, spell)
}

/// As [`harmless`], but keeps line breaks.
pub(crate) fn harmless_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| is_invisible(c) && c != '\n', spell)
}

fn spell(c: char, out: &mut String) {
    out.extend(c.escape_default());
}

fn replaced(text: &str, is_meant: impl Fn(char) -> bool, by: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.chars().any(&is_meant) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_meant(c) { by(c, &mut out) } else { out.push(c) }
    }
    out.into()
}

/// Reports a failure on stderr, and with `--json` as JSON on stdout, unless the command's document contains it. Returns the
/// exit code.
pub(crate) fn failure(failure: &Failure, as_json: bool) -> Exit {
    failure.lines().iter().for_each(|line| say(line));
    if (as_json || failure.is_for_programs()) && !failure.has_document() {
        failure_as_json(failure);
    }
    failure.exit()
}

/// Writes a failure to stdout as JSON.
pub(crate) fn failure_as_json(failure: &Failure) {
    // stderr already has the failure; a second failure would only hide the first.
    drop(json(failure));
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    say(&format!("pg: warning: {text}"));
}

/// Colours for a terminal, or none.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Returns colours if standard output is a terminal, unless `NO_COLOR` is set or the terminal is dumb.
    pub(crate) fn of_stdout() -> Self {
        Self { on: io::stdout().is_terminal() && wanted() }
    }

    /// Emphasized text.
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Dimmed text.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Outgoing messages.
    pub(crate) fn out(self, text: &str) -> String {
        self.with("36", text)
    }

    /// Incoming messages.
    pub(crate) fn back(self, text: &str) -> String {
        self.with("35", text)
    }

    /// Returns a good result.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Returns a bad result.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with("31", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

fn wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(harmless("a\u{1b}[2J\nb\u{9b}é"), "a\\u{1b}[2J\\nb\\u{9b}é");
        assert_eq!(harmless_lines("a\u{1b}[2J\nb"), "a\\u{1b}[2J\nb");
    }

    #[test]
    fn bidirectional_and_invisible_characters_are_escaped() {
        assert_eq!(
            harmless("paid\u{202e}diap \u{200b}\u{2066}\u{feff}"),
            "paid\\u{202e}diap \\u{200b}\\u{2066}\\u{feff}"
        );
        assert!(matches!(harmless("שלום é 日本"), Cow::Borrowed(_)));
    }
}
