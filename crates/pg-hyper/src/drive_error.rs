//! Errors of driven machines.

use std::{error::Error, fmt};

use pg_model::mask;
use pg_proto::machine::{Failure, throttle::StopReason};

use crate::{LimitError, StoreError, TransportError, store::Superseded};

/// Why a request of a machine had no reply, or was not sent: the last error of a drive, from
/// [`Drive::error`](crate::Drive::error).
///
/// The machine has already decided what to do about the error, and its outcome says what happened to the payment. Use
/// the error for logs:
///
/// ```no_run
/// use pg_hyper::{Client, DriveError, proto::model::Auth};
///
/// async fn pay(client: &Client, payment: Auth) -> Result<(), Box<dyn std::error::Error>> {
///     let mut charge = client.charge(payment)?;
///     let outcome = charge.run().await;
///     match charge.error() {
///         Some(DriveError::Store(error)) => eprintln!("{outcome}; the order could not be saved: {error}"),
///         Some(error) => eprintln!("{outcome}; the last error was: {error}"),
///         None => eprintln!("{outcome}"),
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum DriveError {
    /// No reply arrived.
    Transport(TransportError),
    /// The machine could not be saved, so nothing was sent.
    Store(StoreError),
    /// The stored state is not the one that this drive knows, so nothing was sent: another drive, or an earlier run, works on
    /// the machine. Resume the stored state.
    Superseded,
    /// Nothing is sent until the reason has been checked, see [`Client::resume_sending`].
    ///
    /// [`Client::resume_sending`]: crate::Client::resume_sending
    Stopped(StopReason),
    /// The [limit that all processes share](crate::SharedLimit) did not permit the request, so nothing was sent.
    Limit(LimitError),
}

impl DriveError {
    /// Returns the error of a store.
    pub(super) fn of_store(error: StoreError) -> Self {
        if error.is::<Superseded>() { Self::Superseded } else { Self::Store(error) }
    }

    /// Returns the failure that the machine receives.
    pub(super) const fn failure(&self) -> Failure {
        match self {
            Self::Transport(TransportError::NotSent(_)) => Failure::NotSent,
            Self::Transport(TransportError::MaybeSent(_)) => Failure::MaybeSent,
            Self::Superseded => Failure::Superseded,
            Self::Store(_) | Self::Stopped(_) | Self::Limit(_) => Failure::HeldBack,
        }
    }
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(f),
            // The message comes from other code, so text that looks like a card number is masked.
            Self::Store(error) => {
                write!(f, "not sent: the machine could not be saved: {}", mask::text(&error.to_string()))
            }
            Self::Superseded => write!(f, "not sent: {Superseded}"),
            Self::Stopped(stop) => write!(f, "held back: {stop}"),
            Self::Limit(error) => write!(f, "held back: {error}"),
        }
    }
}

impl Error for DriveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Transport(error) => error.source(),
            Self::Store(error) => Some(&**error),
            Self::Limit(error) => error.source(),
            Self::Superseded | Self::Stopped(_) => None,
        }
    }
}
