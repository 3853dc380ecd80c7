//! The required parts of a form (A80).

use percent_encoding::percent_decode_str;
use pg_model::{ApiRequest as _, ErrorCode, PostForm};

use super::{PageUrl, Refusal, faults::FieldMistake};
use crate::{
    assumed,
    card_numbers::{self, Search},
    form::Form,
};

/// Returns the pages to which the browser may be redirected: `nextPageUrl` and `currentPageUrl`.
///
/// A `nextPageUrl` that is no valid address is a validation error, which `currentPageUrl` shows (spec 2 §4.2). Without
/// a usable `currentPageUrl`, only the error page is left.
pub(super) fn pages(form: &Form) -> Result<(Result<PageUrl, FieldMistake>, PageUrl), Refusal> {
    let next = page(form, "nextPageUrl", &ErrorCode::NEXT_PAGE_URL_NOT_SUPPLIED)?;
    let current = page(form, "currentPageUrl", &ErrorCode::CURRENT_PAGE_URL_NOT_SUPPLIED)??;
    Ok((next.map_err(|refusal| FieldMistake { field: "nextPageUrl".to_owned(), refusal }), current))
}

/// Returns the page, or the refusal of a malformed address; fails if it is missing or must not be shown.
fn page(form: &Form, name: &str, code: &ErrorCode) -> Result<Result<PageUrl, Refusal>, Refusal> {
    let refusal = || Refusal::from(code.clone()).assuming(assumed::CODE_OF_A_MISSING_FIELD_IN_POSTFORM);
    let address = form.given(name).ok_or_else(refusal)?;
    // The redirect would carry the number in its URL.
    let number = form.given("cardNumber").map(card_numbers::digits);
    let contains_it = |text: &str| card_numbers::masked(text, number.as_deref(), Search::Entered) != text;
    if contains_it(address) || contains_it(&percent_decode_str(address).decode_utf8_lossy()) {
        return Err(refusal().assuming(assumed::CONTENT_OF_A_REDIRECT));
    }
    Ok(PageUrl::parse(address).ok_or_else(refusal))
}

/// Requires a card number, and an expiry in one field or in two.
pub(super) fn card(form: &Form) -> Result<(), Refusal> {
    let given = |name| {
        let value = PostForm::INFO.field(name).and_then(|field| form.parameters().of(field));
        value.is_some_and(|value| !value.is_empty())
    };
    let expiry = given("cardExpiryDate") || (given("cardExpiryMonth") && given("cardExpiryYear"));
    let code = match form.given("cardNumber") {
        None => ErrorCode::INVALID_CARD_NUMBER,
        Some(_) if !expiry => ErrorCode::INVALID_CARD_EXPIRY,
        Some(_) => return Ok(()),
    };
    Err(Refusal::from(code).assuming(assumed::CODE_OF_A_MISSING_FIELD_IN_POSTFORM))
}
