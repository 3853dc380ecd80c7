//! How a payment ended, as it is stored and told: the same to the first caller, to those who join, and in the outbox.

use pg_hyper::proto::{
    Refused,
    http::StatusCode,
    machine::{Reconcile, charge::ChargeOutcome},
    model::{Dialect, Encoding, ServiceError, Transaction, decode, encode, mask},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{IntentStatus, StoreError};

/// How a payment ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum PaymentOutcome {
    /// Paid, or reserved: once.
    Approved(Box<Transaction>),
    /// The bank said no. Nothing was charged, and the reference is used up.
    Declined(Box<Transaction>),
    /// The service refused it and nothing was charged, as far as [`Refused::scope`] reaches.
    Refused(Box<Refused>),
    /// Nothing left this side: nothing was charged and nothing ever will be.
    NotSent,
    /// It is not known whether the payment was charged. Workers look it up again; a later outcome comes by the outbox.
    Unknown {
        /// The lookup that tells, once there is something to tell.
        reconcile: Reconcile,
        /// Why it is not known.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
enum Stored {
    Approved { transaction: Value },
    Declined { transaction: Value },
    Refused { http: u16, code: String, trace: String, message: String },
    NotSent,
    Unknown { why: String },
}

impl PaymentOutcome {
    /// As it is stored: without what the tables do not know, and with everything masked that looks like a card number.
    pub(crate) fn stored(outcome: &ChargeOutcome) -> (String, IntentStatus) {
        let status = match outcome {
            ChargeOutcome::Unknown { .. } => IntentStatus::Unknown,
            _ => IntentStatus::Ended,
        };
        let stored = match outcome {
            ChargeOutcome::Approved(transaction) => {
                json(transaction).map(|transaction| Stored::Approved { transaction })
            }
            ChargeOutcome::Declined(transaction) => {
                json(transaction).map(|transaction| Stored::Declined { transaction })
            }
            ChargeOutcome::Refused(refused) => Ok(Stored::Refused {
                http: refused.http_status.as_u16(),
                code: mask::text(refused.code().as_str()),
                trace: mask::text(refused.error.trace_code.as_str()),
                message: mask::text(&refused.error.error_message),
            }),
            ChargeOutcome::NotSent => Ok(Stored::NotSent),
            ChargeOutcome::Unknown { why, .. } => Ok(Stored::Unknown { why: mask::text(&why.to_string()) }),
        };
        let text = stored.and_then(|stored| serde_json::to_string(&stored));
        (text.expect("records are written as JSON, and texts have no failing parts"), status)
    }

    /// An unknown outcome, as it is stored.
    pub(crate) fn unknown(why: &str) -> String {
        serde_json::json!({ "outcome": "unknown", "why": why }).to_string()
    }

    /// What was stored.
    pub(crate) fn read(text: &str, reference: &str, dialect: &Dialect) -> Result<Self, StoreError> {
        let unreadable = |what: &dyn std::fmt::Display| StoreError::Unreadable(format!("its outcome: {what}"));
        let stored = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
        let transaction = |json: Value| {
            decode::<Transaction>(json.to_string().as_bytes())
                .map(|reply| Box::new(reply.record))
                .map_err(|error| unreadable(&error))
        };
        Ok(match stored {
            Stored::Approved { transaction: json } => Self::Approved(transaction(json)?),
            Stored::Declined { transaction: json } => Self::Declined(transaction(json)?),
            Stored::Refused { http, code, trace, message } => {
                let error = ServiceError::default().with(|record| {
                    record.error_code = code.into();
                    record.trace_code = trace.into();
                    record.error_message = message;
                });
                let status = StatusCode::from_u16(http).unwrap_or(StatusCode::BAD_REQUEST);
                Self::Refused(Box::new(Refused::new(status, error, dialect)))
            }
            Stored::NotSent => Self::NotSent,
            Stored::Unknown { why } => {
                Self::Unknown { reconcile: Reconcile::by_unique_reference(Some(reference)), why }
            }
        })
    }

    /// One word: `approved`, `declined`, `refused`, `not-sent` or `unknown`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approved(_) => "approved",
            Self::Declined(_) => "declined",
            Self::Refused(_) => "refused",
            Self::NotSent => "not-sent",
            Self::Unknown { .. } => "unknown",
        }
    }

    /// The transaction, if one was found.
    #[must_use]
    pub fn transaction(&self) -> Option<&Transaction> {
        match self {
            Self::Approved(transaction) | Self::Declined(transaction) => Some(transaction),
            Self::Refused(_) | Self::NotSent | Self::Unknown { .. } => None,
        }
    }
}

fn json(transaction: &Transaction) -> serde_json::Result<Value> {
    let stored = transaction.clone().with(|record| {
        record.extra = Default::default();
        record.transaction_status = mask::text(&record.transaction_status);
        record.bank = record.bank.iter().map(|(name, value)| (name, mask::text(value))).collect();
    });
    serde_json::from_str(&encode(&stored, Encoding::Json))
}
