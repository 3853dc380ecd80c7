//! Configured faults of calls.

use pg_model::method::MethodInfo;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
};

/// The effect of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FaultKind {
    /// The connection is closed; the call is not executed.
    DropRequest,
    /// The call is executed and its changes are durable; then the connection is closed.
    DropReply,
    /// The call is executed; its reply is late.
    Delay {
        /// The delay, on the real clock.
        milliseconds: u64,
    },
    /// The reply is error 998 with this HTTP status; the call is not executed.
    Status {
        /// The HTTP status, 400 to 599.
        status: u16,
    },
    /// The call is executed; the body of its reply is damaged.
    Garble,
    /// The call is executed twice, and the second reply is sent, as if the network repeated requests.
    Duplicate,
    /// The bank does not answer: error 119, nothing is charged.
    NoResponse,
    /// The bank decides as usual, but its answer is lost: error 119, and the transaction is recorded.
    NoResponseCharged,
}

/// What the bank did before it failed to answer (error 119; assumption A93).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Nothing.
    NotCharged,
    /// It executed the request.
    Charged,
}

impl FaultKind {
    /// The names of all kinds, as in the control interface.
    pub const NAMES: [&'static str; 8] =
        ["drop-request", "drop-reply", "delay", "status", "garble", "duplicate", "no-response", "no-response-charged"];

    /// Returns the name, as in the control interface.
    #[must_use]
    pub const fn name(self) -> &'static str {
        let [drop_request, drop_reply, delay, status, garble, duplicate, no_response, charged] = Self::NAMES;
        match self {
            Self::DropRequest => drop_request,
            Self::DropReply => drop_reply,
            Self::Delay { .. } => delay,
            Self::Status { .. } => status,
            Self::Garble => garble,
            Self::Duplicate => duplicate,
            Self::NoResponse => no_response,
            Self::NoResponseCharged => charged,
        }
    }

    /// Returns what the bank did, for kinds in which it does not answer. Only calls that ask the bank can have these
    /// faults.
    #[must_use]
    pub const fn silence(self) -> Option<Silence> {
        match self {
            Self::NoResponse => Some(Silence::NotCharged),
            Self::NoResponseCharged => Some(Silence::Charged),
            _ => None,
        }
    }
}

/// A fault of the next calls of a method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its number, time-ordered.
    pub key: String,
    /// `service/method`, [`Fault::ANY`], or [`Fault::PAGE`].
    pub method: String,
    /// Its effect.
    #[serde(flatten)]
    pub kind: FaultKind,
    /// Number of calls that it was created for.
    pub times: u32,
    /// Remaining number of calls.
    pub remaining: u32,
    /// When it was created.
    pub created: Timestamp,
}

impl Fault {
    /// Matches every method.
    pub const ANY: &'static str = "*";
    /// Matches a payment on the hosted page.
    pub const PAGE: &'static str = "page/pay";

    /// Whether it applies to the next call of this method.
    #[must_use]
    pub fn meets(&self, info: &MethodInfo) -> bool {
        let named = || self.method.split_once('/') == Some((info.service.name, info.name));
        let possible = self.kind.silence().is_none() || asks_bank(info);
        self.remaining > 0 && possible && (self.method == Self::ANY || named())
    }

    /// Whether it applies to the next payment on the hosted page.
    #[must_use]
    pub fn meets_page(&self) -> bool {
        let named = [Self::ANY, Self::PAGE].contains(&&*self.method);
        self.remaining > 0 && self.kind.silence().is_some() && named
    }

    /// Returns the fault as the control interface shows it.
    #[must_use]
    pub fn view(&self) -> Value {
        let mut view = json!({
            "id": self.key,
            "method": self.method,
            "kind": self.kind.name(),
            "times": self.times,
            "remaining": self.remaining,
            "created": self.created.to_string(),
        });
        match self.kind {
            FaultKind::Delay { milliseconds } => view["milliseconds"] = milliseconds.into(),
            FaultKind::Status { status } => view["status"] = status.into(),
            _ => {}
        }
        view
    }
}

/// Whether a method asks the bank: its reply is a transaction.
#[must_use]
pub fn asks_bank(info: &MethodInfo) -> bool {
    matches!(info.reply, "Transaction" | "EnterpriseResult")
}

impl StoredRecord for Fault {
    const KIND: &'static Kind = &Kind { table: "faults", columns: &[] };

    fn key(&self) -> &str {
        &self.key
    }
}
