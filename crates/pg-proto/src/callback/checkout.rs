//! The callback of the hosted checkout, and the address to which the customer returns.

use bytes::Bytes;
use pg_model::EnterpriseTransactionLookup;

use super::{CallbackError, fields};

/// Maximum length of a `trans_key` that the service creates and a lookup accepts (spec 3 §4.8).
const LONGEST_KEY: usize = 32;
/// The name of the only required field.
const TRANS_KEY: &str = "trans_key";

/// The content of a checkout callback, or of an address to which a customer returned. Neither is signed, and both can
/// be forged. Use the content as a reason to look the payment up, never as proof (assumption A133).
///
/// The documents show neither the method and the format of the callback nor its fields (assumption A121). So every
/// likely form is read, only `trans_key` is required, and case and underscores of names are ignored.
///
/// ```
/// use pg_proto::{CheckoutHint, bytes::Bytes, http};
///
/// // The body that was posted to the `callback_url` of the checkout.
/// let body = "tokenid=0123456789abcdef&trans_key=0123456789abcdef0123456789abcdef&trans_value=4.99&status=1";
/// let hint = CheckoutHint::read(&http::Request::post("/paid").body(Bytes::from(body))?)?;
/// // Ask the service whether the callback is true, or pass the key to the checkout machine, which asks.
/// assert_eq!(hint.confirm().trans_key.as_str(), hint.trans_key());
///
/// // The same from the `success_url` to which a browser came back.
/// let back = CheckoutHint::returned("https://shop.example/paid?order=7&trans_key=0123456789abcdef0123456789abcdef")?;
/// assert_eq!(back.trans_key(), hint.trans_key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutHint {
    trans_key: String,
    token_id: Option<String>,
    trans_type: Option<String>,
    trans_value: Option<String>,
    currency: Option<String>,
    status: Option<String>,
    trans_reference: Option<String>,
    trans_class: Option<String>,
}

impl CheckoutHint {
    /// Reads a callback: a GET or a POST with its fields in the query, or in a body that is a form, JSON or XML. If a
    /// name occurs twice, the last value counts, and the body comes after the query, which may have parameters of the
    /// merchant's own address.
    ///
    /// # Errors
    ///
    /// [`CallbackError`] if the request has another method, or no valid `trans_key`.
    /// [`CallbackOutline`](super::CallbackOutline) shows what such a request has instead.
    pub fn read(request: &http::Request<Bytes>) -> Result<Self, CallbackError> {
        if ![http::Method::GET, http::Method::POST].contains(request.method()) {
            return Err(CallbackError::NotGetOrPost(request.method().clone()));
        }
        let mut hint = Self::empty();
        let query = request.uri().query().unwrap_or_default();
        fields::of_form(query.as_bytes(), &mut |name, value| hint.take(name, value));
        let read = fields::of_body(request.body(), &mut |name, value| hint.take(name, value));
        if hint.trans_key.is_empty() {
            read?;
        }
        hint.checked()
    }

    /// Reads the address to which a customer returned, or its query: the service appends `trans_key` to `success_url`
    /// (spec 3 §6).
    ///
    /// # Errors
    ///
    /// [`CallbackError`] if it has no valid `trans_key`.
    pub fn returned(address: &str) -> Result<Self, CallbackError> {
        let bare = address.split('#').next().unwrap_or_default();
        let query = bare.split_once('?').map_or(bare, |(_, query)| query);
        let mut hint = Self::empty();
        fields::of_form(query.as_bytes(), &mut |name, value| hint.take(name, value));
        hint.checked()
    }

    const fn empty() -> Self {
        Self {
            trans_key: String::new(),
            token_id: None,
            trans_type: None,
            trans_value: None,
            currency: None,
            status: None,
            trans_reference: None,
            trans_class: None,
        }
    }

    /// Takes a field if its name is known. A later value counts, because the service appends to the merchant's address;
    /// an empty value counts as absent.
    fn take(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        let name: String = name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
        let field = match name.as_str() {
            "transkey" | "transactionkey" => {
                value.clone_into(&mut self.trans_key);
                return;
            }
            "tokenid" => &mut self.token_id,
            "transtype" => &mut self.trans_type,
            "transvalue" => &mut self.trans_value,
            "currency" => &mut self.currency,
            "status" => &mut self.status,
            "transreference" => &mut self.trans_reference,
            "transclass" => &mut self.trans_class,
            _ => return,
        };
        *field = Some(value.to_owned());
    }

    /// Returns the hint if its key can be looked up.
    fn checked(self) -> Result<Self, CallbackError> {
        match self.trans_key.as_str() {
            "" => Err(CallbackError::Missing(TRANS_KEY)),
            key if key.len() <= LONGEST_KEY && key.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(self),
            _ => Err(CallbackError::Invalid(TRANS_KEY)),
        }
    }

    /// Returns the request that checks the callback.
    pub fn confirm(&self) -> EnterpriseTransactionLookup {
        EnterpriseTransactionLookup::new(self.trans_key.as_str())
    }

    /// Returns the key of the claimed transaction, for
    /// [`CheckoutInput::Reported`](crate::machine::checkout::CheckoutInput::Reported).
    #[must_use]
    pub fn trans_key(&self) -> &str {
        &self.trans_key
    }

    /// Returns `tokenid`, the claimed checkout, unconfirmed.
    #[must_use]
    pub fn token_id(&self) -> Option<&str> {
        self.token_id.as_deref()
    }

    /// Returns `trans_type`, unconfirmed.
    #[must_use]
    pub fn trans_type(&self) -> Option<&str> {
        self.trans_type.as_deref()
    }

    /// Returns `trans_value`, unconfirmed.
    #[must_use]
    pub fn trans_value(&self) -> Option<&str> {
        self.trans_value.as_deref()
    }

    /// Returns `currency`, unconfirmed.
    #[must_use]
    pub fn currency(&self) -> Option<&str> {
        self.currency.as_deref()
    }

    /// Returns `status`, unconfirmed: `1` for success.
    #[must_use]
    pub fn status(&self) -> Option<&str> {
        self.status.as_deref()
    }

    /// Returns `trans_reference`, unconfirmed.
    #[must_use]
    pub fn trans_reference(&self) -> Option<&str> {
        self.trans_reference.as_deref()
    }

    /// Returns `trans_class`, unconfirmed.
    #[must_use]
    pub fn trans_class(&self) -> Option<&str> {
        self.trans_class.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn posted(body: impl Into<Bytes>) -> Result<CheckoutHint, CallbackError> {
        CheckoutHint::read(&http::Request::post("/t").body(body.into()).unwrap())
    }

    // spec: 3 §6, A121
    #[test]
    fn every_field_of_the_callback_is_read() {
        let form = format!(
            "tokenid=t&trans_key={KEY}&trans_type=auth&trans_value=1%2C000.00&currency=GBP&status=1&trans_reference=o+7&trans_class=x"
        );
        let hint = posted(form).unwrap();
        assert_eq!(hint.trans_key(), KEY);
        assert_eq!(
            [
                hint.token_id(),
                hint.trans_type(),
                hint.trans_value(),
                hint.currency(),
                hint.status(),
                hint.trans_reference(),
                hint.trans_class()
            ],
            ["t", "auth", "1,000.00", "GBP", "1", "o 7", "x"].map(Some)
        );
        assert_eq!(hint.confirm().trans_key.as_str(), KEY);
    }

    // spec: 3 §6, A121
    #[test]
    fn names_are_read_in_other_spellings_and_only_the_key_is_needed() {
        for form in [format!("transKey={KEY}"), format!("TRANS_KEY={KEY}&other=1"), format!("transaction_key={KEY}")] {
            let hint = posted(form).unwrap();
            assert_eq!((hint.trans_key(), hint.token_id()), (KEY, None));
        }
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        let address = format!("https://shop.example/paid?trans_key=mine&order=7&trans_key={KEY}#top");
        assert_eq!(CheckoutHint::returned(&address).unwrap().trans_key(), KEY);
    }

    #[test]
    fn callbacks_without_a_valid_key_are_refused() {
        assert_eq!(posted(""), Err(CallbackError::Missing("trans_key")));
        assert_eq!(posted("tokenid=t&trans_key="), Err(CallbackError::Missing("trans_key")));
        for key in ["a%0Ab", "%3Cscript%3E%20", "%C3%A9", &"a".repeat(33)] {
            assert_eq!(posted(format!("trans_key={key}")), Err(CallbackError::Invalid("trans_key")), "{key}");
        }
        let longest = posted(format!("trans_key={}", "a".repeat(32))).unwrap();
        assert!(pg_model::ApiRequest::check(&longest.confirm()).is_empty(), "what is taken can be looked up");
        let put = http::Request::put(format!("/t?trans_key={KEY}")).body(Bytes::new()).unwrap();
        assert_eq!(CheckoutHint::read(&put), Err(CallbackError::NotGetOrPost(http::Method::PUT)));
    }

    // spec: 3 §6, A121: neither the method nor the format of the callback is shown
    #[test]
    fn a_callback_is_read_in_every_likely_form() {
        let form = format!("trans_key={KEY}&status=1");
        let json = format!(r#"{{"trans_key": "{KEY}", "status": 1}}"#);
        let xml = format!("<trans_key>{KEY}</trans_key><status>1</status>");
        for (method, uri, body) in [
            ("GET", format!("/t?{form}"), String::new()),
            ("POST", format!("/t?{form}"), String::new()),
            ("POST", "/t?order=7&transKey=mine&status=9".to_owned(), form.clone()),
            ("POST", "/t".to_owned(), json.clone()),
            ("POST", "/t?trans_key=mine".to_owned(), format!("\u{feff} {json}")),
            ("POST", "/t".to_owned(), format!(r#"{{"payments": [{{"transKey": "x"}}, {json}]}}"#)),
            ("POST", "/t".to_owned(), format!("<serviceResponse>{xml}</serviceResponse>")),
            (
                "POST",
                "/t".to_owned(),
                format!("<?xml version='1.0'?><callback><transaction>{xml}</transaction></callback>"),
            ),
            ("POST", format!("/t?{form}"), "{".to_owned()),
        ] {
            let request = http::Request::builder().method(method).uri(&uri).body(Bytes::from(body.clone())).unwrap();
            let hint = CheckoutHint::read(&request).unwrap_or_else(|error| panic!("{method} {uri} {body}: {error}"));
            assert_eq!((hint.trans_key(), hint.status()), (KEY, Some("1")), "{method} {uri} {body}");
        }
        assert_eq!(posted(format!("<trans_key>{KEY}</trans_key>")).unwrap().trans_key(), KEY);
        let empty = posted(format!("trans_key={KEY}&status=1&transactionKey=&status=&currency=")).unwrap();
        assert_eq!((empty.trans_key(), empty.status(), empty.currency()), (KEY, Some("1"), None));
        assert!(matches!(posted("{"), Err(CallbackError::Unreadable(_))));
        for body in
            ["{}", "<a/>", r#"{"transactionid": "x"}"#, r#"{"trans_key": null}"#, r#"{"trans_key": {"x": "1"}}"#]
        {
            assert_eq!(posted(body), Err(CallbackError::Missing("trans_key")), "{body}");
        }
        assert_eq!(posted(r#"{"trans_key": "a\nb"}"#), Err(CallbackError::Invalid("trans_key")));
    }
}
