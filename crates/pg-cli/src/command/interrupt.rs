//! Interruption by signals.

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::Failure;

/// Ctrl-C, the signal with which service managers end a process, or the end of its terminal. Listens from its creation.
#[cfg(unix)]
pub(super) struct Interrupted {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` if it is ignored, as under `nohup`.
    hangup: Option<tokio::signal::unix::Signal>,
    /// Never awaited. Writing beyond a file size limit ends a process that does not handle this signal. In a process
    /// that handles it, the write fails with an error, as on a full disk.
    _quota: Option<tokio::signal::unix::Signal>,
}

/// `SIGXFSZ`, on Linux, macOS and the BSDs.
#[cfg(unix)]
const FILE_SIZE_EXCEEDED: i32 = 25;

#[cfg(unix)]
impl Interrupted {
    pub(super) fn listen() -> Result<Self, Failure> {
        let hangup = if ignores_hangup() { None } else { Some(signal_of(SignalKind::hangup())?) };
        Ok(Self { hangup, ..Self::listen_again()? })
    }

    /// Listens for an interruption after the first. A closed terminal is none: it may send its signal several times.
    pub(super) fn listen_again() -> Result<Self, Failure> {
        Ok(Self {
            interrupt: signal_of(SignalKind::interrupt())?,
            terminate: signal_of(SignalKind::terminate())?,
            hangup: None,
            _quota: signal(SignalKind::from_raw(FILE_SIZE_EXCEEDED)).ok(),
        })
    }

    pub(super) async fn wait(mut self) {
        self.next().await;
    }

    /// Waits for the next signal. The future can be dropped without loss.
    pub(super) async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = hangup => {}
        }
    }
}

#[cfg(unix)]
fn signal_of(kind: SignalKind) -> Result<tokio::signal::unix::Signal, Failure> {
    signal(kind).map_err(|error| Failure::misuse(format!("cannot listen for signals: {error}")))
}

/// Whether the process that started this one chose that it survives its terminal. Listening would override that. Other systems
/// do not tell it, so the signal ends the process there, as before.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Signal 1 is the lowest bit.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// Ctrl-C.
#[cfg(not(unix))]
pub(super) struct Interrupted;

#[cfg(not(unix))]
impl Interrupted {
    pub(super) fn listen() -> Result<Self, Failure> {
        Ok(Self)
    }

    pub(super) fn listen_again() -> Result<Self, Failure> {
        Self::listen()
    }

    pub(super) async fn wait(mut self) {
        self.next().await;
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        // If signals are not available, only killing the process ends it.
        drop(tokio::signal::ctrl_c().await);
    }
}
