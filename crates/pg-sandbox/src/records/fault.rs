//! Faults that calls were told to meet.

use pg_model::method::MethodInfo;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
};

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FaultKind {
    /// The connection is closed; nothing is carried out.
    DropRequest,
    /// The call is carried out and what it changed is durable; then the connection is closed.
    DropReply,
    /// The call is carried out; its reply comes late.
    Delay {
        /// How late, on the real clock.
        milliseconds: u64,
    },
    /// The reply is error 998 with this HTTP status; nothing is carried out.
    Status {
        /// The HTTP status, 400 to 599.
        status: u16,
    },
    /// The call is carried out; the body of its reply is damaged.
    Garble,
    /// The call is carried out twice, and the second reply is sent: a network that repeats.
    Duplicate,
    /// The bank does not answer: error 119, nothing is charged.
    NoResponse,
    /// The bank decides as usual and its answer is lost: error 119, and the transaction is recorded.
    NoResponseCharged,
}

/// What a bank that does not answer has done (error 119; assumption 93).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Nothing.
    NotCharged,
    /// What it was asked to.
    Charged,
}

impl FaultKind {
    /// The names of all kinds, as the control interface spells them.
    pub const NAMES: [&'static str; 8] =
        ["drop-request", "drop-reply", "delay", "status", "garble", "duplicate", "no-response", "no-response-charged"];

    /// The name, as the control interface spells it.
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

    /// What the bank has done, for the kinds in which it does not answer. Only calls that ask the bank meet these.
    #[must_use]
    pub const fn silence(self) -> Option<Silence> {
        match self {
            Self::NoResponse => Some(Silence::NotCharged),
            Self::NoResponseCharged => Some(Silence::Charged),
            _ => None,
        }
    }
}

/// A fault that the next calls of a method meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Its number, time-ordered.
    pub key: String,
    /// `service/method`, [`Fault::ANY`], or [`Fault::PAGE`].
    pub method: String,
    /// What goes wrong.
    #[serde(flatten)]
    pub kind: FaultKind,
    /// How many calls were to meet it.
    pub times: u32,
    /// How many of them have not come yet.
    pub remaining: u32,
    /// When it was asked for.
    pub created: Timestamp,
}

impl Fault {
    /// Stands for every method.
    pub const ANY: &'static str = "*";
    /// Stands for a payment on the hosted page.
    pub const PAGE: &'static str = "page/pay";

    /// Whether the next call of this method meets it.
    #[must_use]
    pub fn meets(&self, info: &MethodInfo) -> bool {
        let named = || self.method.split_once('/') == Some((info.service.name, info.name));
        let possible = self.kind.silence().is_none() || asks_bank(info);
        self.remaining > 0 && possible && (self.method == Self::ANY || named())
    }

    /// Whether the next payment on the hosted page meets it.
    #[must_use]
    pub fn meets_page(&self) -> bool {
        let named = [Self::ANY, Self::PAGE].contains(&&*self.method);
        self.remaining > 0 && self.kind.silence().is_some() && named
    }

    /// The fault as the control interface shows it.
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
