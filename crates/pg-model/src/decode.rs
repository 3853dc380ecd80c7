//! Reads a reply in whichever encoding it came.

use alloc::string::String;
use core::fmt;

use crate::{
    ServiceError,
    record::{Record, Reply},
};

/// An encoding of replies, as the last segment of a path (spec 1 §4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `xml`, which is also what is meant when a path names none.
    #[default]
    Xml,
    /// `json`.
    Json,
}

impl Encoding {
    /// The path segment.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Xml => "xml",
            Self::Json => "json",
        }
    }

    /// The encoding that a body is in, by its first character that is not white space; `None` when it is neither.
    #[must_use]
    pub fn of(body: &[u8]) -> Option<Self> {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        match body.iter().find(|b| !b.is_ascii_whitespace())? {
            b'<' => Some(Self::Xml),
            b'{' | b'[' => Some(Self::Json),
            _ => None,
        }
    }
}

/// Reads a reply: the record `R`, or the error that stands in its place.
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
/// When the body can't be read, or holds neither an error nor what the record needs to mean something.
pub fn decode<R: Record + Default>(body: &[u8]) -> Result<Reply<R>, DecodeError> {
    decode_as(body, R::default())
}

/// Reads a reply into an empty record whose type may be known only at run time, such as
/// [`MethodInfo::new_reply`](crate::method::MethodInfo::new_reply) makes.
///
/// # Errors
/// As [`decode`].
pub fn decode_as<R: Record>(body: &[u8], record: R) -> Result<Reply<R>, DecodeError> {
    let mut reply = Reply { record, error: ServiceError::default() };
    decode_into(body, &mut reply)?;
    match reply.record.missing() {
        Some(field) if reply.error.error_code.is_empty() => Err(DecodeError::missing(field)),
        _ => Ok(reply),
    }
}

/// Reads a body into any record, whatever it lacks.
///
/// # Errors
/// When the body can't be read.
pub fn decode_into(body: &[u8], record: &mut dyn Record) -> Result<(), DecodeError> {
    match Encoding::of(body) {
        Some(Encoding::Json) => crate::json::read(body, record),
        #[cfg(feature = "xml")]
        Some(Encoding::Xml) => crate::xml::read(body, record),
        #[cfg(not(feature = "xml"))]
        Some(Encoding::Xml) => Err(DecodeError::plain("is XML, which this build leaves out")),
        None if body.is_empty() => Err(DecodeError::plain("is empty")),
        None => Err(DecodeError::plain("is neither XML nor JSON")),
    }
}

/// Writes a record in an encoding.
#[cfg(feature = "xml")]
#[must_use]
pub fn encode(record: &dyn Record, encoding: Encoding) -> String {
    match encoding {
        Encoding::Xml => crate::xml::write(record),
        Encoding::Json => crate::json::write(record),
    }
}

/// Why a body could not be read. Holds no text of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    what: &'static str,
    place: Option<(usize, usize)>,
    field: Option<&'static str>,
}

impl DecodeError {
    /// Line and column, counted from 1, where reading stopped.
    #[must_use]
    pub const fn place(&self) -> Option<(usize, usize)> {
        self.place
    }

    const fn plain(what: &'static str) -> Self {
        Self { what, place: None, field: None }
    }

    const fn missing(field: &'static str) -> Self {
        Self { what: "lacks", place: None, field: Some(field) }
    }

    pub(crate) fn not_utf8(error: core::str::Utf8Error) -> Self {
        Self { what: "is not UTF-8", place: Some((1, error.valid_up_to() + 1)), field: None }
    }

    pub(crate) fn json(line: usize, column: usize, category: serde_json::error::Category) -> Self {
        use serde_json::error::Category;
        let what = match category {
            Category::Eof => "ends before its JSON does",
            Category::Data => "is JSON of another shape",
            Category::Syntax | Category::Io => "is not valid JSON",
        };
        Self { what, place: Some((line, column)), field: None }
    }

    #[cfg(feature = "xml")]
    pub(crate) fn xml(text: &str, at: usize, what: &'static str) -> Self {
        let read = &text.as_bytes()[..at.min(text.len())];
        let line = read.iter().filter(|b| **b == b'\n').count() + 1;
        let column = read.iter().rev().take_while(|b| **b != b'\n').count() + 1;
        Self { what, place: Some((line, column)), field: None }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the body {}", self.what)?;
        if let Some(field) = self.field {
            write!(f, " {field}")?;
        }
        self.place.map_or(Ok(()), |(line, column)| write!(f, " (line {line}, column {column})"))
    }
}

impl core::error::Error for DecodeError {}
