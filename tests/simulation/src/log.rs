//! The log of a world: one line for each event. Equal worlds have equal logs.

use std::fmt::{self, Write as _};

use crate::agenda::Millis;

pub(crate) struct Log {
    text: String,
    begin: Millis,
}

impl Log {
    pub(crate) const fn new(begin: Millis) -> Self {
        Self { text: String::new(), begin }
    }

    /// Adds a line: the time since the start of the world, and the event.
    pub(crate) fn note(&mut self, now: Millis, what: fmt::Arguments<'_>) {
        let since = now.saturating_sub(self.begin);
        let (hours, minutes, seconds, millis) =
            (since / 3_600_000, since / 60_000 % 60, since / 1_000 % 60, since % 1_000);
        writeln!(self.text, "{hours:02}:{minutes:02}:{seconds:02}.{millis:03} {what}")
            .expect("writing to a String cannot fail");
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}
