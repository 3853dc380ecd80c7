//! Shared by the scanner and the readers of rare parts.

use alloc::{borrow::Cow, string::String};

/// A syntax error, without any text of the document.
pub(super) type Problem = &'static str;

pub(super) const NOT_WELL_FORMED: Problem = "is not well-formed XML";
pub(super) const UNDEFINED: Problem = "uses an entity that XML does not define";

/// The white space of XML. Unlike that of ASCII it has no form feed.
pub(super) const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// Whether a text is white space only.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim_start_matches(BLANKS).is_empty()
}

/// A part that is not plain, before its surroundings are checked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'x> {
    /// A start tag, or a complete empty element.
    Tag { name: &'x str, empty: bool },
    /// A reference or CDATA, as its text.
    Text(String),
    /// A comment, an instruction, a declaration, a document type.
    Aside,
}

/// Line ends, normalised.
pub(super) fn with_line_feeds(text: &str) -> Cow<'_, str> {
    let Some(first) = text.bytes().position(|byte| byte == b'\r') else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut next = Some(first);
    while let Some(end) = next {
        out.push_str(rest.get(..end).unwrap_or_default());
        out.push('\n');
        rest = rest.get(end + 1..).unwrap_or_default();
        rest = rest.strip_prefix('\n').unwrap_or(rest);
        next = rest.bytes().position(|byte| byte == b'\r');
    }
    out.push_str(rest);
    Cow::Owned(out)
}
