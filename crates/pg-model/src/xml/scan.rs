//! Splits a document into tags and text. Plain tags and text, which is all that the service sends, are parsed here; other parts of
//! XML (attributes, references, comments, instructions, CDATA, document types) elsewhere, one part at a time.

use alloc::{borrow::Cow, vec::Vec};

use super::part::{BLANKS, NOT_WELL_FORMED, Part, Problem, with_line_feeds};
#[cfg(feature = "xml")]
use super::rare;
#[cfg(not(feature = "xml"))]
use super::rare_bare as rare;

/// The deepest supported nesting; the documents show five levels.
const DEPTH_LIMIT: usize = 32;

const CUT_SHORT: Problem = "ends before the end of its root element";

/// A part of a document.
pub(super) enum Token<'x> {
    /// A start tag, or a complete empty element.
    Open(Tag<'x>),
    /// The end tag of the innermost open element.
    Close,
    /// Text, with line ends normalised and references resolved.
    Text(Cow<'x, str>),
    /// A comment, an instruction, a declaration, a document type.
    Aside,
    /// The end of the document, outside all elements.
    End,
}

/// A start tag; an `empty` element has ended already.
pub(super) struct Tag<'x> {
    /// The name without the prefix of a namespace.
    pub(super) name: &'x str,
    pub(super) empty: bool,
}

pub(super) struct Scanner<'x> {
    text: &'x str,
    /// The start of the next token.
    next: usize,
    /// The start of the last token.
    at: usize,
    /// The names of the open elements.
    open: Vec<&'x str>,
    /// Whether line ends have to be normalised; not needed for most documents.
    has_carriage_returns: bool,
}

impl<'x> Scanner<'x> {
    pub(super) fn new(text: &'x str) -> Self {
        Self { text, next: 0, at: 0, open: Vec::new(), has_carriage_returns: text.as_bytes().contains(&b'\r') }
    }

    /// The start of the last token.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) fn token(&mut self) -> Result<Token<'x>, Problem> {
        self.at = self.next;
        let rest = self.text.get(self.at..).unwrap_or_default();
        match *rest.as_bytes() {
            [] if self.open.is_empty() => Ok(Token::End),
            [] => Err(CUT_SHORT),
            [b'<', b'/', ..] => self.close(rest),
            [b'<', ..] => self.open(rest),
            [b'&', ..] => self.special(rest),
            _ => Ok(Token::Text(self.text(rest))),
        }
    }

    fn text(&mut self, rest: &'x str) -> Cow<'x, str> {
        let end = rest.bytes().position(|b| matches!(b, b'<' | b'&')).unwrap_or(rest.len());
        self.next += end;
        self.with_line_feeds(rest.get(..end).unwrap_or_default())
    }

    fn with_line_feeds(&self, text: &'x str) -> Cow<'x, str> {
        if self.has_carriage_returns { with_line_feeds(text) } else { Cow::Borrowed(text) }
    }

    fn open(&mut self, rest: &'x str) -> Result<Token<'x>, Problem> {
        let name_end = rest.bytes().skip(1).position(|b| !is_plain_in_names(b)).map_or(rest.len(), |end| end + 1);
        let name = rest.get(1..name_end).unwrap_or_default();
        let (empty, length) = match rest.as_bytes().get(name_end..) {
            Some([b'>', ..]) => (false, 1),
            Some([b'/', b'>', ..]) => (true, 2),
            _ => return self.special(rest),
        };
        self.next += name_end + length;
        self.opened(name, empty)
    }

    fn opened(&mut self, name: &'x str, empty: bool) -> Result<Token<'x>, Problem> {
        if name.is_empty() {
            return Err(NOT_WELL_FORMED);
        }
        if self.open.len() == DEPTH_LIMIT {
            return Err("is nested too deeply");
        }
        if !empty {
            self.open.push(name);
        }
        let local = name.bytes().position(|b| b == b':').and_then(|colon| name.get(colon + 1..)).unwrap_or(name);
        Ok(Token::Open(Tag { name: local, empty }))
    }

    fn close(&mut self, rest: &str) -> Result<Token<'x>, Problem> {
        let name = self.open.pop().ok_or(NOT_WELL_FORMED)?;
        let behind = rest.strip_prefix("</").and_then(|behind| behind.strip_prefix(name)).ok_or(NOT_WELL_FORMED)?;
        let behind_blanks = behind.trim_start_matches(BLANKS);
        if !behind_blanks.starts_with('>') {
            return Err(NOT_WELL_FORMED);
        }
        self.next += rest.len() - behind_blanks.len() + 1;
        Ok(Token::Close)
    }

    /// A part that is not plain.
    fn special(&mut self, rest: &'x str) -> Result<Token<'x>, Problem> {
        // A text may consist of these only.
        if let Some((length, character)) = predefined(rest.as_bytes()) {
            self.next += length;
            return Ok(Token::Text(Cow::Borrowed(character)));
        }
        let (length, part) = rare::cut(rest)?;
        self.next += length;
        match part {
            Part::Tag { name, empty } => self.opened(name, empty),
            Part::Text(text) => Ok(Token::Text(Cow::Owned(text))),
            Part::Aside => Ok(Token::Aside),
        }
    }
}

/// The character of one of the five predefined entities, and the length of its reference.
const fn predefined(rest: &[u8]) -> Option<(usize, &'static str)> {
    match rest {
        [b'&', b'l', b't', b';', ..] => Some((4, "<")),
        [b'&', b'g', b't', b';', ..] => Some((4, ">")),
        [b'&', b'a', b'm', b'p', b';', ..] => Some((5, "&")),
        [b'&', b'a', b'p', b'o', b's', b';', ..] => Some((6, "'")),
        [b'&', b'q', b'u', b'o', b't', b';', ..] => Some((6, "\"")),
        _ => None,
    }
}

/// Whether a byte is plain in a name.
const fn is_plain_in_names(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b':' | 0x80..)
}

#[cfg(all(test, feature = "xml"))]
mod tests {
    use super::*;
    use alloc::{format, string::String};
    use proptest::prelude::*;
    use quick_xml::{Reader, events::Event};

    /// A document, one part a line; `None` if it is not well-formed.
    fn scanned(text: &str) -> Option<Vec<String>> {
        let mut scanner = Scanner::new(text);
        let mut parts = Vec::new();
        loop {
            match scanner.token().ok()? {
                Token::Open(tag) => {
                    parts.push(format!("<{}>", tag.name));
                    if tag.empty {
                        parts.push("</>".into());
                    }
                }
                Token::Close => parts.push("</>".into()),
                Token::Text(text) => parts.push(text.into_owned()),
                Token::Aside => {}
                Token::End => return Some(parts),
            }
        }
    }

    /// The same by quick-xml alone, reading the document from its beginning to its end.
    fn read_by_quick_xml(text: &str) -> Option<Vec<String>> {
        let mut reader = Reader::from_str(text);
        let (mut parts, mut depth) = (Vec::new(), 0);
        loop {
            match reader.read_event().ok()? {
                Event::Start(tag) => {
                    depth += 1;
                    parts.push(format!("<{}>", tag.local_name().as_ref()));
                }
                Event::Empty(tag) => {
                    parts.push(format!("<{}>", tag.local_name().as_ref()));
                    parts.push("</>".into());
                }
                Event::End(_) => {
                    depth -= 1;
                    parts.push("</>".into());
                }
                Event::Text(text) => parts.push(text.xml10_content().into_owned()),
                Event::CData(text) => parts.push(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => parts.push(rare::resolve(&reference).ok()?),
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => {}
                Event::Eof => return (depth == 0 && !parts.contains(&"<>".into())).then_some(parts),
            }
        }
    }

    /// Pieces that are valid in any element, and pieces that are not.
    const WHOLE: [&str; 23] = [
        "<a/>",
        "<b c='d>'/>",
        "<n:a />",
        "x",
        " ",
        "&amp;",
        "&lt;",
        "&gt;",
        "&apos;",
        "&quot;",
        "&#65;",
        "&#9;",
        "\r\n",
        "\r",
        "€",
        "'",
        "=",
        ">",
        ";",
        "<!-- > -->",
        "<![CDATA[<&\r]]>",
        "<?a > ?>",
        "<!DOCTYPE a [<!ENTITY b \"]>\">]>",
    ];
    const BROKEN: [&str; 20] = [
        "<a>",
        "</a>",
        "<n:a>",
        "</b>",
        "<1>",
        "</>",
        "<>",
        "<",
        "/",
        "&",
        "&b;",
        "&#8;",
        "&#;",
        "&#55296;",
        "&#00000065;",
        "<!--",
        "-->",
        "<![CDATA[",
        "<?",
        "<!",
    ];

    fn document() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            9 => proptest::sample::select(&WHOLE[..]),
            1 => proptest::sample::select(&BROKEN[..]),
        ];
        piece.prop_map(String::from).prop_recursive(4, 24, 5, |inner| {
            let tag = prop_oneof![
                Just(("<a>", "</a>")),
                Just(("<b c='d>' >", "</b \n>")),
                Just(("<n:a\t>", "</n:a>")),
                Just(("<é>", "</é>")),
                Just(("<1>", "</1>")),
            ];
            (tag, proptest::collection::vec(inner, 0..5)).prop_map(|((open, close), inside)| {
                inside.into_iter().fold(String::from(open), |out, piece| out + &piece) + close
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_markup_is_read_as_quick_xml_reads_it(text in document()) {
            prop_assert_eq!(scanned(&text), read_by_quick_xml(&text), "{:?}", text);
        }
    }
}
