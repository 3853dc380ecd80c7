//! What to do about an error.

use core::fmt;

/// What to do about an error that the service answered with (assumption 132).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// The request is wrong: mend it.
    FixRequest,
    /// The credentials, or the key that signs, are wrong: mend them before anything else is sent, since the service
    /// locks an address out after repeated failures (spec 1 §5).
    FixCredentials,
    /// Wait one minute.
    WaitOneMinute,
    /// Wait five minutes.
    WaitFiveMinutes,
    /// Try again later; a payment only after it was looked up.
    Retry,
    /// Only the operator can help: quote the trace code.
    AskOperator,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FixRequest => "fix the request",
            Self::FixCredentials => "fix the credentials",
            Self::WaitOneMinute => "wait one minute",
            Self::WaitFiveMinutes => "wait five minutes",
            Self::Retry => "try again later, a payment only after a lookup",
            Self::AskOperator => "ask the operator",
        })
    }
}
