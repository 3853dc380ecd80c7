//! What to do about an error.

use core::fmt;

/// What to do about an error reply of the service (A132).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// The request is wrong: fix it. The refused request changed nothing. But a refused payment uses up its
    /// `uniqueMerchantReference`, so the corrected one takes a new reference. Before that, look up all
    /// requests under the old reference that have no reply.
    FixRequest,
    /// The credentials, or the signing key, are wrong: fix them before sending anything else, since the service
    /// locks an address out after repeated failures (spec 1 §5).
    FixCredentials,
    /// Wait one minute.
    WaitOneMinute,
    /// Wait five minutes.
    WaitFiveMinutes,
    /// Try again later; for a payment, only after a lookup.
    Retry,
    /// Look up what was requested: this request or an earlier one may have been executed. A payment is looked up by its
    /// `uniqueMerchantReference`. The payment must not take a new reference before the lookup, since that would be a
    /// second payment.
    LookUp,
    /// Only the operator can help: give them the trace code.
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
