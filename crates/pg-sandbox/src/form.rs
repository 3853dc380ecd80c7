//! Converts any bytes to parameters, or to a precise error.
//!
//! Names and values are decoded like browsers do (`application/x-www-form-urlencoded` of the URL
//! standard), but invalid input that browsers accept (a `%` without two hexadecimal digits, invalid UTF-8) is
//! refused. Errors never contain a value.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::Range,
};

use http::{HeaderMap, header::CONTENT_TYPE};
use pg_model::Parameters;

mod escapes;
mod names;

pub(crate) use names::shown;

/// The limits of a form.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FormLimits {
    /// The maximum size of a body in bytes. 5,000 card keys need about 210 KB (spec 1 §8).
    pub body_bytes: usize,
    /// The most parameters.
    pub parameters: usize,
}

impl FormLimits {
    /// Sets the maximum size of a body in bytes.
    #[must_use]
    pub const fn body_bytes(mut self, body_bytes: usize) -> Self {
        self.body_bytes = body_bytes;
        self
    }

    /// Sets the maximum number of parameters.
    #[must_use]
    pub const fn parameters(mut self, parameters: usize) -> Self {
        self.parameters = parameters;
        self
    }
}

impl Default for FormLimits {
    /// 1 MiB and 2,000 parameters.
    fn default() -> Self {
        Self { body_bytes: 1 << 20, parameters: 2_000 }
    }
}

/// Up to this number of names, sorting is faster than hashing.
const FEW: usize = 64;

/// The parameters of a request in their original order; names are unique, except for arrays (`name[]`).
#[derive(Debug, Clone, Default)]
pub struct Form(Parameters);

impl Form {
    /// Reads the body of a request; an empty body has no parameters and needs no content type.
    ///
    /// # Errors
    /// [`FormError`] has the error and its position.
    pub fn read(headers: &HeaderMap, body: &[u8], limits: &FormLimits) -> Result<Self, FormError> {
        if body.is_empty() {
            return Ok(Self::default());
        }
        check_content_type(headers)?;
        Self::parse(body, limits)
    }

    /// Reads the card form of a browser: with any content type, unless the body is not a form, and with
    /// values of one name joined by commas where `joins` is true, as for check boxes (A48).
    ///
    /// # Errors
    /// Like [`Form::read`].
    pub(crate) fn read_card_form(
        headers: &HeaderMap,
        body: &[u8],
        limits: &FormLimits,
        joins: impl Fn(&str) -> bool,
    ) -> Result<Self, FormError> {
        let content_type = headers.get(CONTENT_TYPE).map(|value| value.as_bytes().to_ascii_lowercase());
        let is_no_form = |content_type: Vec<u8>| {
            [&b"multipart/"[..], b"application/json"].iter().any(|start| content_type.starts_with(start))
        };
        if !body.is_empty() && content_type.is_some_and(is_no_form) {
            return Err(FormError::ContentType);
        }
        Self::parse_with(body, limits, |name| if joins(name) { Repeated::Joined } else { Repeated::of(name) })
    }

    /// Reads form data, whatever its content type: a body, or the query of a URL.
    ///
    /// # Errors
    /// Like [`Form::read`].
    pub fn parse(body: &[u8], limits: &FormLimits) -> Result<Self, FormError> {
        Self::parse_with(body, limits, Repeated::of)
    }

    fn parse_with(body: &[u8], limits: &FormLimits, repeated: impl Fn(&str) -> Repeated) -> Result<Self, FormError> {
        if body.len() > limits.body_bytes {
            return Err(FormError::TooLarge { limit: limits.body_bytes });
        }
        check_encoding(body)?;
        let expected = separators(body) + 1;
        let mut parameters = Parameters::with_capacity(expected.min(limits.parameters), body.len());
        for (name, value) in read_as_can_be(body) {
            if parameters.len() == limits.parameters {
                return Err(FormError::TooMany { limit: limits.parameters });
            }
            parameters.add(&name, &value);
        }
        let twice = twice(&parameters);
        if twice.is_empty() {
            return Ok(Self(parameters));
        }
        match twice.into_iter().filter(|name| repeated(name) == Repeated::Refused).min() {
            Some(name) => Err(FormError::Duplicate { name: shown(name).to_owned() }),
            None => Ok(Self(joined(&parameters, repeated))),
        }
    }

    /// Returns the parameters for the typed requests.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.0
    }

    /// Returns the value of a parameter, which may be empty; `None` if it was not sent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)
    }

    /// Returns the value of a parameter that was sent and is not empty.
    #[must_use]
    pub fn given(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Returns all parameters in their original order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> + Clone {
        self.0.iter()
    }

    /// Returns how many parameters there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How values of the same name are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeated {
    /// Error (A48).
    Refused,
    /// Array members (A26).
    Kept,
    /// One value, joined by commas.
    Joined,
}

impl Repeated {
    fn of(name: &str) -> Self {
        if name.ends_with("[]") { Self::Kept } else { Self::Refused }
    }
}

/// Returns names that occur more than once.
fn twice(parameters: &Parameters) -> Vec<&str> {
    let names = parameters.iter().map(|(name, _)| name);
    if parameters.len() <= FEW {
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        return names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    }
    let mut known = HashSet::with_capacity(parameters.len());
    names.filter(|name| !known.insert(*name)).collect()
}

/// Returns the parameters with the values of each joined name at its first position.
fn joined(parameters: &Parameters, repeated: impl Fn(&str) -> Repeated) -> Parameters {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut all: Vec<(&str, Cow<'_, str>)> = Vec::with_capacity(parameters.len());
    for (name, value) in parameters.iter() {
        if repeated(name) == Repeated::Joined {
            if let Some(&at) = places.get(name) {
                let held = all[at].1.to_mut();
                held.push(',');
                held.push_str(value);
                continue;
            }
            places.insert(name, all.len());
        }
        all.push((name, Cow::Borrowed(value)));
    }
    all.into_iter().collect()
}

fn check_content_type(headers: &HeaderMap) -> Result<(), FormError> {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(FormError::ContentType);
    };
    let text = value.to_str().map_err(|_| FormError::ContentType)?;
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(FormError::ContentType);
    }
    for parameter in parts {
        if let Some((name, value)) = parameter.split_once('=')
            && name.trim().eq_ignore_ascii_case("charset")
        {
            let charset = value.trim().trim_matches('"');
            if !["utf-8", "utf8", "us-ascii"].iter().any(|known| charset.eq_ignore_ascii_case(known)) {
                return Err(FormError::Charset);
            }
        }
    }
    Ok(())
}

/// Returns the number of `&`. Counts in short parts, many bytes at a time.
fn separators(body: &[u8]) -> usize {
    let in_part = |part: &[u8]| part.iter().map(|&byte| u8::from(byte == b'&')).sum::<u8>();
    body.chunks(usize::from(u8::MAX)).map(|part| usize::from(in_part(part))).sum()
}

fn check_encoding(body: &[u8]) -> Result<(), FormError> {
    let plain = body.is_ascii();
    // Nearly every form encodes nothing but ASCII characters: then it is UTF-8 in any case.
    let encodes_ascii = |rest: &[u8]| matches!(rest, [b'0'..=b'7', low, ..] if low.is_ascii_hexdigit());
    // A text is searched many bytes at once.
    let text = std::str::from_utf8(body).ok().filter(|_| plain);
    if text.is_some_and(|text| text.split('%').skip(1).map(str::as_bytes).all(encodes_ascii)) {
        return Ok(());
    }
    for (position, component) in body.split(|&byte| byte == b'&').enumerate() {
        if plain && !component.contains(&b'%') {
            continue;
        }
        let decoded = escapes::decoded(component);
        if !decoded.is_valid {
            return Err(FormError::PercentEncoding { parameter: position + 1 });
        }
        // A separator cannot occur inside a character, so the undivided pair can be checked at once.
        if std::str::from_utf8(&decoded.bytes).is_err() {
            return Err(FormError::Utf8 { parameter: position + 1 });
        }
    }
    Ok(())
}

/// Returns the readable names and values of form data, whatever is wrong with the rest.
pub(crate) fn read_as_can_be(body: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    // If all of it is UTF-8, each part is.
    let text = std::str::from_utf8(body).ok();
    let mut next = 0;
    let parts = body.split(|&byte| byte == b'&').map(move |component| {
        let start = next;
        next += component.len() + 1;
        (start, component)
    });
    parts.filter(|(_, component)| !component.is_empty()).map(move |(start, component)| {
        let end = start + component.len();
        let sign = component.iter().position(|&byte| byte == b'=').map_or(end, |at| start + at);
        (decoded(body, text, start..sign), decoded(body, text, (sign + 1).min(end)..end))
    })
}

/// Most names and values need no decoding. They are recognised many bytes at a time.
fn decoded<'a>(body: &'a [u8], text: Option<&'a str>, part: Range<usize>) -> Cow<'a, str> {
    let written = &body[part.clone()];
    let is_encoded = written.iter().fold(false, |found, &byte| found | (byte == b'%') | (byte == b'+'));
    let known = text.and_then(|text| text.get(part));
    match known.or_else(|| std::str::from_utf8(written).ok()) {
        Some(text) if !is_encoded => Cow::Borrowed(text),
        _ => {
            let bytes = escapes::decoded(written).bytes;
            Cow::Owned(
                String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            )
        }
    }
}

/// Why bytes are not a form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// The content type is missing, repeated, or not that of a form.
    #[error("Content-Type must be application/x-www-form-urlencoded")]
    ContentType,
    /// The content type names a character set other than UTF-8.
    #[error("the character set must be UTF-8")]
    Charset,
    /// The body is too long.
    #[error("the body is longer than {limit} bytes")]
    TooLarge {
        /// The most bytes.
        limit: usize,
    },
    /// The body ended before the announced length, or its transfer coding is broken.
    #[error("the body is incomplete")]
    Incomplete,
    /// A `%` is not followed by two hexadecimal digits.
    #[error("invalid percent-encoding in parameter number {parameter}")]
    PercentEncoding {
        /// The parameter's number, from 1.
        parameter: usize,
    },
    /// A name or value is not UTF-8.
    #[error("parameter number {parameter} is not UTF-8")]
    Utf8 {
        /// The parameter's number, from 1.
        parameter: usize,
    },
    /// A name was sent twice.
    #[error("parameter {name} was sent more than once")]
    Duplicate {
        /// The name, if it is safe to show.
        name: String,
    },
    /// There are too many parameters.
    #[error("there are more than {limit} parameters")]
    TooMany {
        /// The most parameters.
        limit: usize,
    },
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn form(body: &[u8]) -> Result<Form, FormError> {
        Form::parse(body, &FormLimits::default())
    }

    fn error(body: &[u8]) -> FormError {
        form(body).err().unwrap()
    }

    fn with_type(content_type: &'static str) -> Result<Form, FormError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        Form::read(&headers, b"a=1", &FormLimits::default())
    }

    // spec: 1 §4.1, A36, A46, A48: The body is a form.
    #[test]
    fn decodes_and_keeps_the_order() {
        let form = form("b=2&a=caf%C3%A9+%26+tea&&c&d==x&e=ü".as_bytes()).unwrap();
        let pairs: Vec<_> = form.iter().collect();
        assert_eq!(pairs, [("b", "2"), ("a", "café & tea"), ("c", ""), ("d", "=x"), ("e", "ü")]);
        assert_eq!((form.get("a"), form.get("c")), (Some("café & tea"), Some("")));
        assert_eq!((form.given("c"), form.get("A")), (None, None));
    }

    #[test]
    fn names_what_is_wrong() {
        assert_eq!(error(b"a=1&b=%4"), FormError::PercentEncoding { parameter: 2 });
        assert_eq!(error(b"a=%zz"), FormError::PercentEncoding { parameter: 1 });
        assert_eq!(error(b"a=1&%=1"), FormError::PercentEncoding { parameter: 2 });
        assert_eq!(error(b"a=%4&6=1"), FormError::PercentEncoding { parameter: 1 });
        assert_eq!(error(b"a=1&b=2&c=%ff"), FormError::Utf8 { parameter: 3 });
        assert_eq!(error(b"a=\xc3&\xa9=1"), FormError::Utf8 { parameter: 1 });
        assert_eq!(error(b"a=1&b=2&a=1"), FormError::Duplicate { name: "a".to_owned() });
        assert_eq!(error(b"a=1&%61=2"), FormError::Duplicate { name: "a".to_owned() });
    }

    #[test]
    fn separators_are_counted_in_bodies_of_any_length() {
        for count in [0, 1, 254, 255, 256, 1_000] {
            assert_eq!(separators("&".repeat(count).as_bytes()), count);
            assert_eq!(separators("a=1&".repeat(count).as_bytes()), count);
        }
    }

    #[test]
    fn members_of_an_array_share_a_name() {
        let form = form(b"a[]=1&b=2&a%5B%5D=1").unwrap();
        assert_eq!(form.iter().collect::<Vec<_>>(), [("a[]", "1"), ("b", "2"), ("a[]", "1")]);
    }

    #[test]
    fn a_card_form_accepts_check_boxes_and_any_content_type() {
        let read = |content_type: Option<&'static str>, body: &[u8]| {
            let mut headers = HeaderMap::new();
            if let Some(content_type) = content_type {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
            }
            Form::read_card_form(&headers, body, &FormLimits::default(), |name| name.starts_with("collect"))
        };
        let boxes = read(None, b"collectA=1&x=2&collectA=3&collectB=&collectA=").unwrap();
        assert_eq!(boxes.iter().collect::<Vec<_>>(), [("collectA", "1,3,"), ("x", "2"), ("collectB", "")]);
        for content_type in ["text/plain", "application/x-www-form-urlencoded; charset=iso-8859-1", "x"] {
            assert!(read(Some(content_type), b"a=1").is_ok(), "{content_type}");
        }
        for content_type in ["multipart/form-data; boundary=x", "Application/JSON"] {
            assert_eq!(read(Some(content_type), b"a=1").err(), Some(FormError::ContentType), "{content_type}");
            assert!(read(Some(content_type), b"").is_ok());
        }
        assert_eq!(read(None, b"x=1&x=1").err(), Some(FormError::Duplicate { name: "x".to_owned() }));
    }

    #[test]
    fn a_card_number_as_a_name_is_not_repeated() {
        let text = error(b"4111111111111111=1&4111111111111111=2").to_string();
        assert!(!text.contains("4111"), "{text}");
    }

    #[test]
    fn the_content_type_is_checked() {
        assert!(with_type("application/x-www-form-urlencoded").is_ok());
        assert!(with_type("Application/X-WWW-Form-URLencoded; charset=\"UTF-8\"").is_ok());
        assert_eq!(with_type("application/json").err(), Some(FormError::ContentType));
        assert_eq!(with_type("multipart/form-data; boundary=x").err(), Some(FormError::ContentType));
        let latin = with_type("application/x-www-form-urlencoded; charset=iso-8859-1");
        assert_eq!(latin.err(), Some(FormError::Charset));
        let none = Form::read(&HeaderMap::new(), b"a=1", &FormLimits::default());
        assert_eq!(none.err(), Some(FormError::ContentType));
        assert!(Form::read(&HeaderMap::new(), b"", &FormLimits::default()).unwrap().is_empty());
    }

    // spec: 1 §8, A47: Requests have at most 1 MiB and 2,000 parameters.
    #[test]
    fn limits_hold_and_5_000_card_keys_pass() {
        let key = "01234567-89ab-cdef-0123-456789abcdef0123%2C";
        let keys = format!("cardKey={}", key.repeat(5_000));
        assert_eq!(form(keys.as_bytes()).unwrap().get("cardKey").map(str::len), Some(5_000 * 41));
        let many: String = (0..2_001).map(|n| format!("p{n}=1&")).collect();
        assert_eq!(error(many.as_bytes()), FormError::TooMany { limit: 2_000 });
        let large = vec![b'a'; (1 << 20) + 1];
        assert_eq!(error(&large), FormError::TooLarge { limit: 1 << 20 });
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_form_or_an_error(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = form(&body);
        }

        #[test]
        fn any_bytes_are_read_as_browsers_read_them(body in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(read_as_can_be(&body).eq(form_urlencoded::parse(&body)));
        }

        #[test]
        fn bytes_near_a_form_are_read_as_browsers_read_them(body in "[ab=&+%0-9cCé\u{fffd}]{0,60}") {
            prop_assert!(read_as_can_be(body.as_bytes()).eq(form_urlencoded::parse(body.as_bytes())));
        }

        #[test]
        fn bytes_near_a_form_agree_with_the_forgiving_decoder(
            body in "[ab=&+%0-9cCé\u{fffd}]{0,60}"
        ) {
            if let Ok(form) = form(body.as_bytes()) {
                let pairs: Vec<(String, String)> = serde_urlencoded::from_str(&body).unwrap();
                prop_assert!(form.iter().eq(pairs.iter().map(|(n, v)| (n.as_str(), v.as_str()))));
            }
        }

        #[test]
        fn encoded_data_is_read_back(pairs in proptest::collection::btree_map(".{1,20}", ".{0,40}", 0..20)) {
            let body = serde_urlencoded::to_string(&pairs).unwrap();
            let form = form(body.as_bytes()).unwrap();
            prop_assert_eq!(form.len(), pairs.len());
            for (name, value) in &pairs {
                prop_assert_eq!(form.get(name), Some(value.as_str()));
            }
        }
    }
}
