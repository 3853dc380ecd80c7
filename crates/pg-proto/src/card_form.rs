//! The card form that a customer's browser posts to the service (spec 2 §4.2).

use pg_model::{FormId, SessionKey, Url};

use crate::{Account, request};

/// The address and the hidden fields for the card form on the merchant's page.
///
/// The form also needs inputs named `cardNumber`, and `cardExpiryMonth` with `cardExpiryYear` or `cardExpiryDate`;
/// `cardCV2`, `cardholderName` and the other inputs of [`PostForm`](pg_model::PostForm) are optional. The page must be
/// served over TLS.
///
/// ```
/// # use pg_proto::{Account, BaseUrl, Credentials};
/// # let account = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("k", "p", "s"));
/// let form = account.card_form("0123456789abcdef0123456789abcdef", "https://shop.example/review", "https://shop.example/card");
/// assert_eq!(form.action(), "https://gateway.example/v3/session/postform/xml");
/// assert!(form.hidden_inputs().starts_with(r#"<input type="hidden" name="sessionKey" value="0123"#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardForm {
    action: String,
    session_key: SessionKey,
    next_page_url: Url,
    current_page_url: Url,
    form_id: Option<FormId>,
}

impl Account {
    /// Returns the card form of a session. The browser continues to `next_page_url` if all fields are valid, and
    /// returns to `current_page_url` if one is invalid.
    pub fn card_form(
        &self,
        session_key: impl Into<SessionKey>,
        next_page_url: impl Into<Url>,
        current_page_url: impl Into<Url>,
    ) -> CardForm {
        CardForm {
            action: request::join(&self.base, "/v3/session/", "postform", Some(self.encoding.as_str())).to_string(),
            session_key: session_key.into(),
            next_page_url: next_page_url.into(),
            current_page_url: current_page_url.into(),
            form_id: None,
        }
    }
}

impl CardForm {
    /// Sets the name of the form, up to 32 characters. The redirect contains it.
    #[must_use]
    pub fn form_id(mut self, form_id: impl Into<FormId>) -> Self {
        self.form_id = Some(form_id.into());
        self
    }

    /// Returns the address to which the form is posted.
    #[must_use]
    pub fn action(&self) -> &str {
        &self.action
    }

    /// Returns names and values of the hidden fields.
    #[must_use]
    pub fn hidden_fields(&self) -> Vec<(&'static str, &str)> {
        let mut fields = vec![
            ("sessionKey", self.session_key.as_str()),
            ("nextPageUrl", self.next_page_url.as_str()),
            ("currentPageUrl", self.current_page_url.as_str()),
        ];
        fields.extend(self.form_id.as_ref().map(|form_id| ("formId", form_id.as_str())));
        fields
    }

    /// Returns the hidden fields as escaped HTML, one `input` per line.
    #[must_use]
    pub fn hidden_inputs(&self) -> String {
        self.hidden_fields()
            .into_iter()
            .map(|(name, value)| format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">\n", escaped(value)))
            .collect()
    }
}

/// Escapes a value for a double-quoted attribute.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use crate::{Account, BaseUrl, Credentials};

    #[test]
    fn values_cannot_leave_their_attribute() {
        let base = BaseUrl::parse("https://gateway.example").expect("an address");
        let form = Account::new(base, Credentials::new("k", "p", "s"))
            .card_form("\"><script>", "https://shop.example/?a=1&b=2", "https://shop.example/")
            .form_id("f");
        let html = form.hidden_inputs();
        assert!(html.contains("value=\"&quot;&gt;&lt;script&gt;\""), "{html}");
        assert!(html.contains("value=\"https://shop.example/?a=1&amp;b=2\""), "{html}");
        assert!(html.contains("name=\"formId\" value=\"f\""), "{html}");
    }
}
