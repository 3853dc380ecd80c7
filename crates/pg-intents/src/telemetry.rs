//! Measurements and spans. Names and units follow OpenTelemetry's semantic conventions where these have a name.
//! `docs/guide/fleet.md` lists all of them, and a test compares the page with this file.
//!
//! A measurement is an event of the target `pg.metrics`, level `TRACE`, in the form that the metrics layer of
//! `tracing-opentelemetry` reads: the prefix of the field names the instrument.

use std::time::{Duration, Instant};

use tracing::{Span, field::Empty};

use crate::{FleetError, StoreError};

/// An operation on the database.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) struct DatabaseOperation {
    system: &'static str,
    name: Option<&'static str>,
    /// Set only if a subscriber records it.
    start: Option<Instant>,
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl DatabaseOperation {
    /// `system` is the name of the database in the conventions.
    pub(crate) fn begin(system: &'static str, name: Option<&'static str>) -> Self {
        let is_measured = tracing::enabled!(target: "pg.metrics", tracing::Level::TRACE);
        Self { system, name, start: is_measured.then(now) }
    }

    pub(crate) fn end<R>(self, result: &Result<R, StoreError>) {
        let Some(start) = self.start else { return };
        tracing::event!(target: "pg.metrics", tracing::Level::TRACE, { "histogram.db.client.operation.duration" = now().duration_since(start).as_secs_f64(),
            "db.system.name" = self.system,
            "db.operation.name" = self.name,
            "error.type" = result.as_ref().err().map(StoreError::name) });
    }
}

/// Returns the span of a worker's work on an intent.
pub(crate) fn intent_span(kind: &str, claims: i32) -> Span {
    tracing::info_span!(
        target: "pg.fleet",
        "process intent",
        "pg.fleet.intent.kind" = kind,
        "pg.fleet.intent.claims" = claims,
        "pg.fleet.intent.outcome" = Empty,
        "error.type" = Empty,
    )
}

/// Records that a worker has ended its work on an intent, which another worker may continue.
pub(crate) fn intent(span: &Span, kind: &str, end: Result<&'static str, &'static str>, took: Duration) {
    match end {
        Ok(outcome) => span.record("pg.fleet.intent.outcome", outcome),
        Err(error_type) => span.record("error.type", error_type),
    };
    tracing::event!(target: "pg.metrics", tracing::Level::TRACE, { "histogram.pg.fleet.intent.duration" = took.as_secs_f64(),
        "pg.fleet.intent.kind" = kind,
        "pg.fleet.intent.outcome" = end.ok(),
        "error.type" = end.err() });
}

/// Records that this process has claimed due intents.
pub(crate) fn claimed(intents: usize) {
    if intents > 0 {
        tracing::event!(target: "pg.metrics", tracing::Level::TRACE, { "monotonic_counter.pg.fleet.claimed.intents" = intents });
    }
}

/// Records that this process has parked an intent on which workers failed too often.
pub(crate) fn parked(kind: &str) {
    tracing::event!(target: "pg.metrics", tracing::Level::TRACE, { "monotonic_counter.pg.fleet.parked.intents" = 1_u64, "pg.fleet.intent.kind" = kind });
}

/// Records that a request has waited for a limit that all processes share.
pub(crate) fn waited(limit: &'static str, took: Duration) {
    tracing::event!(target: "pg.metrics", tracing::Level::TRACE, { "histogram.pg.fleet.limit.wait.duration" = took.as_secs_f64(),
        "pg.fleet.limit.name" = limit });
}

/// Records that the service has refused the credentials of a request.
pub(crate) fn refused() {
    tracing::event!(target: "pg.metrics", tracing::Level::TRACE, { "monotonic_counter.pg.fleet.refused.requests" = 1_u64 });
}

impl StoreError {
    /// Returns one word for `error.type`.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Unavailable(_) => "unavailable",
            Self::Foreign(_) => "foreign",
            Self::Elsewhere { .. } => "elsewhere",
            Self::Newer { .. } => "newer",
            Self::Older { .. } => "older",
            Self::Unreadable(_) => "unreadable",
            Self::Sealed { .. } => "sealed",
        }
    }
}

impl FleetError {
    /// Returns one word for `error.type`.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Misuse(_) | Self::Checkout(_) | Self::NotWaiting { .. } | Self::OtherPayment { .. } => "misuse",
            Self::Store(error) | Self::MaybeSent { error, .. } => error.name(),
            Self::Pending { .. } => "pending",
            Self::Parked { .. } => "parked",
            Self::Resume { .. } => "not_resumed",
            Self::Stopped(_) => "stopped",
            Self::Unanswered(_) => "unanswered",
            Self::OtherAccounts(_) => "other_accounts",
            Self::ShuttingDown { .. } => "shutting_down",
        }
    }
}

/// Returns the time of a clock that nothing sets back.
#[expect(clippy::disallowed_methods, reason = "this measures how long the database took, also against the lease")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
