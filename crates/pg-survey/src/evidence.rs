//! The evidence of a finding: a request and its reply.

use serde::Serialize;

use crate::{answer::Answer, probe::Probe};

/// One request and its reply, masked.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// HTTP method and path.
    pub request: String,
    /// The HTTP status.
    pub http: u16,
    /// The error code, if there is one.
    pub code: String,
    /// The beginning of the message that came with it.
    pub excerpt: String,
}

impl Evidence {
    pub(crate) fn of(probe: &Probe, answer: &Answer) -> Self {
        let (code, excerpt) = (answer.code.clone(), answer.message.clone());
        Self { request: probe.request.shown(), http: answer.http, code, excerpt }
    }
}
