//! Being told to stop.

use crate::failure::Failure;

/// Ctrl-C, or the signal that service managers end a process with. Listened for
/// from the moment that this is made.
#[cfg(unix)]
pub(super) struct Interrupted {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// Never waited for. A file that has reached its quota ends a process which does not listen for this; one that
    /// does gets an error from the write, as from a full disk.
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
            |kind| signal(kind).map_err(|error| Failure::misuse(format!("the system gives no signals: {error}")));
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
        // If the system gives no signals, only killing the process ends it.
        drop(tokio::signal::ctrl_c().await);
    }
}
