//! What a failed operation says about other copies of the same request. The network may deliver a request twice: the service
//! executes the first copy and fails the second one, because nothing is left, and only the second reply comes back.

use pg_model::{Dialect, Flag, StatusCode, method::MethodInfo};

use crate::error::one_line;

/// Returns the status of a reply that says that a capture, cancellation or refund failed. The status says nothing about
/// other copies: an executed copy leaves less for the next one (spec 2 §3.2, 3 §3.2).
pub(super) fn failed(info: &MethodInfo, status: &str, dialect: &Dialect) -> Option<String> {
    let uses_up = ["capturepreauth", "cancelpreauth", "capture", "cancel", "refund"].contains(&info.name);
    let failed = match info.service.version {
        5 => Flag::NO == *status,
        _ => dialect.is_declined(&StatusCode::from(status.to_owned())),
    };
    (uses_up && failed).then(|| one_line(status))
}
