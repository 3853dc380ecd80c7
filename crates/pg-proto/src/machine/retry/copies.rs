//! What a failed operation or a decline says about other copies of the same request. The network may deliver a request twice: the
//! service executes the first copy and fails the second one, because nothing is left or because its reference was used, and only the
//! second reply comes back.

use pg_model::{ApiRequest, Dialect, Flag, StatusCode};

use crate::{error::one_line, machine::settlement::Expected};

/// Returns the status of a reply that says that a capture, cancellation or refund failed, or that a payment was declined under a
/// reference. The status says nothing about other copies: an executed copy leaves less for the next one (spec 2 §3.2, 3 §3.2), and
/// uses the reference up, which the service may answer with a decline (assumption A141).
pub(super) fn failed<M: ApiRequest>(request: &M, status: &str, dialect: &Dialect) -> Option<String> {
    let failed = match M::INFO.service.version {
        5 => Flag::NO == *status,
        _ => dialect.is_declined(&StatusCode::from(status.to_owned())),
    };
    let uses_up = || {
        ["capturepreauth", "cancelpreauth", "capture", "cancel", "refund"].contains(&M::INFO.name)
            || !dialect.refuses_used_references() && !Expected::of(request).reference.is_empty()
    };
    (failed && uses_up()).then(|| one_line(status))
}
