//! A payment that was found, with a status that is not final.

use pg_model::{Dialect, Transaction, mask};
use serde::{Deserialize, Serialize};

use super::UnknownReason;

/// After this many lookups in a row with the same status, the status counts as final, unless it is pending.
const ENOUGH: u32 = 3;

/// The payment as last seen, with a status that is pending or unlisted, or that of a decline which may be another copy's.
#[derive(Clone, Debug, Default)]
pub(in crate::machine) struct Unsettled {
    seen: Option<Box<Transaction>>,
    /// Number of lookups in a row that found this status.
    lookups: u32,
}

/// The key of the payment in the reply to its request, if there was one. Text that looks like a card number is masked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::machine) struct AnsweredKey(String);

impl AnsweredKey {
    pub(in crate::machine) fn of(reply: &Transaction) -> Self {
        Self(mask::text(reply.transaction_key.as_str()))
    }

    pub(in crate::machine) fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a listed transaction can be that of the reply. Otherwise it is that of another copy of the request.
    pub(in crate::machine) fn fits(&self, listed: &Transaction) -> bool {
        self.is_unknown() || *self == Self::of(listed)
    }
}

impl Unsettled {
    /// Records the status of the reply to the payment.
    pub(in crate::machine) fn replied(&mut self, transaction: Transaction) {
        (self.seen, self.lookups) = (Some(Box::new(transaction)), 0);
    }

    /// Records the status that a lookup found. Returns a reason to stop if the status is not expected to change: a
    /// decline or an unlisted status. A pending status is expected to change.
    pub(in crate::machine) fn looked_up(
        &mut self,
        transaction: Transaction,
        dialect: &Dialect,
    ) -> Option<UnknownReason> {
        let code = &transaction.transaction_status_code;
        let same = self.seen.as_ref().is_some_and(|seen| seen.transaction_status_code == *code);
        self.lookups = if same { self.lookups.saturating_add(1) } else { 1 };
        let stays = self.lookups >= ENOUGH && !dialect.is_pending(code);
        self.seen = Some(Box::new(transaction));
        if stays { self.reason(dialect) } else { None }
    }

    /// Returns whether a payment was seen, and how often in a row.
    #[cfg(test)]
    pub(in crate::machine) const fn state(&self) -> (bool, u32) {
        (self.seen.is_some(), self.lookups)
    }

    /// Starts the count again, because a lookup did not find the payment.
    pub(in crate::machine) fn not_found(&mut self) {
        self.lookups = 0;
    }

    /// Returns why the outcome is unknown, if a payment was seen.
    pub(in crate::machine) fn reason(&self, dialect: &Dialect) -> Option<UnknownReason> {
        let seen = self.seen.clone()?;
        let code = &seen.transaction_status_code;
        Some(if dialect.is_pending(code) {
            UnknownReason::Pending(seen)
        } else if dialect.is_declined(code) {
            UnknownReason::DeclineUnconfirmed(seen)
        } else {
            UnknownReason::UnknownStatus(seen)
        })
    }
}

#[cfg(test)]
mod tests {
    use pg_model::dialect::StatusEntry;

    use super::*;

    fn with(code: &str) -> Transaction {
        Transaction::default().with(|record| {
            record.transaction_status_code = code.into();
        })
    }

    #[test]
    fn three_lookups_in_a_row_with_one_unlisted_status_are_enough() {
        let dialect = Dialect::documented();
        let mut unsettled = Unsettled::default();
        unsettled.replied(with("777"));
        for code in ["777", "777", "778", "778"] {
            assert_eq!(unsettled.looked_up(with(code), &dialect), None);
        }
        unsettled.not_found();
        for code in ["778", "778"] {
            assert_eq!(unsettled.looked_up(with(code), &dialect), None);
        }
        let why = unsettled.looked_up(with("778"), &dialect);
        assert_eq!(why, Some(UnknownReason::UnknownStatus(Box::new(with("778")))));
    }

    #[test]
    fn a_pending_status_is_looked_up_for_ever() {
        let mut dialect = Dialect::documented();
        dialect.pending.push(StatusEntry::new("777", 11));
        let mut unsettled = Unsettled::default();
        for _ in 0..100 {
            assert_eq!(unsettled.looked_up(with("777"), &dialect), None);
        }
        assert_eq!(unsettled.reason(&dialect), Some(UnknownReason::Pending(Box::new(with("777")))));
    }
}
