//! Where text goes: data to standard output, talk to standard error.

use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    process::ExitCode,
};

use serde::Serialize;

use crate::failure::Failure;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked for.
    Done = 0,
    /// The service refused, or the payment was declined.
    Refused = 1,
    /// What was asked for makes no sense; nothing was sent.
    Misuse = 2,
    /// The service could not be reached; nothing was executed.
    NotReachable = 3,
    /// Whether it was executed is not known.
    Unknown = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Prints data, with a line break behind it. A reader that went away has read enough: that is no failure.
///
/// # Errors
/// When standard output takes nothing, for example because a disk is full.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    match write(text) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::output(&error)),
        _ => Ok(()),
    }
}

/// The same for data that comes once only: a reader that went away would miss it.
///
/// # Errors
/// When standard output takes nothing, or nobody reads it.
pub(crate) fn news(text: &str) -> Result<(), Failure> {
    write(text).map_err(|error| Failure::output(&error))
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

/// A value as JSON on one line.
///
/// # Errors
/// When it has no such form.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::output(&error.into()))
}

/// Says something to the person who watches: one line, whatever a service put into it.
pub(crate) fn say(text: &str) {
    // Nobody can be told that nobody can be told.
    drop(writeln!(io::stderr(), "{}", harmless(text)));
}

/// A text whose control characters are spelt out, so that no reply can play tricks on a terminal.
fn harmless(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let spelt = c.is_control().then(|| c.escape_default());
            let plain = spelt.is_none().then_some(c);
            spelt.into_iter().flatten().chain(plain)
        })
        .collect()
}

/// Says that something is risky.
pub(crate) fn warn(text: &str) {
    say(&format!("pg: warning: {text}"));
}

/// Colours for a terminal, or none.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Colours if standard output is a terminal, unless `NO_COLOR` is set or the terminal is dumb.
    pub(crate) fn of_stdout() -> Self {
        Self { on: io::stdout().is_terminal() && wanted() }
    }

    /// Stands out.
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Steps back.
    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// What leaves.
    pub(crate) fn out(self, text: &str) -> String {
        self.with("36", text)
    }

    /// What comes back.
    pub(crate) fn back(self, text: &str) -> String {
        self.with("35", text)
    }

    /// As it should be.
    pub(crate) fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Not as it should be.
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
    fn control_characters_are_spelt_out() {
        assert_eq!(harmless("a\u{1b}[2J\nb\u{9b}é"), "a\\u{1b}[2J\\nb\\u{9b}é");
    }
}
