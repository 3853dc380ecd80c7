//! What a refusal says about the other copies of the same request.

use pg_model::{ErrorCode, SandboxErrorCode};

use crate::Refused;

/// What a refusal says about other copies of the same request: those that were executed before, and those that may still
/// be, since a network may deliver a request late, or twice. Which code says what is assumption A141.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standing {
    /// The reason lies in the request itself: every copy is refused, whenever it is executed.
    Always,
    /// Time brought the reason and never takes it back: copies that are executed later are refused, earlier ones need not
    /// have been. Nothing found by a lookup that follows proves that nothing was charged.
    FromNowOn,
    /// The reason is a state that may pass, or is not known: it says nothing about other copies.
    WhileItLasts,
}

impl Refused {
    /// What the refusal of a payment says about other copies of the same request.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let code = self.code();
        let sandbox = SandboxErrorCode::from(code.as_str());
        if self.may_be_executed() {
            Standing::WhileItLasts
        } else if ALWAYS.contains(code) || SANDBOX_ALWAYS.contains(&sandbox) {
            Standing::Always
        } else if FROM_NOW_ON.contains(code) || SANDBOX_FROM_NOW_ON.contains(&sandbox) {
            Standing::FromNowOn
        } else {
            Standing::WhileItLasts
        }
    }
}

/// Amount, card number and security code are wrong by themselves, a missing currency stays missing, and the path is the
/// same for every copy. Not 101: a copy without data was cut off on its way. Not 111: the operator enables currencies.
const ALWAYS: &[ErrorCode] = &[
    ErrorCode::INVALID_FUNCTION_CALL,
    ErrorCode::INVALID_RETURN_TYPE,
    ErrorCode::INVALID_TRANSACTION_VALUE,
    ErrorCode::INVALID_CARD_NUMBER,
    ErrorCode::INVALID_CARD_CV2,
    ErrorCode::CURRENCY_NOT_SUPPLIED,
];

/// Parameters that are missing or malformed (assumption A45).
const SANDBOX_ALWAYS: &[SandboxErrorCode] = &[SandboxErrorCode::INVALID_PARAMETER, SandboxErrorCode::MISSING_PARAMETER];

/// Cards and sessions expire; a session that is not known any more is not known again, as its key is random.
const FROM_NOW_ON: &[ErrorCode] =
    &[ErrorCode::INVALID_CARD_EXPIRY, ErrorCode::INVALID_SESSION_KEY, ErrorCode::SESSION_EXPIRED];

/// A card key that was deleted does not come back (spec 1 §3.1).
const SANDBOX_FROM_NOW_ON: &[SandboxErrorCode] = &[SandboxErrorCode::UNKNOWN_CARD_KEY];

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use pg_model::ServiceError;

    use super::*;

    #[test]
    fn a_code_that_no_table_knows_says_nothing_about_other_copies() {
        let standing = |status: u16, code: &str| {
            let error = ServiceError { error_code: code.into(), ..ServiceError::default() };
            Refused { http_status: StatusCode::from_u16(status).unwrap(), error }.standing()
        };
        assert_eq!(standing(400, "108"), Standing::Always);
        assert_eq!(standing(400, "938"), Standing::Always);
        assert_eq!(standing(400, "136"), Standing::FromNowOn);
        assert_eq!(standing(400, "940"), Standing::FromNowOn);
        for code in ["", "101", "106", "111", "119", "121", "942", "956", "777"] {
            assert_eq!(standing(400, code), Standing::WhileItLasts, "{code}");
        }
        assert_eq!(standing(500, "108"), Standing::WhileItLasts);
    }
}
