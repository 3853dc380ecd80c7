//! Reads a reply in any encoding.

use alloc::string::String;
use core::fmt;

use crate::{
    Extra, ServiceError, Value,
    decode_error::{DecodeError, without_byte_order_mark},
    record::{Record, RecordWriter, Reply, Slot},
};

/// An encoding of replies, as the last segment of a path (spec 1 §4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `xml`, also the default if a path has no encoding.
    #[default]
    Xml,
    /// `json`.
    Json,
}

impl Encoding {
    /// Returns the path segment.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Json => "json",
        }
    }

    /// Returns the encoding of a body, detected by its first character that is not white space; `None` if it is
    /// neither.
    #[must_use]
    pub fn of(body: &[u8]) -> Option<Self> {
        match without_byte_order_mark(body).iter().find(|b| !b.is_ascii_whitespace())? {
            b'<' => Some(Self::Xml),
            b'{' | b'[' => Some(Self::Json),
            _ => None,
        }
    }
}

/// Why a text is not an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the encoding must be xml or json, in lower case")]
pub struct EncodingError;

impl core::str::FromStr for Encoding {
    type Err = EncodingError;

    fn from_str(text: &str) -> Result<Self, EncodingError> {
        [Self::Xml, Self::Json].into_iter().find(|encoding| encoding.as_str() == text).ok_or(EncodingError)
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads a reply: the record `R`, or the error that the service sent instead.
///
/// ```
/// use pg_model::{Session, decode};
/// let reply = decode::<Session>(br#"{"sessionKey":"0123456789abcdef0123456789abcdef"}"#)?;
/// assert_eq!(reply.record.session_key, "0123456789abcdef0123456789abcdef");
///
/// let refused = decode::<Session>(br#"{"errorCode":133,"traceCode":"12345678","errorMessage":"Error page URL not supplied"}"#)?;
/// assert_eq!(refused.error.error_code, pg_model::ErrorCode::ERROR_PAGE_URL_NOT_SUPPLIED);
/// # Ok::<(), pg_model::DecodeError>(())
/// ```
///
/// # Errors
/// If the body cannot be read, or contains neither an error nor the required fields of the record. An empty list of a lookup is a
/// required field too: the body must name it, and hold nothing else (assumption A43).
pub fn decode<R: Record + Default>(body: &[u8]) -> Result<Reply<R>, DecodeError> {
    decode_as(body, R::default())
}

/// Reads a reply into an empty record whose type may be known only at run time, for example from
/// [`MethodInfo::new_reply`](crate::method::MethodInfo::new_reply).
///
/// # Errors
/// As [`decode`].
pub fn decode_as<R: Record>(body: &[u8], record: R) -> Result<Reply<R>, DecodeError> {
    let mut reply = Reply { record, error: ServiceError::default() };
    decode_into(body, &mut reply)?;
    if !reply.error.error_code.is_empty() {
        return Ok(reply);
    }
    // Without an error code, what is left of an error is unlisted fields of the record: an empty list beside them proves nothing.
    let ServiceError { trace_code, error_message, .. } = core::mem::take(&mut reply.error);
    for (name, text) in [("traceCode", trace_code.as_str()), ("errorMessage", &error_message)] {
        if !text.is_empty() {
            reply.record.extra().push(name, Value::text(text.into()));
        }
    }
    let Some(field) = reply.record.missing() else { return Ok(reply) };
    if !matches!(reply.record.slot(field), Slot::List(_)) {
        return Err(DecodeError::missing(field));
    }
    match (names_empty_list(body, field)?, reply.record.extra().is_empty()) {
        (true, true) => Ok(reply),
        (true, false) => Err(DecodeError::more_than_a_list(field)),
        (false, _) => Err(DecodeError::no_list(field)),
    }
}

/// Whether a body names a list and says that it is empty: an empty element in XML, `{}` or `[]` in JSON. `null` and an empty text
/// say that there is no value, which is not the same (assumption A43).
fn names_empty_list(body: &[u8], field: &str) -> Result<bool, DecodeError> {
    let mut members = Members::default();
    decode_into(body, &mut members)?;
    let is_xml = Encoding::of(body) == Some(Encoding::Xml);
    Ok(members.0.get(field).is_some_and(|value| match value {
        Value::Text(text) => is_xml && text.trim_ascii().is_empty(),
        Value::List(values) => values.is_empty(),
        Value::Record(record) => record.is_empty(),
    }))
}

/// Everything in a body, as it is there.
#[derive(Default)]
struct Members(Extra);

impl Record for Members {
    fn slot(&mut self, _: &str) -> Slot<'_> {
        Slot::Extra
    }

    fn extra(&mut self) -> &mut Extra {
        &mut self.0
    }

    fn write(&self, _: &mut dyn RecordWriter) {}
}

/// Reads a body into any record, without checking required fields.
///
/// # Errors
/// If the body cannot be read.
pub fn decode_into(body: &[u8], record: &mut dyn Record) -> Result<(), DecodeError> {
    match Encoding::of(body) {
        Some(Encoding::Json) => crate::json::read(body, record),
        Some(Encoding::Xml) => crate::xml::read(body, record),
        None if body.is_empty() => Err(DecodeError::plain("is empty")),
        None => Err(DecodeError::plain("is neither XML nor JSON")),
    }
}

/// Writes a record in an encoding.
#[must_use]
pub fn encode(record: &dyn Record, encoding: Encoding) -> String {
    match encoding {
        Encoding::Xml => crate::xml::write(record),
        Encoding::Json => crate::json::write(record),
    }
}

#[cfg(test)]
mod tests {
    use alloc::{
        format,
        string::{String, ToString as _},
    };

    use super::*;
    use crate::{AddressReply, CheckoutToken, EnterpriseTransaction, SmsReply, Transaction};

    fn read(fields: &str) -> Result<Transaction, DecodeError> {
        let body = format!("<serviceResponse>{fields}</serviceResponse>");
        decode(body.as_bytes()).map(|reply| reply.record)
    }

    #[test]
    fn an_error_without_a_code_is_no_empty_list() {
        use crate::Transactions;

        for body in [
            r#"{"traceCode":"123456789","errorMessage":"Service busy"}"#,
            r#"{"errorCode":null,"errorMessage":"Service busy"}"#,
            r#"{"errorCode":"","traceCode":"123456789"}"#,
            "<serviceResponse><errorMessage>Service busy</errorMessage></serviceResponse>",
        ] {
            let why = decode::<Transactions>(body.as_bytes()).unwrap_err().to_string();
            assert!(why.contains("transactions"), "{why}");
        }
        assert!(decode::<Transactions>(br#"{"errorCode":"","errorMessage":"","transactions":{}}"#).is_ok());
        // It is kept beside what a reply says.
        let traced = read(
            "<transactionStatusCode>600</transactionStatusCode><transactionKey>k</transactionKey><traceCode>7</traceCode>",
        );
        assert_eq!(traced.unwrap().extra.get("traceCode").and_then(Value::as_text), Some("7"));
    }

    // spec: 1 §4.1, A41: XML that is not UTF-8 is read as ISO-8859-1 if its declaration names that encoding
    #[test]
    fn a_reply_in_the_declared_iso_8859_1_is_read() {
        let latin_1 = |declaration: &str| {
            let fields = "<transactionStatusCode>600</transactionStatusCode><cardholderName>Zo\u{eb}</cardholderName>";
            let body = format!("{declaration}<serviceResponse>{fields}</serviceResponse>");
            let body: alloc::vec::Vec<u8> = body.chars().map(|letter| u8::try_from(letter).unwrap()).collect();
            decode::<Transaction>(&body).map(|reply| reply.record.extra.get("cardholderName").cloned())
        };
        for declaration in
            ["<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>", "<?xml version='1.0' encoding='iso-8859-1'?>\n"]
        {
            assert_eq!(latin_1(declaration), Ok(Some(Value::text("Zo\u{eb}".into()))), "{declaration}");
        }
        for declaration in ["", "<?xml version=\"1.0\"?>", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"] {
            assert!(latin_1(declaration).unwrap_err().to_string().contains("not UTF-8"), "{declaration}");
        }
    }

    // spec: 2 §2.3, A44: a reply that says two different things is unreadable
    #[test]
    fn a_reply_with_two_values_of_a_field_is_unreadable() {
        let [code, key, value] = ["transactionStatusCode", "transactionKey", "transactionValue"];
        for (name, one, two) in [
            (code, "651", "600"),
            (code, "600", "699"),
            (key, "k1", "k2"),
            (value, "1", "499"),
            (value, "499", "499.0"),
        ] {
            let field = |name: &str, value: &str| format!("<{name}>{value}</{name}>");
            let first = if name == code { field(key, "k") } else { field(code, "600") };
            let twice = |again: &str| read(&format!("{first}{}{}", field(name, one), field(name, again)));
            let why = twice(two).unwrap_err().to_string();
            assert!(why.contains("has a field twice, with different values"), "{why}");
            assert!(twice(one).is_ok() && twice("").is_ok(), "the same again");
            let json = format!(r#"{{"{code}": "600", "{name}": "{one}", "{name}": "{two}"}}"#);
            assert!(decode::<Transaction>(json.as_bytes()).is_err(), "{json}");
        }
        let enterprise = |fields: &str| {
            decode::<EnterpriseTransaction>(format!("<serviceResponse>{fields}</serviceResponse>").as_bytes())
        };
        let (failed, success) = ("<status>Failed</status>", "<status>Success</status>");
        assert!(enterprise(&format!("{failed}{success}")).is_err());
        assert!(enterprise(&format!("{success}<value>1.00</value><value>10.00</value>")).is_err());
        assert!(enterprise(&format!("{success}{success}<value>1.00</value><value>1.00</value>")).is_ok());
    }

    // spec: 3 §2.1, 3 §2.3, 3 §2.4
    #[test]
    fn a_record_within_a_reply_needs_its_own_required_fields() {
        fn said<R: Record + Default>(fields: &str) -> Result<(), String> {
            let body = format!("<serviceResponse>{fields}</serviceResponse>");
            decode::<R>(body.as_bytes()).map(|_| ()).map_err(|error| error.to_string())
        }
        let sms = said::<SmsReply>("<sms><msisdn>447700900123</msisdn></sms>").unwrap_err();
        let address = said::<AddressReply>("<address><town>Leeds</town></address>").unwrap_err();
        for said in [sms, address] {
            assert!(said.contains("status"), "{said}");
        }
        let token = said::<CheckoutToken>("<token><merchant>Shop</merchant></token>").unwrap_err();
        assert!(token.contains("tokenid"), "{token}");
        assert!(said::<CheckoutToken>("<user><town>Leeds</town></user>").unwrap_err().contains("token"));
        assert_eq!(said::<SmsReply>("<sms><status>1</status></sms>"), Ok(()));
        assert_eq!(said::<CheckoutToken>("<token><tokenid>t</tokenid></token>"), Ok(()));
    }
}
