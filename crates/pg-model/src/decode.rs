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
        match without_byte_order_mark(body).iter().find(|b| !b.is_ascii_whitespace())? {
            b'<' => Some(Self::Xml),
            b'{' | b'[' => Some(Self::Json),
            _ => None,
        }
    }
}

/// Why a text names no encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an encoding is xml or json, in small letters")]
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

/// Why a body could not be read. Holds no text of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    what: &'static str,
    place: Option<(usize, usize)>,
    field: Option<&'static str>,
}

impl DecodeError {
    /// Line and column, counted from 1 in characters, where reading stopped.
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

    pub(crate) fn not_utf8(body: &[u8], error: core::str::Utf8Error) -> Self {
        Self::at(body, error.valid_up_to(), "is not UTF-8")
    }

    /// JSON that is no object, where the value begins.
    pub(crate) fn no_object(text: &str) -> Self {
        Self::at(text.as_bytes(), text.len() - text.trim_ascii_start().len(), "is JSON of another shape")
    }

    /// What is wrong at a byte of a body.
    pub(crate) fn at(body: &[u8], at: usize, what: &'static str) -> Self {
        let read = &body[..at.min(body.len())];
        let line = read.iter().filter(|b| **b == b'\n').count() + 1;
        let characters = read.iter().rev().take_while(|b| **b != b'\n').filter(|b| !is_continuation(**b)).count();
        Self { what, place: Some((line, characters + 1)), field: None }
    }
}

/// Whether a byte continues a character of UTF-8.
const fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// How many more parts of a kind a body may hold, so that a short body cannot fill the memory.
pub(crate) struct Allowance {
    left: usize,
    exceeded: &'static str,
}

impl Allowance {
    /// The limit, and what is wrong with a body that exceeds it.
    pub(crate) const fn new(limit: usize, exceeded: &'static str) -> Self {
        Self { left: limit, exceeded }
    }

    /// For the records of lists and maps in a body of so many bytes: an empty record takes two bytes there and about a hundred
    /// in memory, a real one says which card or payment it is.
    pub(crate) const fn records(bytes: usize) -> Self {
        const ALWAYS: usize = 1_024;
        const BYTES_A_RECORD: usize = 32;
        Self::new(ALWAYS + bytes / BYTES_A_RECORD, "holds more records than its length is good for")
    }

    /// Takes one.
    #[inline]
    pub(crate) const fn take(&mut self) -> Result<(), &'static str> {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => return Err(self.exceeded),
        }
        Ok(())
    }
}

/// A body behind its byte order mark, which no encoding of replies needs and some writers put there.
pub(crate) fn without_byte_order_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)
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
