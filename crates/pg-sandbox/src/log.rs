//! A structured log: one line of JSON for each event.
//!
//! Names of members never change. Values are masked as in the journal: no card number, no CV2, no credential, no value of a
//! parameter.

use std::{fmt, sync::Arc};

use serde_json::Value;

use crate::timestamp::Timestamp;

/// Receives one line of JSON for each event of a sandbox: a request, a callback, a store that is lost or reached again.
///
/// The function is called by the thread that answers requests, so it must not wait.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&str) + Send + Sync>);

impl Log {
    /// A log that gives each line, without a line break, to this function.
    #[must_use]
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Logs an event with its own members. The level is `info`, `warning` or `error`.
    pub fn event(&self, time: Timestamp, level: &'static str, event: &'static str, mut members: Value) {
        members["time"] = time.to_string().into();
        members["level"] = level.into();
        members["event"] = event.into();
        (self.0)(&members.to_string());
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
