//! The span of a call. It contains names, codes and times, never a parameter, a body or a credential.

use std::time::Instant;

use http::StatusCode;
use pg_model::mask;
use tracing::{Span, field::Empty};

use crate::{Error, TransportError};

/// A call in progress.
pub(crate) struct Observation {
    span: Span,
    /// Set only if a subscriber is enabled.
    start: Option<Instant>,
}

impl Observation {
    pub(crate) fn begin(service: &str, method: &str) -> Self {
        let span = tracing::info_span!(
            "pg.call",
            service,
            method,
            "http.status" = Empty,
            "duration.us" = Empty,
            outcome = Empty,
            "error.code" = Empty,
            "trace.code" = Empty,
        );
        let start = (!span.is_disabled()).then(now);
        Self { span, start }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    pub(crate) fn status(&self, status: StatusCode) {
        self.span.record("http.status", status.as_u16());
    }

    pub(crate) fn end<T>(self, result: &Result<T, Error>) {
        let Some(start) = self.start else { return };
        let duration = now().duration_since(start);
        self.span.record("duration.us", u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
        self.span.record("outcome", result.as_ref().map_or_else(word, |_| "ok"));
        if let Err(error) = result {
            self.codes(error);
        }
    }

    fn codes(&self, error: &Error) {
        match error {
            Error::Refused(refused) => {
                // They are text of the service, so even they are masked.
                self.span.record("error.code", mask::text(refused.code().as_str()));
                self.span.record("trace.code", mask::text(refused.error.trace_code.as_str()));
            }
            Error::Unknown { cause, .. } => self.codes(cause),
            Error::Misuse(_)
            | Error::Stopped(_)
            | Error::Throttled { .. }
            | Error::Limit(_)
            | Error::Unreadable(_)
            | Error::Transport(_) => {}
        }
    }
}

fn word(error: &Error) -> &'static str {
    match error {
        Error::Misuse(_) => "misuse",
        Error::Stopped(_) => "stopped",
        Error::Throttled { .. } => "throttled",
        Error::Limit(_) => "held back",
        Error::Refused(_) => "refused",
        Error::Unreadable(_) => "unreadable",
        Error::Transport(TransportError::NotSent(_)) => "not sent",
        Error::Transport(TransportError::MaybeSent(_)) => "maybe sent",
        Error::Unknown { .. } => "unknown",
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a call took is read off here, and decides nothing")]
fn now() -> Instant {
    Instant::now()
}
