//! The outcome of a payment as it is stored: the same for the first caller, for callers that join, and in the outbox.

use pg_hyper::proto::{
    Refused,
    http::StatusCode,
    machine::{
        Reconcile,
        charge::ChargeOutcome,
        checkout::{CheckoutOutcome, NotOpenedReason},
        retry::RetryOutcome,
        three_d_secure::{NotSentReason, ThreeDSecureOutcome},
    },
    model::{
        Dialect, Encoding, Outcome, ServiceError, Transaction, TransactionLookup, decode, encode, mask,
        method::ServiceInfo,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    IntentStatus, StoreError,
    terms::{Pairs, of_pairs, pairs},
};

/// The outcome of a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum PaymentOutcome {
    /// Paid, or reserved: once.
    Approved(Box<Transaction>),
    /// The bank declined it. Nothing was charged, and the reference is used up.
    Declined(Box<Transaction>),
    /// The service refused it, and nothing was charged, within the limits of [`Refused::scope`].
    Refused(Box<Refused>),
    /// The payment was certainly not sent: nothing was charged and nothing ever will be.
    NotSent,
    /// Paid, or reserved, on the hosted page: once.
    PaidOnPage {
        /// The transaction.
        trans_key: String,
    },
    /// It ended before a payment was requested: nothing was charged and nothing ever will be. For example, the customer
    /// was not authenticated, or did not pay in time.
    NotPaid {
        /// Why.
        why: String,
    },
    /// Whether the payment was charged is unknown. Workers look it up again, and the outbox delivers a later outcome.
    Unknown {
        /// The lookup that can settle the payment, as the machine names it: for a payment by `uniqueMerchantReference`,
        /// for a checkout by the transaction that may be its payment or by `trans_reference`. Without such a reference,
        /// and for an operation without its own `uniqueMerchantReference`, ask the operator of the service.
        reconcile: Reconcile,
        /// Why it is unknown.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
enum Stored {
    Approved {
        transaction: Value,
    },
    Declined {
        transaction: Value,
    },
    Refused {
        http: u16,
        code: String,
        trace: String,
        message: String,
    },
    NotSent,
    PaidOnPage {
        trans_key: String,
    },
    NotPaid {
        why: String,
    },
    Unknown {
        why: String,
        /// Missing if the intent was parked before its machine had an outcome, or if an earlier version wrote the
        /// outcome.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reconcile: Option<StoredReconcile>,
    },
}

/// The lookup that a machine names when it ends as unknown.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredReconcile {
    Transaction(Pairs),
    Enterprise(Pairs),
    AskOperator,
}

impl PaymentOutcome {
    /// Returns the stored form: without fields that the tables do not list, and with every possible card number masked.
    pub(crate) fn of_charge(outcome: &ChargeOutcome) -> (String, IntentStatus) {
        Stored::text(&match outcome {
            ChargeOutcome::Approved(transaction) => Stored::Approved { transaction: json(transaction) },
            ChargeOutcome::Declined(transaction) => Stored::Declined { transaction: json(transaction) },
            ChargeOutcome::Refused(refused) => Stored::refused(refused),
            ChargeOutcome::NotSent => Stored::NotSent,
            ChargeOutcome::Unknown { why, reconcile } => Stored::unknown(why, reconcile),
        })
    }

    pub(crate) fn of_three_d_secure(outcome: &ThreeDSecureOutcome) -> (String, IntentStatus) {
        let not_paid = |why: &str| Stored::NotPaid { why: mask::text(why) };
        Stored::text(&match outcome {
            ThreeDSecureOutcome::Approved(transaction) => Stored::Approved { transaction: json(transaction) },
            ThreeDSecureOutcome::Declined(transaction) => Stored::Declined { transaction: json(transaction) },
            ThreeDSecureOutcome::Refused(refused) => Stored::refused(refused),
            ThreeDSecureOutcome::Unknown { why, reconcile } => Stored::unknown(why, reconcile),
            ThreeDSecureOutcome::NotInitiated(_) => not_paid("the initiation of 3-D Secure failed"),
            ThreeDSecureOutcome::Failed => not_paid("the customer failed the challenge"),
            ThreeDSecureOutcome::Abandoned => not_paid("the customer left the challenge"),
            ThreeDSecureOutcome::TimedOut => not_paid("the customer did not finish the challenge in time"),
            ThreeDSecureOutcome::NotShifted(_) => not_paid("the liability was not shifted"),
            ThreeDSecureOutcome::NotSent(why) => not_paid(match why {
                NotSentReason::Unreachable => "the service could not be reached",
                NotSentReason::NoResult => "the status of the authentication has neither liabilityShift Y nor N",
                NotSentReason::HeldBack => "the request was held back",
                NotSentReason::InitiationUnclear => {
                    "the reply to the initiation was lost: start again with another reference"
                }
                _ => "the payment had already ended without a charge",
            }),
            other => unlisted(other),
        })
    }

    pub(crate) fn of_checkout(outcome: &CheckoutOutcome) -> (String, IntentStatus) {
        Stored::text(&match outcome {
            CheckoutOutcome::Paid { trans_key } => Stored::PaidOnPage { trans_key: trans_key.clone() },
            CheckoutOutcome::NotOpened(NotOpenedReason::Refused(refused)) => Stored::refused(refused),
            CheckoutOutcome::NotOpened(why) => Stored::NotPaid {
                why: match why {
                    NotOpenedReason::Unreachable => "the service could not be reached",
                    NotOpenedReason::HeldBack => "the request was held back",
                    NotOpenedReason::Withdrawn => "the checkout was withdrawn",
                    NotOpenedReason::OtherItems => "the service made a token with another currency or other items",
                    _ => "the process died before there was a page: start again with another name",
                }
                .to_owned(),
            },
            CheckoutOutcome::Lapsed { cancelled: true } => {
                Stored::NotPaid { why: "the checkout was cancelled".to_owned() }
            }
            CheckoutOutcome::Lapsed { cancelled: false } => {
                Stored::NotPaid { why: "the checkout has expired".to_owned() }
            }
            CheckoutOutcome::Unknown { why, reconcile } => Stored::unknown(why, reconcile),
            other => unlisted(other),
        })
    }

    pub(crate) fn of_operation(outcome: &RetryOutcome<Outcome<Transaction>>) -> (String, IntentStatus) {
        Stored::text(&match outcome {
            RetryOutcome::Answered(Outcome::Approved(transaction)) => {
                Stored::Approved { transaction: json(transaction) }
            }
            RetryOutcome::Answered(Outcome::Declined(transaction)) => {
                Stored::Declined { transaction: json(transaction) }
            }
            RetryOutcome::Answered(Outcome::Other(transaction)) => {
                let status = mask::text(&transaction.transaction_status);
                let key = Some(transaction.transaction_key.clone()).filter(|key| !key.is_empty());
                let lookup = key.map(|key| TransactionLookup::new().transaction_key(key).into());
                let reconcile = lookup.unwrap_or(Reconcile::AskOperator);
                Stored::unknown(&format!("the status {status} is not listed"), &reconcile)
            }
            RetryOutcome::Refused(refused) => Stored::refused(refused),
            RetryOutcome::NotSent => Stored::NotSent,
            RetryOutcome::Unknown { why, reconcile } => Stored::unknown(why, reconcile),
        })
    }

    /// Returns the stored form of an unknown outcome.
    pub(crate) fn unknown(why: &str) -> String {
        serde_json::json!({ "outcome": "unknown", "why": why }).to_string()
    }

    /// Reads the stored form of an intent whose payment this service makes. `unique` is the `uniqueMerchantReference` under
    /// which the intent pays.
    pub(crate) fn read(
        text: &str,
        service: &ServiceInfo,
        unique: Option<&str>,
        dialect: &Dialect,
    ) -> Result<Self, StoreError> {
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
                Self::Refused(Box::new(Refused::new(service, status, error, dialect)))
            }
            Stored::NotSent => Self::NotSent,
            Stored::PaidOnPage { trans_key } => Self::PaidOnPage { trans_key },
            Stored::NotPaid { why } => Self::NotPaid { why },
            Stored::Unknown { why, reconcile } => Self::Unknown {
                reconcile: match reconcile {
                    Some(StoredReconcile::Transaction(pairs)) => Reconcile::Transaction(of_pairs(pairs)?),
                    Some(StoredReconcile::Enterprise(pairs)) => Reconcile::Enterprise(of_pairs(pairs)?),
                    Some(StoredReconcile::AskOperator) => Reconcile::AskOperator,
                    None => Reconcile::by_unique_reference(unique),
                },
                why,
            },
        })
    }

    /// Returns one word: `approved`, `declined`, `refused`, `not-sent`, `paid-on-page`, `not-paid` or `unknown`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approved(_) => "approved",
            Self::Declined(_) => "declined",
            Self::Refused(_) => "refused",
            Self::NotSent => "not-sent",
            Self::PaidOnPage { .. } => "paid-on-page",
            Self::NotPaid { .. } => "not-paid",
            Self::Unknown { .. } => "unknown",
        }
    }

    /// Returns the transaction, if one was found.
    #[must_use]
    pub fn transaction(&self) -> Option<&Transaction> {
        match self {
            Self::Approved(transaction) | Self::Declined(transaction) => Some(transaction),
            Self::Refused(_)
            | Self::NotSent
            | Self::PaidOnPage { .. }
            | Self::NotPaid { .. }
            | Self::Unknown { .. } => None,
        }
    }
}

/// Returns an outcome of a later version of the machine: unknown until this program is updated.
fn unlisted(outcome: &impl std::fmt::Debug) -> Stored {
    let why = mask::text(&format!("this program does not know the outcome {outcome:?}"));
    Stored::Unknown { why, reconcile: None }
}

impl Stored {
    fn refused(refused: &Refused) -> Self {
        Self::Refused {
            http: refused.http_status.as_u16(),
            code: mask::text(refused.code().as_str()),
            trace: mask::text(refused.error.trace_code.as_str()),
            message: mask::text(&refused.error.error_message),
        }
    }

    fn unknown(why: &impl std::fmt::Display, reconcile: &Reconcile) -> Self {
        let reconcile = match reconcile {
            Reconcile::Transaction(lookup) => pairs(lookup).map(StoredReconcile::Transaction),
            Reconcile::Enterprise(lookup) => pairs(lookup).map(StoredReconcile::Enterprise),
            Reconcile::AskOperator => Some(StoredReconcile::AskOperator),
            // An outcome of a later version of the machine.
            _ => None,
        };
        Self::Unknown { why: mask::text(&why.to_string()), reconcile }
    }

    fn text(stored: &Self) -> (String, IntentStatus) {
        let status = if matches!(stored, Self::Unknown { .. }) { IntentStatus::Unknown } else { IntentStatus::Ended };
        (serde_json::to_string(stored).expect("strings and JSON values always serialize"), status)
    }
}

fn json(transaction: &Transaction) -> Value {
    let stored = transaction.clone().with(|record| {
        record.extra = Default::default();
        record.transaction_status = mask::text(&record.transaction_status);
        record.bank = record.bank.iter().map(|(name, value)| (name, mask::text(value))).collect();
    });
    serde_json::from_str(&encode(&stored, Encoding::Json)).expect("records are written as JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A service, or a proxy before it, that repeats what the customer has entered.
    #[test]
    fn no_card_number_of_a_reply_is_stored() {
        const PAN: &str = "4111111111111111";
        let transaction = decode::<Transaction>(
            format!(
                r#"{{"transactionStatusCode":"600","transactionStatus":"approved {PAN}","transactionKey":"k1","bankResponseMessage":"card {PAN}","pan":"{PAN}","secret":"917"}}"#
            )
            .as_bytes(),
        )
        .unwrap()
        .record;
        for outcome in [ChargeOutcome::Approved(transaction.clone()), ChargeOutcome::Declined(transaction)] {
            let (stored, status) = PaymentOutcome::of_charge(&outcome);
            assert_eq!(status, IntentStatus::Ended);
            assert!(stored.contains("approved 411111") && stored.contains("card 411111"), "{stored}");
            assert!(!stored.contains(PAN) && !stored.contains("pan") && !stored.contains("917"), "{stored}");
        }
    }
}
