//! What to do about an error.

use core::fmt;

/// What to do about an error that the service answered with (assumption 132).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// The request is wrong: fix it. The refused request itself changed nothing. A payment that is refused uses its
    /// `uniqueMerchantReference` up all the same, so the corrected one takes a new reference; before that, look up whatever
    /// was sent under the old one and has no answer.
    FixRequest,
    /// The credentials, or the key that signs, are wrong: fix them before anything else is sent, since the service
    /// locks an address out after repeated failures (spec 1 §5).
    FixCredentials,
    /// Wait one minute.
    WaitOneMinute,
    /// Wait five minutes.
    WaitFiveMinutes,
    /// Try again later; a payment only after it was looked up.
    Retry,
    /// Look it up: what was asked for may have been done, by this request or by an earlier one. A payment is looked up by
    /// its `uniqueMerchantReference`. It never takes a new reference before that, since that would be a second payment.
    LookUp,
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
            Self::LookUp => "look it up, it may have been done already",
            Self::AskOperator => "ask the operator",
        })
    }
}
