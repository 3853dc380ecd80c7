//! A checkout that ends as lapsed where it should send a certain request.

use crate::run::{Claim, Step};

/// Ends when the request's path would be this one.
pub(super) fn leaves_out(path: &str, step: Step) -> Step {
    match step {
        Step::Send(request) if request.uri().path().contains(path) => Step::Ended(Claim::Lapsed),
        other => other,
    }
}
