//! Received events for display.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{output, redactor::cards};

/// A received event.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    /// The name of the address.
    pub(super) what: &'static str,
    /// Its claim as a short text.
    pub(super) claims: String,
    /// The service's confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) confirmed: Option<Box<RawValue>>,
    /// The decrypted data: unauthenticated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unauthenticated: Option<Box<RawValue>>,
    /// Why the event has neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_confirmed: Option<String>,
    /// Where the event was forwarded, and the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    forwarded: Option<Forwarded>,
}

impl Event {
    pub(super) const fn new(what: &'static str, claims: String) -> Self {
        Self { what, claims, confirmed: None, unauthenticated: None, not_confirmed: None, forwarded: None }
    }

    /// Adds the service's confirmation, or why it is missing.
    pub(super) fn found(mut self, found: Result<String, String>) -> Self {
        match found {
            Ok(record) => self.confirmed = shown(&record),
            Err(why) => self.not_confirmed = Some(why),
        }
        self
    }

    /// Adds the decrypted data, or why decryption failed.
    pub(super) fn decrypted(mut self, decrypted: Result<String, String>) -> Self {
        match decrypted {
            Ok(record) => self.unauthenticated = shown(&record),
            Err(why) => self.not_confirmed = Some(why),
        }
        self
    }

    /// Adds the result of forwarding.
    pub(super) fn forwarded(mut self, forwarded: Forwarded) -> Self {
        self.forwarded = Some(forwarded);
        self
    }

    /// One line for people.
    pub(super) fn headline(&self) -> String {
        let end = match (&self.confirmed, &self.unauthenticated, &self.not_confirmed) {
            (Some(_), ..) => ": confirmed".to_owned(),
            (_, Some(_), _) => ": decrypted, not authenticated".to_owned(),
            (.., Some(why)) => format!(": not confirmed: {why}"),
            _ => String::new(),
        };
        let forwarded = self.forwarded.as_ref().map_or_else(String::new, |forwarded| format!("; {}", forwarded.line()));
        output::harmless(&format!("{}: {}{end}{forwarded}", self.what, self.claims)).into_owned()
    }

    /// Returns the event as JSON.
    pub(super) fn record(&self) -> Option<&str> {
        self.confirmed.as_deref().or(self.unauthenticated.as_deref()).map(RawValue::get)
    }
}

/// The result of a forwarded callback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Forwarded {
    pub(super) to: String,
    /// The status of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    /// Why there is no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// Whether the callback was acknowledged.
    pub(super) acknowledged: bool,
    /// The callback's id in the sandbox's journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) callback: Option<String>,
}

impl Forwarded {
    /// Returns a short text for people.
    fn line(&self) -> String {
        let answer = match (self.status, &self.error) {
            (Some(status), _) => format!("HTTP {status}"),
            (None, error) => error.clone().unwrap_or_default(),
        };
        let to = &self.to;
        match (&self.callback, self.acknowledged) {
            (_, true) => format!("forwarded to {to}: {answer}"),
            (Some(id), false) => format!(
                "forwarded to {to}: {answer}; not acknowledged; send it again with `pg sandbox callbacks redeliver {id}`"
            ),
            (None, false) => format!("forwarded to {to}: {answer}; not acknowledged"),
        }
    }
}

/// Returns a record without card numbers and CV2s.
fn shown(record: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(cards::masked(record).into_owned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_state_their_confirmation_in_text_and_json() {
        let event = || Event::new("updaterCallback", "batch b, 2 cards".to_owned());
        let confirmed = event().found(Ok(r#"{"batchKey":"b"}"#.to_owned()));
        assert_eq!(confirmed.headline(), "updaterCallback: batch b, 2 cards: confirmed");
        assert_eq!(confirmed.record(), Some(r#"{"batchKey":"b"}"#));
        let json = serde_json::to_string(&event().found(Err("182\n\u{1b}[2J".to_owned()))).unwrap();
        assert_eq!(json, r#"{"what":"updaterCallback","claims":"batch b, 2 cards","notConfirmed":"182\n\u001b[2J"}"#);
        let refused = event().found(Err("182\n\u{1b}[2J".to_owned()));
        assert_eq!(refused.headline(), "updaterCallback: batch b, 2 cards: not confirmed: 182\\n\\u{1b}[2J");
        assert!(event().decrypted(Ok("{}".to_owned())).headline().ends_with("decrypted, not authenticated"));
    }

    #[test]
    fn an_unacknowledged_callback_can_be_resent() {
        let forwarded = |status, acknowledged| Forwarded {
            to: "http://localhost/".to_owned(),
            status,
            error: status.is_none().then(|| "connection refused".to_owned()),
            acknowledged,
            callback: Some("7".to_owned()),
        };
        assert_eq!(forwarded(Some(204), true).line(), "forwarded to http://localhost/: HTTP 204");
        assert!(
            forwarded(Some(500), false)
                .line()
                .ends_with("HTTP 500; not acknowledged; send it again with `pg sandbox callbacks redeliver 7`")
        );
        assert!(forwarded(None, false).line().contains("connection refused; not acknowledged"));
    }
}
