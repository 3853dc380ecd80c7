//! Interruption by signals.

use crate::failure::Failure;

/// Ctrl-C, or the signal with which service managers end a process. Listens from its creation.
#[cfg(unix)]
pub(super) struct Interrupted {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
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
        self.next().await;
    }

    /// Waits for the next signal. The future can be dropped without loss.
    pub(super) async fn next(&mut self) {
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

    pub(super) async fn wait(mut self) {
        self.next().await;
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        // If signals are not available, only killing the process ends it.
        drop(tokio::signal::ctrl_c().await);
    }
}
