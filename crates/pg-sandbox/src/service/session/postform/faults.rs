//! All errors of a form, field by field (A81).

use pg_model::{ApiRequest as _, ErrorCode, PostForm};

use super::{Refusal, entered};
use crate::codes::SandboxErrorCode;
use crate::{assumed, cards, timestamp::Timestamp};

/// One wrong field.
pub(super) struct FieldMistake {
    /// Its wire name.
    pub(super) field: String,
    /// Its error.
    pub(super) refusal: Refusal,
}

/// Returns all errors: number, expiry, then the others in the order of the table.
pub(super) fn of(form: &PostForm, now: Timestamp) -> Vec<FieldMistake> {
    let mut faults = Vec::new();
    let mut note = |field: &str, refusal: Refusal| {
        faults.push(FieldMistake {
            field: field.to_owned(),
            refusal: refusal.assuming(assumed::VALIDATION_OF_THE_CARD_FORM),
        });
    };
    let number = form.card_number.expose();
    if !entered::looks_like_a_number(number) {
        note("cardNumber", ErrorCode::INVALID_CARD_NUMBER.into());
    } else if !cards::luhn_valid(number) {
        note(
            "cardNumber",
            Refusal::from(ErrorCode::INVALID_CARD_NUMBER).assuming(assumed::THE_LUHN_DIGIT_IS_NOT_A_FIELD_RULE),
        );
    }
    if entered::valid_expiry(form, now).is_none() {
        note("cardExpiryYear", Refusal::from(ErrorCode::INVALID_CARD_EXPIRY).assuming(assumed::TWO_DIGIT_YEARS));
    }
    for violation in &form.check() {
        match violation.name.as_str() {
            // Checked above, or with the pages.
            "cardNumber" | "cardExpiryMonth" | "cardExpiryYear" | "cardExpiryDate" | "nextPageUrl" => {}
            "cardCV2" => note("cardCV2", ErrorCode::INVALID_CARD_CV2.into()),
            name => note(name, SandboxErrorCode::INVALID_PARAMETER.into()),
        }
    }
    faults
}
