//! A structured log: one line of JSON for each event.
//!
//! Names of members never change. Values are masked as in the journal: no card number, no CV2, no credential, no value of a
//! parameter.

use std::{fmt, sync::Arc};

use pg_model::json::escape_invisible;
use serde_json::Value;

use crate::timestamp::Timestamp;

/// Receives one line of JSON for each event of a sandbox: a request, a callback, a store that is lost or reached again.
///
/// The function is called by the thread that answers requests, so it must not wait.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&str) + Send + Sync>);

impl Log {
    /// Creates a log that passes each line, without a line break, to this function.
    #[must_use]
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Logs an event with its own members. The level is `info`, `warning` or `error`.
    pub fn event(&self, time: Timestamp, level: &'static str, event: &'static str, mut members: Value) {
        members["time"] = time.to_string().into();
        members["level"] = level.into();
        members["event"] = event.into();
        // Logs are read on terminals.
        (self.0)(&escape_invisible(&members.to_string()));
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    /// A caller's text can neither begin a new line nor control the reader's terminal.
    #[test]
    fn an_event_is_one_line_of_visible_letters() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = Log::new(move |line| kept.lock().unwrap().push(line.to_owned()));
        let hostile = "/v3\r\n{\"event\":\"forged\"}\u{2028}\u{85}\u{9b}31m\u{1b}[2J\u{202e}\u{7f}";
        log.event(Timestamp::from_millis(0), "info", "request", json!({ "path": hostile }));
        let lines = lines.lock().unwrap();
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert!(line.chars().all(|letter| letter.is_ascii_graphic() || letter == ' '), "{line:?}");
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&event["event"], &event["path"]), (&"request".into(), &hostile.into()));
    }
}
