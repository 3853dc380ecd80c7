//! The saved state of a charge. It contains no card, no key and no password.

use std::time::Duration;

use http::StatusCode;
use pg_model::{ApiRequest as _, Dialect, ServiceError, TransactionLookup, mask};
use serde::{Deserialize, Serialize};

use super::ChargeBounds;
use crate::{
    Refused,
    machine::{
        Moment,
        settlement::{AnsweredKey, Expected},
    },
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// The expected payment, under the name that earlier versions saved.
    #[serde(rename = "intent")]
    pub(super) expected: Expected,
    pub(super) bounds: ChargeBounds,
    /// Set at the start.
    pub(super) deadline: Option<Moment>,
    pub(super) sends: u32,
    /// The number of lookups of this run. Resuming starts a new count.
    pub(super) lookups: u32,
    pub(super) pauses: u32,
    pub(super) exposure: Exposure,
    /// Whether copies of an earlier run may still be executed. Their request may differ from the present one.
    pub(super) earlier_run: bool,
    /// Whether a lookup was answered since the payment was last sent.
    pub(super) looked: bool,
    /// Whether the one lookup after the deadline was made.
    pub(super) last_lookup: bool,
    pub(super) aim: Aim,
    /// The payment that the reply named, with a status that was not final. Earlier versions did not save it.
    #[serde(default, skip_serializing_if = "AnsweredKey::is_unknown")]
    pub(super) answered: AnsweredKey,
    pub(super) phase: Phase,
}

/// What may have happened to the requests that were sent so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Exposure {
    /// No request left.
    Never,
    /// Every request was answered, with a refusal or a decline.
    Answered,
    /// The result of a request is unknown: the request may be executed at any time.
    Open,
}

/// The consequence of an empty lookup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Aim {
    /// Sends the payment again.
    Resend,
    /// Ends the charge: refused if the empty lookup proves it, otherwise unknown.
    Refuse {
        refusal: Refusal,
        /// Whether an empty lookup, sent from now on, proves that nothing was and will be charged.
        proves: bool,
    },
    /// The reference is used up: only lookups can tell the outcome.
    Settle(UsedUp),
}

/// The information about the request that used the reference up.
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
    /// The payment may be sent now.
    Ready,
    /// The payment is being sent.
    Paying,
    /// The lookup is being sent.
    Looking,
    Resting {
        until: Moment,
        /// Length of the pause. It does not grow if the clock jumps.
        length: Duration,
        then: Then,
    },
    Ended,
}

/// What to do after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Then {
    Pay,
    Look,
}

/// A refusal in its saved form. Text that looks like a card number is masked, and unlisted codes are left out.
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
    /// Returns the refusal as the dialect reads it.
    pub(super) fn refused(&self, dialect: &Dialect) -> Refused {
        let error = ServiceError::default().with(|record| {
            record.error_code = self.code.as_str().into();
            record.trace_code = self.trace.as_str().into();
            record.error_message = self.message.clone();
        });
        let status = StatusCode::from_u16(self.http).unwrap_or(StatusCode::BAD_REQUEST);
        Refused::new(TransactionLookup::INFO.service, status, error, dialect)
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
            answered: AnsweredKey::default(),
            phase: Phase::Ready,
        }
    }

    /// Returns the state after a crash: the last request counts as sent, and the count of lookups starts again.
    pub(super) fn resumed(mut self) -> Self {
        if self.phase == Phase::Paying {
            self.exposure = Exposure::Open;
            if self.lookups >= self.bounds.lookups {
                // The reply may have ended the charge, or forbidden another send, without being saved.
                self.sends = self.sends.max(self.bounds.attempts);
            }
        }
        self.earlier_run = self.exposure != Exposure::Never;
        if self.phase == Phase::Ended {
            self.phase = Phase::Looking;
        }
        Self { lookups: 0, looked: false, last_lookup: false, ..self }
    }

    /// Records the result of a sent request. Certainty never increases.
    pub(super) fn expose(&mut self, exposure: Exposure) {
        self.exposure = self.exposure.max(exposure);
    }

    pub(super) fn is_over(&self, now: Moment) -> bool {
        self.deadline.is_some_and(|deadline| now > deadline)
    }
}
