//! The client session and the data of its redirects (spec 2 §2.1, §2.2).

use pg_model::{ErrorCode, FieldError, Keyed, Named, RedirectData, ServiceError, Session};

use crate::replies::golden;

#[test]
fn initiate() {
    golden("session/initiate").is(&Session::default().with(|record| {
        record.session_key = "a1b2c3d4e5f60718293a4b5c6d7e8f90".into();
    }));
}

#[test]
fn redirect_data_of_a_valid_form() {
    golden("session/postform").is_record(&RedirectData::default().with(|record| {
        record.cardholder_name = "A N Other".into();
        record.card_number = "411111******1111".into();
        record.card_expiry_month = "12".into();
        record.card_expiry_year = "2030".into();
        record.collect = Named::from_iter([("collectNewsletter", "yes & weekly"), ("collectSize", "M")]);
    }));
}

// spec: 2 §2.2, A20
#[test]
fn redirect_data_of_a_form_with_invalid_fields() {
    let field_error = |code: ErrorCode, trace: &str, message: &str| {
        FieldError::default().with(|record| {
            record.error_code = code;
            record.trace_code = trace.into();
            record.error_message = message.into();
        })
    };
    let mut errors = Keyed::default();
    errors.push("cardNumber", field_error(ErrorCode::INVALID_CARD_NUMBER, "123456789", "Invalid card number"));
    errors.push("cardExpiryYear", field_error(ErrorCode::INVALID_CARD_EXPIRY, "123456790", "Invalid card expiry"));
    golden("session/postform-invalid").is_record(&RedirectData::default().with(|record| {
        record.cardholder_name = "A N Other".into();
        record.card_number = "411111******1112".into();
        record.card_expiry_month = "13".into();
        record.card_expiry_year = "2030".into();
        record.collect = Named::from_iter([("collectSize", "M")]);
        record.errors = errors;
    }));
}

/// The error page gets the error, without anything of the card, in the shape of every other error.
// spec: 2 §2.2
#[test]
fn redirect_data_of_the_error_page() {
    golden("session/postform-errorpage").is_record(&ServiceError::default().with(|record| {
        record.error_code = ErrorCode::NEXT_PAGE_URL_NOT_SUPPLIED;
        record.trace_code = "12345678".into();
        record.error_message = "Next page URL not supplied".into();
    }));
    // Who decrypts a redirect does not know beforehand which of the two it is.
    golden("session/postform-errorpage").one_of_several_shapes().is_record(&RedirectData::default().with(|record| {
        record.error_code = ErrorCode::NEXT_PAGE_URL_NOT_SUPPLIED;
        record.trace_code = "12345678".into();
        record.error_message = "Next page URL not supplied".into();
    }));
}
