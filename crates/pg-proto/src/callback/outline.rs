//! What a refused callback has, without its values.

use std::fmt;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use pg_model::mask;

use super::fields;

/// Maximum number of names that are shown.
const NAMES: usize = 24;
/// Maximum length of a name or a content type that is shown.
const LONGEST: usize = 64;

/// Describes a request that is not a valid callback in one line, for a log: its method, its content type and the names
/// of its fields. Values are never shown, nor anything that is not a plain name. A name without a value may be a value
/// itself, such as a token that is the whole query, so it is not shown either.
///
/// ```
/// use pg_proto::{CallbackOutline, CheckoutHint, bytes::Bytes, http};
///
/// let request = http::Request::post("/paid?order=7").body(Bytes::from("transactionid=4711&amount=4.99"))?;
/// assert!(CheckoutHint::read(&request).is_err());
/// let outline = CallbackOutline::of(&request).to_string();
/// assert_eq!(outline, "POST, no content type, fields: order, transactionid, amount");
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackOutline(String);

impl CallbackOutline {
    /// Describes a request.
    #[must_use]
    pub fn of(request: &http::Request<Bytes>) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut others = false;
        let mut note = |name: &str, value: &str| {
            // The end of padded base64 is no value.
            let has_value = !value.trim_matches('=').is_empty();
            if !has_value || !is_plain(name) || (names.len() == NAMES && !names.iter().any(|known| known == name)) {
                others = true;
            } else if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        };
        fields::of_form(request.uri().query().unwrap_or_default().as_bytes(), &mut note);
        let body = fields::of_body(request.body(), &mut note);
        let method = Some(request.method().as_str()).filter(|method| is_plain(method)).unwrap_or("another method");
        let content_type = request.headers().get(CONTENT_TYPE).map_or("no content type", |value| {
            // Without parameters: a boundary says nothing.
            let bare = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
            if is_plain(bare) { bare } else { "another content type" }
        });
        let mut text = format!("{method}, {content_type}");
        if names.is_empty() {
            text += if others { ", no plain names" } else { ", no fields" };
        } else {
            text = text + ", fields: " + &names.join(", ");
            text += if others { " and others" } else { "" };
        }
        if body.is_err() {
            text += ", a body that cannot be read";
        }
        Self(mask::text(&text))
    }
}

impl fmt::Display for CallbackOutline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text is a name and no value that stands in its place.
fn is_plain(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:[]/+".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(content_type: &str, uri: &str, body: &str) -> String {
        let request = http::Request::post(uri).header("content-type", content_type);
        CallbackOutline::of(&request.body(Bytes::from(body.to_owned())).unwrap()).to_string()
    }

    // spec: 3 §6, A121
    #[test]
    fn names_are_shown_and_values_are_not() {
        for (content_type, uri, body, expected) in [
            ("text/plain", "/t", "", "POST, text/plain, no fields"),
            ("text/plain", "/t?a=1", "b=2&a=3", "POST, text/plain, fields: a, b"),
            (
                "application/json; charset=utf-8",
                "/t",
                r#"{"a":[{"b":"x"},"y"],"c":null}"#,
                "POST, application/json, fields: b, a and others",
            ),
            ("application/xml", "/t", "<r><a>x</a><b>y</b></r>", "POST, application/xml, fields: a, b"),
            ("text/plain", "/t?a81d4f", "sk_live_51H", "POST, text/plain, no plain names"),
            ("text/plain", "/t?eyJhbGciOi.eyJzdWIi.x", "c2VjcmV0==", "POST, text/plain, no plain names"),
            (
                "application/xml",
                "/t?k=1",
                "<r><a>x</a><b>",
                "POST, application/xml, fields: k, a body that cannot be read",
            ),
            ("caf\u{e9}", "/t", "123", "POST, another content type, no plain names"),
            (
                "multipart/form-data; boundary=X",
                "/t",
                "--X\r\nname=\"cv2\"\r\n\r\n123&456=7\r\n--X--",
                "POST, multipart/form-data, no plain names",
            ),
            ("text/plain", "/t", "card4000000000001000=1&x=2", "POST, text/plain, fields: card400000******1000, x"),
        ] {
            assert_eq!(outline(content_type, uri, body), expected);
        }
        let many: String = (0..100).map(|n| format!("n{n}=secret&")).collect();
        let shown = outline("text/plain", "/t", &many);
        assert!(shown.ends_with("n22, n23 and others") && !shown.contains("secret"), "{shown}");
    }
}
