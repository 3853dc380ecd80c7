//! Interruption by signals.

use crate::failure::Failure;

/// Ctrl-C, or the signal with which service managers end a process. Listens from its creation.
#[cfg(unix)]
pub(super) struct Interrupted {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// Never awaited. A file beyond its quota ends a process that does not handle this signal; a process that handles
    /// it gets an error from the write, as from a full disk.
    _quota: Option<tokio::signal::unix::Signal>,
}

/// `SIGXFSZ`, on Linux, macOS and the BSDs.
#[cfg(unix)]
const FILE_SIZE_EXCEEDED: i32 = 25;

#[cfg(unix)]
impl Interrupted {
    pub(super) fn listen() -> Result<Self, Failure> {
        use tokio::signal::unix::{SignalKind, signal};

        let listen =
            |kind| signal(kind).map_err(|error| Failure::misuse(format!("cannot listen for signals: {error}")));
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            _quota: signal(SignalKind::from_raw(FILE_SIZE_EXCEEDED)).ok(),
        })
    }

    pub(super) async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
pub(super) struct Interrupted;

#[cfg(not(unix))]
impl Interrupted {
    pub(super) fn listen() -> Result<Self, Failure> {
        Ok(Self)
    }

    pub(super) async fn wait(self) {
        // If signals are not available, only a kill ends the process.
        drop(tokio::signal::ctrl_c().await);
    }
}
