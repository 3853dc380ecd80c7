//! `--log-format`: events on standard error.

use std::{
    io::{self, Write as _},
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    thread::{self, JoinHandle},
};

use pg_sandbox::{Log, Timestamp};
use serde_json::{Value, json};

use crate::{failure::Failure, output};

/// The number of lines that may wait for a slow reader of standard error. The sandbox does not wait for it.
const MOST_WAITING: usize = 10_000;

/// The format of standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Warnings for people, and no events
    Text,
    /// One JSON object per line, for each event
    Json,
}

/// Events on standard error, or text for people.
pub(super) struct Talk {
    lines: Option<(SyncSender<Option<String>>, JoinHandle<()>)>,
}

impl Talk {
    pub(super) fn start(format: Format) -> Result<Self, Failure> {
        if format == Format::Text {
            return Ok(Self { lines: None });
        }
        let (sender, lines) = sync_channel(MOST_WAITING);
        let thread = thread::Builder::new().name("log".to_owned()).spawn(move || write(&lines));
        let thread = thread.map_err(|error| Failure::misuse(format!("cannot start a thread: {error}")))?;
        Ok(Self { lines: Some((sender, thread)) })
    }

    /// Returns the log of the sandbox; `None` if the output is for people.
    pub(super) fn log(&self) -> Option<Log> {
        let (sender, _) = self.lines.as_ref()?;
        let sender = sender.clone();
        Some(Log::new(move |line| match sender.try_send(Some(line.to_owned())) {
            // The sandbox continues, and a slow reader misses lines.
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }))
    }

    pub(super) fn warn(&self, text: &str) {
        match self.log() {
            Some(_) => self.event("warning", "warning", json!({ "message": text })),
            None => output::warn(text),
        }
    }

    /// Says that the store has failed. The sandbox logs that itself.
    pub(super) fn store_failed(&self, text: &str) {
        if self.log().is_none() {
            output::warn(text);
        }
    }

    /// An event of the command itself; `text` is the message for people.
    pub(super) fn tell(&self, event: &'static str, members: Value, text: Option<&str>) {
        match (self.log(), text) {
            (Some(_), _) => self.event("info", event, members),
            (None, Some(text)) => output::say(text),
            (None, None) => {}
        }
    }

    /// Logs why the command failed. If the output is for people, the caller prints the reason.
    pub(super) fn failed(&self, failure: Failure) -> Failure {
        if self.log().is_none() {
            return failure;
        }
        self.event("error", "failed", json!({ "message": failure.message(), "exitCode": failure.exit() as u8 }));
        failure.logged()
    }

    #[expect(clippy::disallowed_methods, reason = "a log has the time of its events")]
    fn event(&self, level: &'static str, event: &'static str, members: Value) {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let now = Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        if let Some(log) = self.log() {
            log.event(now, level, event, members);
        }
    }

    /// Writes waiting lines.
    pub(super) fn end(self) {
        let Some((sender, thread)) = self.lines else { return };
        // The thread has ended if standard error could not be written.
        if sender.send(None).is_ok() {
            let _ = thread.join();
        }
    }
}

fn write(lines: &Receiver<Option<String>>) {
    while let Ok(Some(line)) = lines.recv() {
        // Writes each line with one call, so that lines of other programs do not interrupt it.
        if io::stderr().write_all(format!("{line}\n").as_bytes()).is_err() {
            return;
        }
    }
}
