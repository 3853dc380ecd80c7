//! Callbacks to merchants (spec 1 §6, spec 3 §6), and their journal.

use std::time::Duration;

use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::due_column;
use crate::{
    secret_parameter,
    store::{Index, Kind, StoredRecord},
    timestamp::Timestamp,
};

/// The event that a callback reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallbackKind {
    /// A batch of the account updater has finished (spec 1 §6).
    AccountUpdater,
    /// A hosted checkout was paid (spec 3 §6).
    Checkout,
}

/// The progress of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallbackStatus {
    /// The callback waits for its time, or is being sent.
    Pending,
    /// The last attempt was answered with a 2xx status.
    Delivered,
    /// The last attempt was answered with another status, or failed, or the callback was never sent.
    Failed,
}

/// One attempt to deliver a callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// When it ended, on the sandbox's clock.
    pub at: Timestamp,
    /// The HTTP status of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there was no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A callback in the journal. Its body is a [`CallbackBody`] with the same key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callback {
    /// Its number in the journal, time-ordered.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// The event that it reports.
    pub kind: CallbackKind,
    /// The key of its batch or transaction.
    pub about: String,
    /// The address to which it is sent.
    pub url: String,
    /// The URL that the request named, if the callback goes to a registered destination instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_url: Option<String>,
    /// The content type of its body.
    pub content_type: String,
    /// The length of its body.
    pub body_bytes: u64,
    /// Its progress.
    pub status: CallbackStatus,
    /// When it will be sent next, or was last sent, on the sandbox's clock.
    pub due: Timestamp,
    /// Remaining number of deliveries.
    pub deliveries_left: u32,
    /// Remaining number of retries if it is not acknowledged.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retries_left: u32,
    /// Number of attempts so far.
    pub attempts: u32,
    /// The result of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Delivery>,
    /// The time, on the real clock, until which a process that shares the store has claimed the callback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_until: Option<Timestamp>,
    /// When it was made.
    pub created: Timestamp,
    /// Whether its account has its own clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_clock: bool,
}

impl Callback {
    /// The index column for [`crate::store::Query::at_most`]: when a pending callback is due.
    pub const DUE: &'static str = "due";
    /// Maximum number of retries of a callback (assumption A345).
    pub const MOST_RETRIES: u32 = 9;
    /// The pause before the first retry, on the sandbox's clock. Each further pause is twice as long (assumption A345).
    const FIRST_PAUSE: Duration = Duration::from_secs(10);

    /// Whether a process is sending it at this real time.
    #[must_use]
    pub fn is_claimed(&self, real_now: Timestamp) -> bool {
        self.claimed_until.is_some_and(|until| real_now < until)
    }

    /// Records the result of an attempt. A callback with a second delivery is sent again at once. A callback that was
    /// not acknowledged is sent again after a pause, while it has retries left.
    pub fn attempted(&mut self, now: Timestamp, result: Result<StatusCode, String>) {
        self.claimed_until = None;
        self.attempts = self.attempts.saturating_add(1);
        self.deliveries_left = self.deliveries_left.saturating_sub(1);
        let delivered = matches!(&result, Ok(status) if status.is_success());
        self.due = now;
        self.status = match (self.deliveries_left, delivered, self.retries_left) {
            (1.., _, _) => CallbackStatus::Pending,
            (0, true, _) => CallbackStatus::Delivered,
            (0, false, 0) => CallbackStatus::Failed,
            (0, false, 1..) => {
                self.retries_left -= 1;
                self.deliveries_left = 1;
                let doublings = self.attempts.saturating_sub(1).min(Self::MOST_RETRIES);
                self.due = now.plus(Self::FIRST_PAUSE * 2_u32.pow(doublings));
                CallbackStatus::Pending
            }
        };
        self.last = Some(match result {
            Ok(status) => Delivery { at: now, status: Some(status.as_u16()), error: None },
            Err(error) => Delivery { at: now, status: None, error: Some(error) },
        });
    }

    /// Marks it as failed without sending it.
    pub fn give_up(&mut self, now: Timestamp, reason: &str) {
        self.status = CallbackStatus::Failed;
        self.deliveries_left = 0;
        self.retries_left = 0;
        self.last = Some(Delivery { at: now, status: None, error: Some(reason.to_owned()) });
    }

    /// Returns the callback as the control interface shows it. Text that looks like a card number is masked.
    #[must_use]
    pub fn view(&self) -> Value {
        let last = self.last.as_ref().map(|last| match (&last.status, &last.error) {
            (Some(status), _) => json!({ "at": last.at.to_string(), "status": status }),
            (None, error) => json!({ "at": last.at.to_string(), "error": error.as_deref().map(pg_model::mask::text) }),
        });
        json!({
            "id": self.key,
            "merchant": self.merchant,
            "kind": self.kind,
            "about": self.about,
            "url": secret_parameter::masked(&self.url),
            "requestedUrl": self.requested_url.as_deref().map(secret_parameter::masked),
            "contentType": self.content_type,
            "bodyBytes": self.body_bytes,
            "status": self.status,
            "due": self.due.to_string(),
            "deliveriesLeft": self.deliveries_left,
            "retriesLeft": self.retries_left,
            "attempts": self.attempts,
            "lastResult": last,
            "created": self.created.to_string(),
        })
    }
}

// Serde passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl StoredRecord for Callback {
    const KIND: &'static Kind = &Kind { table: "callbacks", columns: &[Self::DUE] };

    key_and_merchant!();

    fn index(&self) -> Index<'_> {
        [
            (self.status == CallbackStatus::Pending)
                .then(|| due_column(&self.merchant, self.own_clock, self.due).into()),
            None,
            None,
        ]
    }
}

/// The body of a callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackBody {
    /// The callback's number in the journal.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// XML, JSON or a form.
    pub text: String,
}

impl StoredRecord for CallbackBody {
    const KIND: &'static Kind = &Kind { table: "callback_bodies", columns: &[] };

    key_and_merchant!();
}
