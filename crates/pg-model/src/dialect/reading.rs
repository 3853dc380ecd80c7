//! What an error code says, under a dialect and an HTTP status.

use super::{Dialect, RefusedReference, Standing, UNKNOWN_TRANSACTION};
use crate::{ErrorCode, Remedy};

/// What an error code says: what the documents say of it, what the dialect adds, and where both are silent, what is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// Whether the documents list the code or the dialect has it. A code that neither knows is never trusted: it may be the
    /// service's word for a reference that was used.
    pub known: bool,
    /// What to do about it.
    pub remedy: Remedy,
    /// What it says about other copies of the same request.
    pub standing: Standing,
    /// Whether what became of this very request is open.
    pub leaves_it_open: bool,
    /// Whether an earlier request may have done what was asked for.
    pub says_it_was_done: bool,
    /// Whether it says that there is no such transaction.
    pub unknown_transaction: bool,
    /// Whether a payment that was refused so has used its `uniqueMerchantReference` up.
    pub spends_reference: bool,
}

/// The reason lies in the request, by the documents' own words (spec 1 §7, 2 §7): the path is the same for every copy, a
/// wrong card number stays wrong, and a missing currency stays missing.
const ALWAYS: &[ErrorCode] = &[
    ErrorCode::INVALID_FUNCTION_CALL,
    ErrorCode::INVALID_RETURN_TYPE,
    ErrorCode::INVALID_CARD_NUMBER,
    ErrorCode::INVALID_CARD_CV2,
    ErrorCode::CURRENCY_NOT_SUPPLIED,
];

/// Cards and sessions expire (spec 2 §3.1, §7).
const FROM_NOW_ON: &[ErrorCode] = &[ErrorCode::INVALID_CARD_EXPIRY, ErrorCode::SESSION_EXPIRED];

impl Dialect {
    /// What an error code says that came with this HTTP status.
    ///
    /// ```
    /// use pg_model::{Remedy, dialect::Dialect};
    ///
    /// let reading = Dialect::documented().reading(&"777".into(), 400);
    /// assert!(!reading.known);
    /// assert_eq!(reading.remedy, Remedy::LookUp);
    /// ```
    #[must_use]
    pub fn reading(&self, code: &ErrorCode, http: u16) -> Reading {
        let entry = self.error(code);
        let told = entry.and_then(|entry| entry.remedy).or_else(|| code.remedy());
        let known = entry.is_some() || code.message().is_some();
        let remedy = told.unwrap_or(match http {
            401 => Remedy::FixCredentials,
            403 => Remedy::AskOperator,
            429 => Remedy::WaitOneMinute,
            500..=599 => Remedy::Retry,
            _ => Remedy::LookUp,
        });
        let leaves_it_open = *code == ErrorCode::NO_RESPONSE_FROM_BANK || (500..=599).contains(&http);
        let says_it_was_done = known && remedy == Remedy::LookUp && !leaves_it_open;
        let standing = entry.and_then(|entry| entry.standing).unwrap_or_else(|| documented_standing(code));
        let unseen = [Remedy::FixCredentials, Remedy::WaitOneMinute, Remedy::WaitFiveMinutes].contains(&remedy);
        let free = self.refused_reference == Some(RefusedReference::Free) && !leaves_it_open && !says_it_was_done;
        Reading {
            known,
            remedy,
            standing: if leaves_it_open || says_it_was_done { Standing::WhileItLasts } else { standing },
            leaves_it_open,
            says_it_was_done,
            unknown_transaction: entry
                .is_some_and(|entry| entry.situations.iter().any(|name| name == UNKNOWN_TRANSACTION)),
            spends_reference: !unseen && !free && *code != ErrorCode::PERMISSION_DENIED,
        }
    }
}

fn documented_standing(code: &ErrorCode) -> Standing {
    if ALWAYS.contains(code) {
        Standing::Always
    } else if FROM_NOW_ON.contains(code) {
        Standing::FromNowOn
    } else {
        Standing::WhileItLasts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::ErrorEntry;

    #[test]
    fn without_a_dialect_only_what_the_documents_say_of_the_request_holds_for_every_copy() {
        let copies = |code: &str| Dialect::documented().reading(&code.into(), 400).standing;
        assert_eq!(
            (copies("108"), copies("136"), copies("107")),
            (Standing::Always, Standing::FromNowOn, Standing::WhileItLasts)
        );
        for code in ["", "101", "106", "111", "119", "121", "125", "129", "777"] {
            assert_eq!(copies(code), Standing::WhileItLasts, "{code}");
        }
        assert_eq!(Dialect::documented().reading(&"108".into(), 500).standing, Standing::WhileItLasts);
    }

    #[test]
    fn an_entry_decides_what_the_documents_leave_open() {
        let mut dialect = Dialect::documented();
        let mut entry = ErrorEntry::new("777", 92);
        entry.remedy = Some(Remedy::LookUp);
        dialect.errors.push(entry);
        let reading = dialect.reading(&"777".into(), 401);
        assert!(reading.known && reading.says_it_was_done);
        // By its status alone it would have been wrong credentials.
        assert_eq!(Dialect::documented().reading(&"777".into(), 401).remedy, Remedy::FixCredentials);
        assert!(!Dialect::documented().reading(&"777".into(), 401).known);
    }

    #[test]
    fn a_reference_that_a_refusal_leaves_free_is_free_only_after_a_refusal_that_did_nothing() {
        let mut dialect = Dialect::documented();
        assert!(dialect.reading(&"108".into(), 400).spends_reference);
        dialect.refused_reference = Some(RefusedReference::Free);
        assert!(!dialect.reading(&"108".into(), 400).spends_reference);
        assert!(dialect.reading(&"119".into(), 400).spends_reference);
        assert!(dialect.reading(&"125".into(), 400).spends_reference);
    }
}
