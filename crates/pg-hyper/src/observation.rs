//! The spans of calls and requests, and the durations of requests. They contain names, codes and times, never a parameter, a body or a
//! credential. Names and units follow OpenTelemetry's semantic conventions where these have a name.

use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response};
use pg_model::mask;
use tracing::{Span, field::Empty};

use crate::{Error, TransportError};

/// A call in progress.
pub(crate) struct Observation {
    span: Span,
}

/// A request in flight.
pub(crate) struct Sending {
    span: Span,
    /// The destination and the start; set only if a subscriber records durations.
    measured: Option<(String, u16, Instant)>,
}

impl Sending {
    pub(crate) fn begin(request: &Request<Bytes>, parent: impl FnOnce() -> Span) -> Self {
        let uri = request.uri();
        let span = tracing::info_span!(
            parent: parent(),
            "pg.send",
            "url.path" = uri.path(),
            "http.request.method" = request.method().as_str(),
            "server.address" = uri.host(),
            "otel.kind" = "client",
            "http.response.status_code" = Empty,
            "error.type" = Empty,
        );
        let is_measured = tracing::enabled!(target: "pg.metrics", tracing::Level::TRACE);
        let measured = is_measured.then(|| {
            let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
            (uri.host().unwrap_or_default().to_owned(), uri.port_u16().unwrap_or(usual), now())
        });
        Self { span, measured }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    pub(crate) fn end(self, result: &Result<Response<Bytes>, TransportError>) {
        let status = result.as_ref().ok().map(|response| response.status().as_u16());
        let status_text = status.filter(|status| *status >= 400).map(|status| status.to_string());
        let error_type = match result {
            Ok(_) => status_text.as_deref(),
            Err(TransportError::NotSent(_)) => Some("not_sent"),
            Err(TransportError::MaybeSent(_)) => Some("maybe_sent"),
        };
        if let Some(status) = status {
            self.span.record("http.response.status_code", status);
        }
        if let Some(error_type) = error_type {
            self.span.record("error.type", error_type);
        }
        let Some((address, port, start)) = self.measured else { return };
        tracing::event!(target: "pg.metrics", tracing::Level::TRACE, { "histogram.http.client.request.duration" = now().duration_since(start).as_secs_f64(),
            "http.request.method" = "POST",
            "server.address" = address,
            "server.port" = port,
            "http.response.status_code" = status,
            "error.type" = error_type });
    }
}

impl Observation {
    pub(crate) fn begin(service: &str, method: &str) -> Self {
        let span = tracing::info_span!(
            "pg.call",
            "pg.service" = service,
            "pg.method" = method,
            "error.type" = Empty,
            "pg.error.code" = Empty,
            "pg.trace.code" = Empty,
        );
        Self { span }
    }

    /// Returns the span of one request of this call.
    pub(crate) fn send(&self, request: &Request<Bytes>) -> Sending {
        Sending::begin(request, || self.span.clone())
    }

    pub(crate) fn end<T>(self, result: &Result<T, Error>) {
        if let Err(error) = result {
            self.span.record("error.type", word(error));
            self.codes(error);
        }
    }

    fn codes(&self, error: &Error) {
        match error {
            Error::Refused(refused) => {
                // The codes are text from the service, so they are masked too.
                self.span.record("pg.error.code", mask::text(refused.code().as_str()));
                self.span.record("pg.trace.code", mask::text(refused.error.trace_code.as_str()));
            }
            Error::Unknown { cause, .. } => self.codes(cause),
            Error::Misuse(_)
            | Error::Stopped(_)
            | Error::Throttled { .. }
            | Error::Limit(_)
            | Error::Unreadable(_)
            | Error::OtherReply(..)
            | Error::Transport(_) => {}
        }
    }
}

fn word(error: &Error) -> &'static str {
    match error {
        Error::Misuse(_) => "misuse",
        Error::Stopped(_) => "stopped",
        Error::Throttled { .. } => "throttled",
        Error::Limit(_) => "held_back",
        Error::Refused(_) => "refused",
        Error::Unreadable(_) => "unreadable",
        Error::OtherReply(..) => "other_reply",
        Error::Transport(TransportError::NotSent(_)) => "not_sent",
        Error::Transport(TransportError::MaybeSent(_)) => "maybe_sent",
        Error::Unknown { .. } => "unknown",
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures how long a call took, and decides nothing")]
fn now() -> Instant {
    Instant::now()
}
