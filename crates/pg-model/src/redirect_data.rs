//! What the data of a card form's redirect says about the form.

use crate::RedirectData;

/// Errors that could not be read, because they have another shape than the documents show, are errors too.
impl RedirectData {
    /// Whether the service found fields of the form invalid (`errors`, spec 2 §2.2).
    #[must_use]
    pub fn has_invalid_fields(&self) -> bool {
        !self.errors.is_empty() || self.extra.get("errors").is_some()
    }

    /// Whether the service could not process the form (`errorCode`, spec 2 §2.2).
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !self.error_code.is_empty() || self.extra.get("errorCode").is_some()
    }
}
