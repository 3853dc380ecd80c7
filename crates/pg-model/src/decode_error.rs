//! Errors in bodies, and the limits of bodies.

use core::fmt;

/// Why a body could not be read. Contains no text of the body.
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

    pub(crate) const fn plain(what: &'static str) -> Self {
        Self { what, place: None, field: None }
    }

    pub(crate) const fn missing(field: &'static str) -> Self {
        Self { what: "lacks", place: None, field: Some(field) }
    }

    pub(crate) const fn no_list(field: &'static str) -> Self {
        Self { what: "has no list called", place: None, field: Some(field) }
    }

    pub(crate) const fn more_than_a_list(field: &'static str) -> Self {
        Self { what: "has other members beside the empty list", place: None, field: Some(field) }
    }

    pub(crate) fn not_utf8(body: &[u8], error: core::str::Utf8Error) -> Self {
        Self::at(body, error.valid_up_to(), "is not UTF-8")
    }

    /// The value is JSON but not an object; the position is its start.
    pub(crate) fn no_object(text: &str) -> Self {
        Self::at(text.as_bytes(), text.len() - text.trim_ascii_start().len(), "is JSON with an unexpected structure")
    }

    /// Returns the error at a byte of a body.
    pub(crate) fn at(body: &[u8], at: usize, what: &'static str) -> Self {
        let read = &body[..at.min(body.len())];
        let line = read.iter().filter(|b| **b == b'\n').count() + 1;
        let characters = read.iter().rev().take_while(|b| **b != b'\n').filter(|b| !is_continuation(**b)).count();
        Self { what, place: Some((line, characters + 1)), field: None }
    }
}

/// Whether a byte is a continuation byte of UTF-8.
const fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The number of parts of a kind that a body may still contain, so that a short body cannot exhaust the memory.
pub(crate) struct Allowance {
    left: usize,
    exceeded: &'static str,
}

impl Allowance {
    /// Returns the limit, and the error for a body that exceeds it.
    pub(crate) const fn new(limit: usize, exceeded: &'static str) -> Self {
        Self { left: limit, exceeded }
    }

    /// Returns the limit of records in lists and maps for a body of this many bytes: an empty record takes two bytes in
    /// the body and about a hundred in memory; a real one contains at least the key of its card or payment.
    pub(crate) const fn records(bytes: usize) -> Self {
        const ALWAYS: usize = 1_024;
        const BYTES_A_RECORD: usize = 32;
        Self::new(ALWAYS + bytes / BYTES_A_RECORD, "contains too many records for its length")
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

/// Returns a body without its byte order mark, which replies do not need but some writers add.
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
