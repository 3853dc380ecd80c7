//! The sandbox's own state.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    clock::Clock,
    records::{CallbackBehaviour, CallbackDestination},
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
    vault::Sealed,
};

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    key: String,
    /// The value.
    pub value: Value,
}

impl Meta {
    /// The name of the clock's state.
    pub const CLOCK: &'static str = "clock";
    /// The name of the text that only the correct key file opens.
    pub const KEY_CHECK: &'static str = "key-check";
    /// The name of the list of callbacks that misbehave.
    pub const CALLBACK_BEHAVIOUR: &'static str = "callback-behaviour";
    /// The name of the list of registered callback destinations.
    pub const CALLBACK_DESTINATIONS: &'static str = "callback-destinations";

    /// The clock's state.
    #[must_use]
    pub fn clock(clock: Clock) -> Self {
        let value = serde_json::to_value(clock).expect("three numbers are JSON");
        Self { key: Self::CLOCK.to_owned(), value }
    }

    /// The list of callbacks that misbehave, the next one first.
    #[must_use]
    pub fn callback_behaviour(list: &[CallbackBehaviour]) -> Self {
        let value = serde_json::to_value(list).expect("names and numbers are JSON");
        Self { key: Self::CALLBACK_BEHAVIOUR.to_owned(), value }
    }

    /// The list of registered callback destinations.
    #[must_use]
    pub fn callback_destinations(list: &[CallbackDestination]) -> Self {
        let value = serde_json::to_value(list).expect("names and numbers are JSON");
        Self { key: Self::CALLBACK_DESTINATIONS.to_owned(), value }
    }

    /// The name of the times of an account's requests in the last minute.
    #[must_use]
    pub fn throttle_key(merchant: &str) -> String {
        format!("throttle:{merchant}")
    }

    /// The times of an account's requests in the last minute, for processes that share a store.
    #[must_use]
    pub fn throttle(merchant: &str, times: &[Timestamp]) -> Self {
        let value = serde_json::to_value(times).expect("times are JSON");
        Self { key: Self::throttle_key(merchant), value }
    }

    /// The name of the note that a session was given a CV2.
    #[must_use]
    pub fn cv2_key(session_key: &str) -> String {
        format!("cv2:{session_key}")
    }

    /// Notes that a session was given a CV2, for processes that share a store. The CV2 itself is not stored.
    #[must_use]
    pub fn cv2(session_key: &str) -> Self {
        Self { key: Self::cv2_key(session_key), value: Value::Bool(true) }
    }

    /// The text that only the correct key file opens.
    #[must_use]
    pub fn key_check(sealed: &Sealed) -> Self {
        let value = serde_json::to_value(sealed).expect("a text is JSON");
        Self { key: Self::KEY_CHECK.to_owned(), value }
    }
}

impl StoredRecord for Meta {
    const KIND: &'static Kind = &Kind { table: "meta", columns: &[] };

    fn key(&self) -> &str {
        &self.key
    }
}
