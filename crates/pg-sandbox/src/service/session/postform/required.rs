//! What a form cannot do without (assumption 80).

use pg_model::ErrorCode;

use super::{PageUrl, Refusal};
use crate::form::Form;

/// The pages that the browser may go on to: `nextPageUrl` and `currentPageUrl`.
pub(super) fn pages(form: &Form) -> Result<(PageUrl, PageUrl), Refusal> {
    Ok((
        page(form, "nextPageUrl", ErrorCode::NEXT_PAGE_URL_NOT_SUPPLIED)?,
        page(form, "currentPageUrl", ErrorCode::CURRENT_PAGE_URL_NOT_SUPPLIED)?,
    ))
}

fn page(form: &Form, name: &str, code: ErrorCode) -> Result<PageUrl, Refusal> {
    form.given(name).and_then(PageUrl::parse).ok_or_else(|| Refusal::from(code).assuming(80))
}

/// A card number, and an expiry in one field or in two.
pub(super) fn card(form: &Form) -> Result<(), Refusal> {
    let expiry = form.given("cardExpiryDate").is_some()
        || (form.given("cardExpiryMonth").is_some() && form.given("cardExpiryYear").is_some());
    let code = match form.given("cardNumber") {
        None => ErrorCode::INVALID_CARD_NUMBER,
        Some(_) if !expiry => ErrorCode::INVALID_CARD_EXPIRY,
        Some(_) => return Ok(()),
    };
    Err(Refusal::from(code).assuming(80))
}
