//! Everything of a charge that survives a crash: no card, no key, no password.

use std::time::Duration;

use http::StatusCode;
use pg_model::{Dialect, ServiceError, mask};
use serde::{Deserialize, Serialize};

use super::ChargeBounds;
use crate::{
    Refused,
    machine::{Moment, settlement::Expected},
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// What is to be paid, under the name that earlier versions stored.
    #[serde(rename = "intent")]
    pub(super) expected: Expected,
    pub(super) bounds: ChargeBounds,
    /// Set when it begins.
    pub(super) deadline: Option<Moment>,
    pub(super) sends: u32,
    /// Of this run: resuming begins anew.
    pub(super) lookups: u32,
    pub(super) pauses: u32,
    pub(super) exposure: Exposure,
    /// Copies of an earlier run may be about, made from a request that need not be the one at hand now.
    pub(super) earlier_run: bool,
    /// A lookup was answered since the payment was sent last.
    pub(super) looked: bool,
    /// The lookup that is allowed after the deadline was made.
    pub(super) last_lookup: bool,
    pub(super) aim: Aim,
    pub(super) phase: Phase,
}

/// What may have become of everything that was sent so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Exposure {
    /// Nothing left.
    Never,
    /// Every request was answered with a refusal.
    Answered,
    /// What became of a request is not known: it may be executed at any time.
    Open,
}

/// What nothing found by a lookup leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Aim {
    /// The payment is sent again.
    Resend,
    /// It ends: refused when nothing found proves that, else unknown.
    Refuse {
        refusal: Refusal,
        /// Whether nothing found by a lookup that is sent from now on proves that nothing was and will be charged.
        proves: bool,
    },
    /// The reference is used up, so that only lookups can tell.
    Settle(UsedUp),
}

/// What is known of whatever used the reference up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum UsedUp {
    NoResponse(Refusal),
    Duplicate(Refusal),
    UnknownStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Phase {
    Ready,
    /// The payment is being sent.
    Paying,
    /// The lookup is being sent.
    Looking,
    Resting {
        until: Moment,
        /// How long it rests: no clock that jumps makes it longer.
        length: Duration,
        then: Then,
    },
    Ended,
}

/// What follows a rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Then {
    Pay,
    Look,
}

/// A refusal as it is stored: whatever looks like a card number is masked, whatever no table knows is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Refusal {
    http: u16,
    code: String,
    trace: String,
    message: String,
}

impl From<&Refused> for Refusal {
    fn from(refused: &Refused) -> Self {
        Self {
            http: refused.http_status.as_u16(),
            code: mask::text(refused.code().as_str()),
            trace: mask::text(refused.error.trace_code.as_str()),
            message: mask::text(&refused.error.error_message),
        }
    }
}

impl Refusal {
    /// The refusal as the dialect reads it.
    pub(super) fn refused(&self, dialect: &Dialect) -> Refused {
        let error = ServiceError::default().with(|record| {
            record.error_code = self.code.as_str().into();
            record.trace_code = self.trace.as_str().into();
            record.error_message = self.message.clone();
        });
        Refused::new(StatusCode::from_u16(self.http).unwrap_or(StatusCode::BAD_REQUEST), error, dialect)
    }
}

impl State {
    pub(super) fn new(expected: Expected, bounds: ChargeBounds) -> Self {
        Self {
            expected,
            bounds,
            deadline: None,
            sends: 0,
            lookups: 0,
            pauses: 0,
            exposure: Exposure::Never,
            earlier_run: false,
            looked: false,
            last_lookup: false,
            aim: Aim::Resend,
            phase: Phase::Ready,
        }
    }

    /// As after a crash: the request that was to be sent last counts as sent, and lookups are counted anew.
    pub(super) fn resumed(mut self) -> Self {
        if self.phase == Phase::Paying {
            self.exposure = Exposure::Open;
        }
        self.earlier_run = self.exposure != Exposure::Never;
        if self.phase == Phase::Ended {
            self.phase = Phase::Looking;
        }
        Self { lookups: 0, looked: false, last_lookup: false, ..self }
    }

    /// Something was sent and answered, or its fate is open: nothing that was known before becomes more certain.
    pub(super) fn expose(&mut self, exposure: Exposure) {
        self.exposure = self.exposure.max(exposure);
    }

    pub(super) fn is_over(&self, now: Moment) -> bool {
        self.deadline.is_some_and(|deadline| now > deadline)
    }
}
