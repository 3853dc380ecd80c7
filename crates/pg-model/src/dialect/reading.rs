//! The meaning of an error code, under a dialect and an HTTP status.

use super::{Dialect, ReferenceAfterRefusal, RefusalScope, UNKNOWN_TRANSACTION};
use crate::{ErrorCode, Remedy};

/// The meaning of an error code of a service: from its document, then from the dialect, and otherwise the safe choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorMeaning {
    /// Whether the documents or the dialect list the code for this service. An unlisted code is never trusted: it may be
    /// the service's code for a reused reference.
    pub known: bool,
    /// Whether the code has the meaning of [`ErrorCode::message`] and [`ErrorCode::remedy`]: the document of this service
    /// lists it, or the dialect says that version 5 has the codes of version 3.
    pub documented: bool,
    /// The assumption that the dialect decides with the code; `None` if the document of this service lists it, or nothing
    /// does.
    pub assumption: Option<u16>,
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

/// The codes that the document of version 5 lists (spec 3 §7). All others belong to version 3.
const OF_VERSION_5: &[ErrorCode] = &[ErrorCode::ENTERPRISE_NO_DATA_SENT, ErrorCode::ENTERPRISE_NO_MERCHANT_KEY];

/// The assumption about the codes of version 5.
const SHARED_CODES: u16 = 112;

/// Cards and sessions expire (spec 2 §3.1, §7).
const FROM_NOW_ON: &[ErrorCode] = &[ErrorCode::INVALID_CARD_EXPIRY, ErrorCode::SESSION_EXPIRED];

impl Dialect {
    /// Returns the meaning of an error code that a service of this version sent with this HTTP status
    /// ([`ServiceInfo::version`](crate::method::ServiceInfo::version), 3 or 5). A code that the documents list for the other
    /// version only has no documented meaning, except that 119 leaves the outcome open in both.
    ///
    /// ```
    /// use pg_model::{Remedy, dialect::Dialect};
    ///
    /// let dialect = Dialect::documented();
    /// let reading = dialect.error_meaning(3, &"777".into(), 400);
    /// assert!(!reading.known);
    /// assert_eq!(reading.remedy, Remedy::LookUp);
    ///
    /// // Only the document of version 3 lists 108.
    /// assert!(dialect.error_meaning(3, &"108".into(), 400).known);
    /// assert!(!dialect.error_meaning(5, &"108".into(), 400).known);
    /// ```
    #[must_use]
    pub fn error_meaning(&self, version: u8, code: &ErrorCode, http: u16) -> ErrorMeaning {
        let entry = self.error(code);
        let version_5 = version == 5;
        let is_listed = code.message().is_some();
        let is_own = is_listed && OF_VERSION_5.contains(code) == version_5;
        let is_shared = is_listed && version_5 && !is_own && self.shared_codes;
        // Reading 119 in version 5 as in version 3 is safe, since it only leaves the outcome open.
        let documented = is_own || is_shared || *code == ErrorCode::NO_RESPONSE_FROM_BANK;
        let told = entry.and_then(|entry| entry.remedy).or_else(|| code.remedy().filter(|_| documented));
        let known = entry.is_some() || documented;
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
        let otherwise = if documented { documented_scope(code) } else { RefusalScope::WhileItLasts };
        let scope = entry.and_then(|entry| entry.scope).unwrap_or(otherwise);
        let unseen = [Remedy::FixCredentials, Remedy::WaitOneMinute, Remedy::WaitFiveMinutes].contains(&remedy);
        let forbidden = documented && *code == ErrorCode::PERMISSION_DENIED;
        let free = self.refused_reference == Some(ReferenceAfterRefusal::Free) && !leaves_it_open && !says_it_was_done;
        ErrorMeaning {
            known,
            documented,
            assumption: if is_shared {
                Some(SHARED_CODES)
            } else {
                entry.map(|entry| entry.assumption).filter(|_| !is_own)
            },
            remedy,
            scope: if leaves_it_open || says_it_was_done { RefusalScope::WhileItLasts } else { scope },
            leaves_it_open,
            says_it_was_done,
            unknown_transaction: entry
                .is_some_and(|entry| entry.situations.iter().any(|name| name == UNKNOWN_TRANSACTION)),
            spends_reference: !unseen && !free && !forbidden,
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
        let copies = |code: &str| Dialect::documented().error_meaning(3, &code.into(), 400).scope;
        assert_eq!(
            (copies("108"), copies("136"), copies("107")),
            (RefusalScope::Always, RefusalScope::FromNowOn, RefusalScope::WhileItLasts)
        );
        for code in ["", "101", "106", "111", "119", "121", "125", "129", "777"] {
            assert_eq!(copies(code), RefusalScope::WhileItLasts, "{code}");
        }
        assert_eq!(Dialect::documented().error_meaning(3, &"108".into(), 500).scope, RefusalScope::WhileItLasts);
    }

    #[test]
    fn an_entry_decides_what_the_documents_leave_open() {
        let mut dialect = Dialect::documented();
        let mut entry = ErrorEntry::new("777", 92);
        entry.remedy = Some(Remedy::LookUp);
        dialect.errors.push(entry);
        let reading = dialect.error_meaning(3, &"777".into(), 401);
        assert!(reading.known && reading.says_it_was_done);
        // The status alone does not say that the credentials are wrong.
        assert_eq!(Dialect::documented().error_meaning(3, &"777".into(), 401).remedy, Remedy::AskOperator);
        assert!(!Dialect::documented().error_meaning(3, &"777".into(), 401).known);
    }

    // spec: 2 §7, A132: The HTTP status explains only a code that has no entry.
    #[test]
    fn an_entry_without_a_remedy_keeps_its_meaning_under_every_http_status() {
        let mut dialect = Dialect::documented();
        let mut entry = ErrorEntry::new("777", 92);
        entry.situations.push("duplicate-unique-reference".into());
        dialect.errors.push(entry);
        let under = |http| dialect.error_meaning(3, &"777".into(), http);
        for http in [400, 401, 403, 404, 409, 422, 429] {
            assert_eq!(under(http), under(400), "{http}");
            assert!(under(http).says_it_was_done && under(http).remedy == Remedy::LookUp, "{http}");
        }
        assert!(under(503).leaves_it_open && under(503).remedy == Remedy::LookUp);
    }

    #[test]
    fn a_reference_that_a_refusal_leaves_free_is_free_only_after_a_refusal_that_did_nothing() {
        let mut dialect = Dialect::documented();
        assert!(dialect.error_meaning(3, &"108".into(), 400).spends_reference);
        dialect.refused_reference = Some(ReferenceAfterRefusal::Free);
        assert!(!dialect.error_meaning(3, &"108".into(), 400).spends_reference);
        assert!(dialect.error_meaning(3, &"119".into(), 400).spends_reference);
        assert!(dialect.error_meaning(3, &"125".into(), 400).spends_reference);
    }

    // spec: 2 §2.2, 2 §7, 3 §7: Codes of version 3 have three digits; the document of version 5 lists 1 and 3.
    #[test]
    fn a_code_has_its_documented_meaning_only_in_the_version_of_its_document() {
        for code in ErrorCode::KNOWN {
            let in_version = |version| Dialect::documented().error_meaning(version, code, 400);
            let (three, five) = (in_version(3), in_version(5));
            let is_119 = *code == ErrorCode::NO_RESPONSE_FROM_BANK;
            assert_eq!(
                (three.documented, three.known),
                (code.as_str().len() == 3, code.as_str().len() == 3),
                "{code:?}"
            );
            assert_eq!(five.documented, code.as_str().len() == 1 || is_119, "{code:?}");
            for other in [three, five].into_iter().filter(|meaning| !meaning.documented) {
                assert_eq!((other.remedy, other.scope), (Remedy::LookUp, RefusalScope::WhileItLasts), "{code:?}");
                assert!(!other.known && !other.says_it_was_done && !other.leaves_it_open, "{code:?}");
            }
            assert_eq!(five.leaves_it_open, is_119, "{code:?}");
        }
    }

    // spec: 3 §7, A112
    #[test]
    fn a_dialect_may_give_version_5_the_codes_of_version_3_and_an_entry_counts_in_both() {
        let mut dialect = Dialect::documented();
        dialect.shared_codes = true;
        for code in ErrorCode::KNOWN.iter().filter(|code| code.as_str().len() == 3) {
            let (three, five) = (dialect.error_meaning(3, code, 400), dialect.error_meaning(5, code, 400));
            assert_eq!((three.assumption, five.assumption.is_some()), (None, true), "{code:?}");
            assert_eq!(ErrorMeaning { assumption: None, ..five }, three, "{code:?}");
        }
        assert!(!dialect.error_meaning(3, &"3".into(), 400).known);
        dialect.shared_codes = false;
        let mut entry = ErrorEntry::new("108", 45);
        dialect.errors.push(entry.clone());
        let five = dialect.error_meaning(5, &"108".into(), 400);
        // The entry says nothing, and the documented remedy is that of version 3.
        assert!(five.known && !five.documented && five.says_it_was_done);
        (entry.remedy, entry.scope) = (Some(Remedy::FixRequest), Some(RefusalScope::Always));
        dialect.errors = alloc::vec![entry];
        let five = dialect.error_meaning(5, &"108".into(), 400);
        assert_eq!((five.remedy, five.scope, five.assumption), (Remedy::FixRequest, RefusalScope::Always, Some(45)));
    }
}
