//! What a reply says about other copies of the same request. The network may deliver a request twice: the service executes
//! the first copy and fails the second one, because nothing is left, and only the second reply comes back.

use pg_model::{Dialect, ErrorCode, Flag, Remedy, StatusCode, dialect::RefusalScope, method::MethodInfo};

use crate::{Refused, error::one_line};

/// Refusals for a reason that the execution of a copy does not change (spec 2 §7, 3 §7).
const UNCHANGED: [ErrorCode; 4] = [
    ErrorCode::NO_DATA_SENT,
    ErrorCode::ENTERPRISE_NO_DATA_SENT,
    ErrorCode::PERMISSION_DENIED,
    ErrorCode::CURRENCY_NOT_SUPPORTED,
];

/// Whether a refusal holds for every copy: the execution of another copy cannot be its reason.
pub(super) fn all_are_refused(refused: &Refused) -> bool {
    let code = refused.code();
    // The service compares the amount with what is left (spec 2 §3.2), although a payment has no such limit.
    *code != ErrorCode::INVALID_TRANSACTION_VALUE
        && (refused.scope() == RefusalScope::Always
            || refused.remedy() == Remedy::FixCredentials
            || UNCHANGED.contains(code)
            || refused.entry().is_some_and(|entry| entry.situations == ["unknown-transaction-key"]))
}

/// Returns the status of a reply that says that a capture, cancellation or refund failed. It says nothing about other
/// copies: one that was executed leaves less for the next (spec 2 §3.2, 3 §3.2).
pub(super) fn failed(info: &MethodInfo, status: &str, dialect: &Dialect) -> Option<String> {
    let uses_up = ["capturepreauth", "cancelpreauth", "capture", "cancel", "refund"].contains(&info.name);
    let failed = match info.service.version {
        5 => Flag::NO == *status,
        _ => dialect.is_declined(&StatusCode::from(status.to_owned())),
    };
    (uses_up && failed).then(|| one_line(status))
}
