//! The meaning of an error code, under a dialect and an HTTP status.

use super::{Dialect, ReferenceAfterRefusal, RefusalScope, UNKNOWN_TRANSACTION};
use crate::{ErrorCode, Remedy};

/// The meaning of an error code: from the documents, then from the dialect, and otherwise the safe choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorMeaning {
    /// Whether the documents or the dialect list the code. An unlisted code is never trusted: it may be the
    /// service's code for a reused reference.
    pub known: bool,
    /// What to do about it.
    pub remedy: Remedy,
    /// What the refusal says about other copies of the same request.
    pub scope: RefusalScope,
    /// Whether the outcome of this request is unknown.
    pub leaves_it_open: bool,
    /// Whether an earlier request may have had the requested effect.
    pub says_it_was_done: bool,
    /// Whether the code means that there is no such transaction.
    pub unknown_transaction: bool,
    /// Whether a payment refused with this code has used up its `uniqueMerchantReference`.
    pub spends_reference: bool,
}

/// The reason is in the request, according to the documents (spec 1 §7, 2 §7): the path is the same for every copy, a
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
    /// Returns the meaning of an error code that came with this HTTP status.
    ///
    /// ```
    /// use pg_model::{Remedy, dialect::Dialect};
    ///
    /// let reading = Dialect::documented().error_meaning(&"777".into(), 400);
    /// assert!(!reading.known);
    /// assert_eq!(reading.remedy, Remedy::LookUp);
    /// ```
    #[must_use]
    pub fn error_meaning(&self, code: &ErrorCode, http: u16) -> ErrorMeaning {
        let entry = self.error(code);
        let told = entry.and_then(|entry| entry.remedy).or_else(|| code.remedy());
        let known = entry.is_some() || code.message().is_some();
        let remedy = told.unwrap_or(match http {
            // An entry has the same meaning under every status.
            _ if known => Remedy::LookUp,
            // Neither proves anything about the credentials: the documents do not map conditions to statuses (spec 1 §7).
            401 | 403 => Remedy::AskOperator,
            429 => Remedy::WaitOneMinute,
            500..=599 => Remedy::Retry,
            _ => Remedy::LookUp,
        });
        let leaves_it_open = *code == ErrorCode::NO_RESPONSE_FROM_BANK || (500..=599).contains(&http);
        let says_it_was_done = known && remedy == Remedy::LookUp && !leaves_it_open;
        let scope = entry.and_then(|entry| entry.scope).unwrap_or_else(|| documented_scope(code));
        let unseen = [Remedy::FixCredentials, Remedy::WaitOneMinute, Remedy::WaitFiveMinutes].contains(&remedy);
        let free = self.refused_reference == Some(ReferenceAfterRefusal::Free) && !leaves_it_open && !says_it_was_done;
        ErrorMeaning {
            known,
            remedy,
            scope: if leaves_it_open || says_it_was_done { RefusalScope::WhileItLasts } else { scope },
            leaves_it_open,
            says_it_was_done,
            unknown_transaction: entry
                .is_some_and(|entry| entry.situations.iter().any(|name| name == UNKNOWN_TRANSACTION)),
            spends_reference: !unseen && !free && *code != ErrorCode::PERMISSION_DENIED,
        }
    }
}

fn documented_scope(code: &ErrorCode) -> RefusalScope {
    if ALWAYS.contains(code) {
        RefusalScope::Always
    } else if FROM_NOW_ON.contains(code) {
        RefusalScope::FromNowOn
    } else {
        RefusalScope::WhileItLasts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::ErrorEntry;

    // spec: 2 §7, A141: A refusal proves something about other copies of a payment only as far as its code allows.
    #[test]
    fn without_a_dialect_only_what_the_documents_say_of_the_request_holds_for_every_copy() {
        let copies = |code: &str| Dialect::documented().error_meaning(&code.into(), 400).scope;
        assert_eq!(
            (copies("108"), copies("136"), copies("107")),
            (RefusalScope::Always, RefusalScope::FromNowOn, RefusalScope::WhileItLasts)
        );
        for code in ["", "101", "106", "111", "119", "121", "125", "129", "777"] {
            assert_eq!(copies(code), RefusalScope::WhileItLasts, "{code}");
        }
        assert_eq!(Dialect::documented().error_meaning(&"108".into(), 500).scope, RefusalScope::WhileItLasts);
    }

    #[test]
    fn an_entry_decides_what_the_documents_leave_open() {
        let mut dialect = Dialect::documented();
        let mut entry = ErrorEntry::new("777", 92);
        entry.remedy = Some(Remedy::LookUp);
        dialect.errors.push(entry);
        let reading = dialect.error_meaning(&"777".into(), 401);
        assert!(reading.known && reading.says_it_was_done);
        // The status alone does not say that the credentials are wrong.
        assert_eq!(Dialect::documented().error_meaning(&"777".into(), 401).remedy, Remedy::AskOperator);
        assert!(!Dialect::documented().error_meaning(&"777".into(), 401).known);
    }

    // spec: 2 §7, A132: The HTTP status explains only a code that has no entry.
    #[test]
    fn an_entry_without_a_remedy_keeps_its_meaning_under_every_http_status() {
        let mut dialect = Dialect::documented();
        let mut entry = ErrorEntry::new("777", 92);
        entry.situations.push("duplicate-unique-reference".into());
        dialect.errors.push(entry);
        let under = |http| dialect.error_meaning(&"777".into(), http);
        for http in [400, 401, 403, 404, 409, 422, 429] {
            assert_eq!(under(http), under(400), "{http}");
            assert!(under(http).says_it_was_done && under(http).remedy == Remedy::LookUp, "{http}");
        }
        assert!(under(503).leaves_it_open && under(503).remedy == Remedy::LookUp);
    }

    #[test]
    fn a_reference_that_a_refusal_leaves_free_is_free_only_after_a_refusal_that_did_nothing() {
        let mut dialect = Dialect::documented();
        assert!(dialect.error_meaning(&"108".into(), 400).spends_reference);
        dialect.refused_reference = Some(ReferenceAfterRefusal::Free);
        assert!(!dialect.error_meaning(&"108".into(), 400).spends_reference);
        assert!(dialect.error_meaning(&"119".into(), 400).spends_reference);
        assert!(dialect.error_meaning(&"125".into(), 400).spends_reference);
    }
}
