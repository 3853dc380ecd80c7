//! Forms as a merchant's server sends them.

use bytes::Bytes;
use http::{Method, Request};
use pg_crypto::{ShaKey, sign};
use pg_model::method::{AuthScheme, MethodInfo};
use pg_sandbox::merchants::Merchant;

/// The content type of a form.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// A form with these parameters.
///
/// # Panics
/// Never: names and values are texts.
#[must_use]
pub fn body_of(pairs: &[(&str, &str)]) -> String {
    serde_urlencoded::to_string(pairs).expect("names and values are texts")
}

/// A form of version 3: the account's credentials, these parameters, and the signature.
#[must_use]
pub fn signed_form(merchant: &Merchant, pairs: &[(&str, &str)]) -> String {
    let own = [("apiKey", merchant.api_key.expose()), ("apiPassword", merchant.api_password.expose())];
    let all = [&own, pairs].concat();
    let signature = sign(&all, &ShaKey::new(merchant.sha_key.expose())).hex();
    body_of(&[&all[..], &[("shaSignature", signature.as_str())]].concat())
}

/// A form of version 5: the account's credentials, the version, and these parameters.
///
/// # Panics
/// When the account has no credentials for version 5.
#[must_use]
pub fn enterprise_form(merchant: &Merchant, pairs: &[(&str, &str)]) -> String {
    let own = merchant.enterprise.as_ref().expect("credentials for version 5");
    let own = [("api_key", own.api_key.expose()), ("api_password", own.api_password.expose()), ("version", "5")];
    body_of(&[&own, pairs].concat())
}

/// The path, which asks for XML, and the form of a call of any method with the credentials that it needs.
///
/// # Panics
/// When the account has no such credentials.
#[must_use]
pub fn call(method: &MethodInfo, merchant: &Merchant, pairs: &[(&str, &str)]) -> (String, String) {
    match method.credentials {
        AuthScheme::Enterprise => (format!("/enterprise/{}", method.name), enterprise_form(merchant, pairs)),
        AuthScheme::Signed => (format!("{}{}", method.service.prefix, method.name), signed_form(merchant, pairs)),
        AuthScheme::Session => (format!("{}{}", method.service.prefix, method.name), body_of(pairs)),
    }
}

/// A request with a form.
///
/// # Panics
/// When the path is invalid.
#[must_use]
pub fn request(method: Method, path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(path).header("content-type", FORM);
    request.body(body.into()).expect("a valid path")
}

/// The parameters of a payment of 4.99 GBP with the card that is approved, under this unique reference.
#[must_use]
pub const fn payment(reference: &str) -> [(&'static str, &str); 7] {
    [
        ("currency", "GBP"),
        ("itemName0", "Tea"),
        ("itemPrice0", "499"),
        ("cardNumber", "4000000000001000"),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "99"),
        ("uniqueMerchantReference", reference),
    ]
}

/// Pairs with some values replaced or added; an empty value removes its pair.
#[must_use]
pub fn with<'a>(pairs: &[(&'a str, &'a str)], changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let changed = |name: &str| changes.iter().any(|change| change.0 == name);
    let kept = pairs.iter().filter(|pair| !changed(pair.0));
    kept.chain(changes.iter().filter(|change| !change.1.is_empty())).copied().collect()
}
