//! Outcomes as text: one word for logs, one line for people. Texts from the service or a bank are masked.

use std::fmt::{self, Display, Formatter};

use pg_model::Transaction;

use super::{
    Reconcile, UnknownReason,
    account_update::{BatchEnd, Summary, UpdateEnd},
    charge::ChargeOutcome,
    checkout::{CheckoutOutcome, NotOpenedReason},
    retry::RetryOutcome,
    three_d_secure::{NotSentReason, ThreeDSecureOutcome},
};
use crate::{
    Refused,
    error::{identifier, one_line},
};

impl ChargeOutcome {
    /// Returns one word for logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Approved(_) => "approved",
            Self::Declined(_) => "declined",
            Self::Refused(_) => "refused",
            Self::NotSent => "not sent",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// One line that says what to do next.
impl Display for ChargeOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approved(transaction) => approved(f, transaction),
            Self::Declined(transaction) => declined(f, transaction),
            Self::Refused(refusal) => refused(f, refusal),
            Self::NotSent => f.write_str("not sent: nothing was charged"),
            Self::Unknown { reconcile, why } => unknown(f, why, reconcile),
        }
    }
}

impl ThreeDSecureOutcome {
    /// Returns one or two words for logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Approved(_) => "approved",
            Self::Declined(_) => "declined",
            Self::NotInitiated(_) => "not initiated",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
            Self::TimedOut => "timed out",
            Self::NotShifted(_) => "not shifted",
            Self::Refused(_) => "refused",
            Self::NotSent(_) => "not sent",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// One line that says what to do next.
impl Display for ThreeDSecureOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Approved(transaction) => approved(f, transaction),
            Self::Declined(transaction) => declined(f, transaction),
            Self::NotInitiated(record) => {
                let (code, status) = (record.transaction_status_code.as_str(), &record.transaction_status);
                write!(f, "not initiated: status {} {}; nothing was charged", one_line(code), one_line(status))
            }
            Self::Failed => f.write_str("failed: the customer was not authenticated; nothing was charged"),
            Self::Abandoned => f.write_str("abandoned: the customer left the challenge; nothing was charged"),
            Self::TimedOut => f.write_str("timed out: the customer did not finish in time; nothing was charged"),
            Self::NotShifted(_) => f.write_str("not shifted: the merchant would stay liable; nothing was charged"),
            Self::Refused(refusal) => refused(f, refusal),
            Self::NotSent(why) => write!(f, "not sent: {why}; nothing was charged"),
            Self::Unknown { reconcile, why } => unknown(f, why, reconcile),
        }
    }
}

impl Display for NotSentReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreachable => "the service could not be reached",
            Self::NoResult => "the status of the authentication has neither liabilityShift Y nor N",
            Self::HeldBack => "nothing may be sent at present",
            Self::InitiationUnclear => "whether the initiation arrived is unknown; start again with a new reference",
            Self::Over => "the payment had already ended without a charge before it was resumed",
        })
    }
}

impl CheckoutOutcome {
    /// Returns one or two words for logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Paid { .. } => "paid",
            Self::NotOpened(_) => "not opened",
            Self::Lapsed { .. } => "lapsed",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// One line that says what to do next.
impl Display for CheckoutOutcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paid { trans_key } => write!(f, "paid: transaction {}", identifier(trans_key)),
            Self::NotOpened(why) => write!(f, "not opened: {why}; nothing was paid"),
            Self::Lapsed { cancelled: true } => f.write_str("lapsed: the token was cancelled and was not paid"),
            Self::Lapsed { cancelled: false } => f.write_str("lapsed: the token expired and was not paid"),
            Self::Unknown { reconcile, why } => unknown(f, why, reconcile),
        }
    }
}

impl Display for NotOpenedReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(f),
            Self::Unreachable => f.write_str("the service could not be reached"),
            Self::HeldBack => f.write_str("nothing may be sent at present, or the machine could not be saved"),
            Self::Interrupted => f.write_str("the checkout was resumed from a state without a token; start again"),
            Self::Withdrawn => f.write_str("the checkout was withdrawn before it had a token"),
            Self::OtherItems => f.write_str("the token has another currency or other items than the request"),
        }
    }
}

impl<T> RetryOutcome<T> {
    /// Returns one or two words for logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Answered(_) => "answered",
            Self::Refused(_) => "refused",
            Self::NotSent => "not sent",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// One line. It does not show the content of an answer.
impl<T> Display for RetryOutcome<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(_) | Self::NotSent => f.write_str(self.label()),
            Self::Refused(refused) => refused.fmt(f),
            Self::Unknown { reconcile, why } => unknown(f, why, reconcile),
        }
    }
}

impl Summary {
    /// Returns one or two words for logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self.end {
            UpdateEnd::Complete => "complete",
            UpdateEnd::Refused(_) => "refused",
            UpdateEnd::HeldBack => "held back",
            UpdateEnd::Superseded => "superseded",
            UpdateEnd::Unreachable => "unreachable",
            UpdateEnd::SourceChanged => "source changed",
        }
    }
}

/// Shows how the update ended, and the numbers of card keys.
impl Display for Summary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let counts = self.progress;
        let (finished, updated) = (counts.finished, counts.updated);
        write!(
            f,
            "{}; {} card keys read, {finished} answered, {updated} of them with a new card",
            self.end, counts.read
        )
    }
}

impl Display for UpdateEnd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::Refused(refused) => refused.fmt(f),
            Self::HeldBack => f.write_str("held back: nothing may be sent at present; resume the update later"),
            Self::Superseded => {
                f.write_str("superseded: another machine has stored its state; resume the stored state")
            }
            Self::Unreachable => f.write_str("unreachable: the service did not answer; resume the update later"),
            Self::SourceChanged => {
                f.write_str("source changed: the beginning of the source differs from the keys that were read before")
            }
        }
    }
}

impl Display for BatchEnd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("finished"),
            Self::Refused { code, message } => write!(f, "refused: {} {}", one_line(code), one_line(message)),
            Self::Doubtful => f.write_str("doubtful: whether the service accepted the batch is unknown"),
            Self::DoubtfulRefusal { code, message } => write!(
                f,
                "doubtful: the answer {} {} is neither in the documents nor in the dialect, and may hide that the service \
                 accepted the batch",
                one_line(code),
                one_line(message)
            ),
            Self::Failed { code } => {
                write!(f, "failed: the service refused to return the result with {}", one_line(code))
            }
            Self::Overdue => f.write_str("overdue: the service had no result within the plan's time"),
        }
    }
}

fn approved(f: &mut Formatter<'_>, transaction: &Transaction) -> fmt::Result {
    write!(f, "approved: transaction {}", identifier(transaction.transaction_key.as_str()))
}

fn declined(f: &mut Formatter<'_>, transaction: &Transaction) -> fmt::Result {
    let (code, status) = (transaction.transaction_status_code.as_str(), &transaction.transaction_status);
    write!(f, "declined: status {} {}", one_line(code), one_line(status))
}

fn refused(f: &mut Formatter<'_>, refused: &Refused) -> fmt::Result {
    let reference = if refused.spends_reference() { "; a corrected payment needs a new reference" } else { "" };
    write!(f, "{refused}; nothing was charged{reference}")
}

fn unknown(f: &mut Formatter<'_>, why: &UnknownReason, reconcile: &Reconcile) -> fmt::Result {
    write!(f, "unknown: {why}; {reconcile}")?;
    let by_reference = reconcile.transaction().is_some_and(|lookup| lookup.unique_merchant_reference.is_some());
    f.write_str(if by_reference { "; do not pay under another reference before it is found" } else { "" })
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use pg_model::{ApiRequest as _, ServiceError, TransactionLookup};

    use super::*;
    use crate::machine::Failure;

    #[test]
    fn an_outcome_names_the_next_step() {
        let refusal = |code: &str| {
            let error = ServiceError::default().with(|record| {
                record.error_code = code.into();
            });
            ChargeOutcome::Refused(Refused::new(
                TransactionLookup::INFO.service,
                StatusCode::BAD_REQUEST,
                error,
                &pg_model::Dialect::documented(),
            ))
        };
        let paid = Transaction::default().with(|record| {
            record.transaction_key = "k1".into();
        });
        let not = Transaction::default().with(|record| {
            record.transaction_status_code = "901".into();
            record.transaction_status = "No to 4111111111111111".into();
        });
        let reconcile = Reconcile::from(TransactionLookup::new().unique_merchant_reference("order-7"));
        let hex = Transaction::default().with(|record| {
            record.transaction_key = "0a123456789012345bcdef0123456789".into();
        });
        for (outcome, line) in [
            (ChargeOutcome::Approved(paid), "approved: transaction k1"),
            (ChargeOutcome::Approved(hex), "approved: transaction 0a123456789012345bcdef0123456789"),
            (ChargeOutcome::Declined(not), "declined: status 901 No to 411111******1111"),
            (
                refusal("108"),
                "refused: 108 Invalid card number (HTTP 400): fix the request; nothing was charged; a corrected payment needs \
                 a new reference",
            ),
            (
                refusal("121"),
                "refused: 121 This IP has been blocked for 1 minute because of too many failed attempts (HTTP 400): wait one \
                 minute; nothing was charged",
            ),
            (ChargeOutcome::NotSent, "not sent: nothing was charged"),
            (
                ChargeOutcome::Unknown { reconcile, why: UnknownReason::NotLookedUp },
                "unknown: a request may have arrived, and no lookup was answered since; look it up next (transaction/lookup \
                 uniqueMerchantReference=order-7); do not pay under another reference before it is found",
            ),
        ] {
            assert_eq!(outcome.to_string(), line);
            assert!(line.starts_with(outcome.label()));
        }
    }

    #[test]
    fn no_text_of_the_service_begins_a_line_or_steers_a_terminal() {
        let hostile = "no\r\npaid: yes\u{1b}[2J\u{9b}\u{202e}\u{2028}\u{85}";
        let error = |code: &str, message: &str| {
            ServiceError::default().with(|error| {
                error.error_code = code.into();
                error.error_message = message.into();
                error.trace_code = hostile.into();
            })
        };
        let refused = |code: &str| {
            Refused::new(
                TransactionLookup::INFO.service,
                StatusCode::OK,
                error(code, hostile),
                &pg_model::Dialect::documented(),
            )
        };
        let declined = Transaction::default().with(|record| {
            record.transaction_status_code = hostile.into();
            record.transaction_status = hostile.into();
        });
        for line in [
            refused("1").to_string(),
            refused(hostile).to_string(),
            ChargeOutcome::Refused(refused("108")).to_string(),
            ChargeOutcome::Declined(declined).to_string(),
            BatchEnd::Refused { code: hostile.to_owned(), message: hostile.to_owned() }.to_string(),
            BatchEnd::DoubtfulRefusal { code: hostile.to_owned(), message: hostile.to_owned() }.to_string(),
        ] {
            assert!(line.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{line:?}");
        }
    }

    #[test]
    fn a_failure_is_an_error() {
        let failure: Box<dyn std::error::Error> = Box::new(Failure::MaybeSent);
        assert_eq!(failure.to_string(), "the request may have been sent, and has no reply");
    }
}
