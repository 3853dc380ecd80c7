//! Redacts replies: JSON, other texts, and headers. Fields that the client reads by name keep their names and short
//! codes.

use std::{borrow::Cow, ops::Range};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use serde::de::IgnoredAny;

use super::{LONGEST_WORD, Redactor, shown};

/// Fields with codes, amounts, keys and references, which programs compare. If one contains a CV2 by chance, it is
/// unchanged.
const CODES: [&str; 26] = [
    "errorCode",
    "errorcode",
    "traceCode",
    "transactionStatusCode",
    "transactionValue",
    "transactionKey",
    "originalTransactionKey",
    "merchantReference",
    "uniqueMerchantReference",
    "merchantCustomerReference",
    "currency",
    "result",
    "response",
    "status",
    "enabled",
    "auth_code",
    "trans_key",
    "prev_trans_key",
    "trans_value",
    "tokenid",
    "reference",
    "price",
    "quantity",
    "uses",
    "redemptions",
    "messid",
];
/// Headers with times and lengths, which never contain what was sent.
const PLAIN_HEADERS: [HeaderName; 3] = [header::DATE, header::CONTENT_LENGTH, header::RETRY_AFTER];

impl Redactor {
    /// Returns a reply that shows no secret, in its headers or its body.
    pub(crate) fn reply(&self, reply: Response<Bytes>) -> Response<Bytes> {
        let (mut head, body) = reply.into_parts();
        self.headers(&mut head.headers);
        let is_json = serde_json::from_slice::<IgnoredAny>(&body).is_ok();
        let hidden = if is_json { self.json_bytes(&body) } else { self.other(&body) };
        Response::from_parts(head, hidden.map_or(body, Bytes::from))
    }

    /// Returns a JSON text without secrets; it stays valid.
    pub(crate) fn json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let hidden = self.json_bytes(json.as_bytes()).and_then(|hidden| String::from_utf8(hidden).ok());
        hidden.map_or(Cow::Borrowed(json), Cow::Owned)
    }

    /// Returns a text of unknown content without secrets.
    #[cfg(test)]
    pub(super) fn text(&self, text: &str) -> String {
        String::from_utf8(self.other(text.as_bytes()).unwrap_or_else(|| text.into())).unwrap()
    }

    fn headers(&self, headers: &mut HeaderMap) {
        // The name of a header says nothing that a client reads, unless it is a known one.
        let secret = |name: &&HeaderName| !self.places(name.as_str().as_bytes(), false).is_empty();
        for name in headers.keys().filter(secret).cloned().collect::<Vec<_>>() {
            headers.remove(name);
        }
        for (_, value) in headers.iter_mut().filter(|(name, _)| !PLAIN_HEADERS.contains(name)) {
            let places = self.places(value.as_bytes(), false);
            if let Some(hidden) = replaced(value.as_bytes(), &places)
                && let Ok(hidden) = HeaderValue::from_bytes(&hidden)
            {
                *value = hidden;
            }
        }
    }

    /// Redacts any text except JSON. Names of XML elements are kept.
    fn other(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut places = self.places(body, false);
        places.retain(|place| !is_element_name(body, place) && !is_code_element(body, place));
        replaced(body, &places)
    }

    /// Strings, names and numbers of a JSON text.
    fn json_bytes(&self, json: &[u8]) -> Option<Vec<u8>> {
        edited(json, |name, token| {
            let (text, is_string) = match token {
                Token::Name(text) | Token::Text(text) => (text, true),
                Token::Number(text) => (text, false),
            };
            let is_code = CODES.iter().any(|code| code.as_bytes() == name) || name.starts_with(b"bank");
            let mut places = self.places(text, is_string);
            if is_code {
                places.retain(|place| !matches!(token, Token::Name(_)) && place.len() > LONGEST_WORD);
            }
            if !is_string {
                // A number is hidden as a whole or not at all.
                places.retain(|place| *place == (0..text.len()));
            }
            replaced(text, &places)
        })
    }
}

/// A part of a JSON text, as it is written, without quotes.
#[derive(Clone, Copy)]
pub(super) enum Token<'a> {
    /// The name of a member.
    Name(&'a [u8]),
    Text(&'a [u8]),
    Number(&'a [u8]),
}

/// Returns a JSON text with strings, names and numbers replaced, if any is. The function gets the name of the member; its result
/// stands between quotes.
pub(super) fn edited(json: &[u8], edit: impl Fn(&[u8], Token<'_>) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let (mut out, mut is_changed, mut kept, mut at) = (Vec::new(), false, 0, 0);
    let mut name: &[u8] = b"";
    while at < json.len() {
        let Some((token, inside)) = token(json, at) else {
            at += 1;
            continue;
        };
        at = token.end;
        let is_string = inside.len() < token.len();
        let text = &json[inside.clone()];
        let token = if !is_string {
            Token::Number(text)
        } else if json[at..].trim_ascii_start().starts_with(b":") {
            name = text;
            Token::Name(text)
        } else {
            Token::Text(text)
        };
        let Some(hidden) = edit(name, token) else { continue };
        is_changed = true;
        out.extend_from_slice(&json[kept..inside.start]);
        let quote: &[u8] = if is_string { b"" } else { b"\"" };
        out.extend([quote, &hidden, quote].concat());
        kept = inside.end;
    }
    out.extend_from_slice(&json[kept..]);
    is_changed.then_some(out)
}

/// Returns the string or number that begins here, and the text inside it.
fn token(json: &[u8], at: usize) -> Option<(Range<usize>, Range<usize>)> {
    match json[at] {
        b'"' => {
            let mut end = at + 1;
            while *json.get(end)? != b'"' {
                end += if json[end] == b'\\' { 2 } else { 1 };
            }
            Some((at..end + 1, at + 1..end))
        }
        b'-' | b'0'..=b'9' => {
            let in_number = |byte: &u8| byte.is_ascii_digit() || b"-+.eE".contains(byte);
            let end = json[at..].iter().position(|byte| !in_number(byte)).map_or(json.len(), |length| at + length);
            Some((at..end, at..end))
        }
        _ => None,
    }
}

fn is_element_name(body: &[u8], place: &Range<usize>) -> bool {
    let before = &body[..place.start];
    before.ends_with(b"<") || before.ends_with(b"</")
}

/// Whether a short value is the whole content of an element with a code.
fn is_code_element(body: &[u8], place: &Range<usize>) -> bool {
    let (before, after) = (&body[..place.start], &body[place.end..]);
    let name = before.strip_suffix(b">").and_then(|before| before.rsplit(|byte| *byte == b'<').next());
    place.len() <= LONGEST_WORD
        && after.starts_with(b"</")
        && name.is_some_and(|name| CODES.iter().any(|code| code.as_bytes() == name) || name.starts_with(b"bank"))
}

/// Returns the text with these places replaced, if there are any.
fn replaced(text: &[u8], places: &[Range<usize>]) -> Option<Vec<u8>> {
    let (mut out, mut kept) = (Vec::new(), 0);
    for place in places {
        out.extend_from_slice(&text[kept..place.start]);
        out.extend(shown(&text[place.clone()]).into_bytes());
        kept = place.end;
    }
    out.extend_from_slice(&text[kept..]);
    (!places.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::super::tests::redactor;

    const REQUEST: &str = "apiKey=KKKKkkkk0123&apiPassword=a%22b%5Cc&cardNumber=4929420573595709&cardCV2=917";

    fn json(reply: &str) -> String {
        let shown = redactor(REQUEST).json(reply).into_owned();
        serde_json::from_str::<serde_json::Value>(&shown).unwrap();
        shown
    }

    #[test]
    fn json_stays_json_and_shows_no_secret() {
        for (reply, shown) in [
            (r#"{"errorMessage":"bad: {\"cardCV2\": \"917\"}"}"#, r#"{"errorMessage":"bad: {\"cardCV2\": \"***\"}"}"#),
            (r#"{"a\"b\\c": ["a\"b\\c", "x"]}"#, r#"{"***": ["***", "x"]}"#),
            (
                r#"{"echo":{"cardCV2":917,"n":4929420573595709}}"#,
                r#"{"echo":{"cardCV2":"***","n":"492942******5709"}}"#,
            ),
            (r#"{"cv":"917","KKKKkkkk0123":1}"#, r#"{"cv":"***","***":1}"#),
            (r#"{"request":"apiPassword=a%22b%5Cc"}"#, r#"{"request":"apiPassword=***"}"#),
            (r#"{"transactionStatus":"paid with 917"}"#, r#"{"transactionStatus":"paid with ***"}"#),
            (r#"[1917, -917, 917.5, "\u004bKKKkkkk0123"]"#, r#"[1917, -917, 917.5, "***"]"#),
        ] {
            assert_eq!(json(reply), shown, "{reply}");
        }
    }

    #[test]
    fn a_code_that_is_equal_to_the_cv2_stays() {
        for reply in [
            r#"{"errorCode":"917"}"#,
            r#"{"transactionStatusCode":917,"merchantReference":"order-917","bankAuthCode":"917"}"#,
        ] {
            assert_eq!(json(reply), reply);
        }
        let xml = "<r><errorCode>917</errorCode><errorMessage>917</errorMessage></r>";
        assert_eq!(redactor(REQUEST).text(xml), "<r><errorCode>917</errorCode><errorMessage>***</errorMessage></r>");
        assert_eq!(redactor("apiPassword=errorCode").text(xml), xml);
        assert_eq!(redactor("apiPassword=errorCode").json(r#"{"errorCode":"1"}"#), r#"{"errorCode":"1"}"#);
    }

    #[test]
    fn headers_show_no_secret() {
        let reply = http::Response::builder()
            .header("location", "https://shop.example/?k=KKKKkkkk0123&cv=917")
            .header("retry-after", "917")
            .body(bytes::Bytes::from_static(b"\xff KKKKkkkk0123"))
            .unwrap();
        let reply = redactor(REQUEST).reply(reply);
        assert_eq!(reply.headers()["location"], "https://shop.example/?k=***&cv=***");
        assert_eq!(reply.headers()["retry-after"], "917");
        assert_eq!(&**reply.body(), b"\xff ***");
    }
}
