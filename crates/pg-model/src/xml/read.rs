//! Reads a record from the parts of a document: empty elements are empty, repeated elements are lists, unknown ones
//! survive.

use alloc::{borrow::Cow, vec::Vec};

use crate::{
    decode_error::{Allowance, DecodeError, without_byte_order_mark},
    record::{Record, RecordList, RecordMap, Slot, set},
    value::{Extra, Value},
    xml::{
        ROOT,
        part::{NOT_WELL_FORMED, Problem, is_blank},
        scan::{Scanner, Tag, Token},
    },
};

/// Reads the element `serviceResponse` in `body` into `record`.
///
/// Document types are skipped and their entities never expanded, so a small body cannot grow. Attributes, and text
/// beside child elements, have no meaning in the documents' replies and are ignored.
///
/// # Errors
/// If the body is neither UTF-8 nor in the declared ISO-8859-1, not well-formed, has another root element, or is nested too deeply. Reports the position.
pub fn read(body: &[u8], record: &mut dyn Record) -> Result<(), DecodeError> {
    read_root(body, record, Some(ROOT))
}

/// Reads the root element in `body`, whatever its name, as a child of `record`: for a document whose root the
/// specification does not show.
///
/// # Errors
/// As [`read`], but for the name of the root element.
pub fn read_any(body: &[u8], record: &mut dyn Record) -> Result<(), DecodeError> {
    read_root(body, record, None)
}

/// Reads the children of the root element with this name, or without a name the root element itself.
fn read_root(body: &[u8], record: &mut dyn Record, root: Option<&str>) -> Result<(), DecodeError> {
    let body = without_byte_order_mark(body);
    let text = match core::str::from_utf8(body) {
        Ok(text) => Cow::Borrowed(text),
        // Each byte is the character with its number.
        Err(_) if declares_latin_1(body) => Cow::Owned(body.iter().map(|byte| char::from(*byte)).collect()),
        Err(error) => return Err(DecodeError::not_utf8(body, error)),
    };
    let mut reader = XmlReader { scanner: Scanner::new(&text), records: Allowance::records(text.len()) };
    reader.document(record, root).map_err(|problem| DecodeError::at(text.as_bytes(), reader.scanner.at(), problem))
}

/// Whether the XML declaration names the encoding ISO-8859-1.
fn declares_latin_1(body: &[u8]) -> bool {
    let declaration = body.split(|byte| *byte == b'>').next().unwrap_or_default();
    let is_name = |name: &[u8]| name.eq_ignore_ascii_case(b"ISO-8859-1");
    declaration.starts_with(b"<?xml ") && declaration.split(|byte| matches!(byte, b'"' | b'\'')).any(is_name)
}

/// The content of an element.
enum Content<'x> {
    Text(Cow<'x, str>),
    /// The first child; the reader is after its start tag (or after the child, if that is empty).
    Child(Tag<'x>),
}

/// A value that did not fit its slot, kept among the unknown fields.
type Misfit = Option<Value>;

struct XmlReader<'x> {
    scanner: Scanner<'x>,
    records: Allowance,
}

impl<'x> XmlReader<'x> {
    fn document(&mut self, record: &mut dyn Record, name: Option<&str>) -> Result<(), Problem> {
        loop {
            match self.scanner.token()? {
                Token::Open(root) => {
                    match name {
                        None => self.child(record, &root)?,
                        Some(name) if name != root.name => {
                            return Err("has a root element other than serviceResponse");
                        }
                        Some(_) if root.empty => {}
                        Some(_) => self.record(record)?,
                    }
                    return self.epilogue();
                }
                Token::Text(text) if is_blank(&text) => {}
                Token::Aside => {}
                Token::End => return Err("has no element serviceResponse"),
                Token::Text(_) | Token::Close => return Err(NOT_WELL_FORMED),
            }
        }
    }

    /// Only white space, comments and instructions may follow the root element.
    fn epilogue(&mut self) -> Result<(), Problem> {
        loop {
            match self.scanner.token()? {
                Token::End => return Ok(()),
                Token::Text(text) if is_blank(&text) => {}
                Token::Aside => {}
                Token::Text(_) | Token::Open(_) | Token::Close => return Err("has content after its root element"),
            }
        }
    }

    /// The next child of the current element; `None` at its end. Text between children is
    /// white space in every documented reply, and is ignored.
    fn next_child(&mut self) -> Result<Option<Tag<'x>>, Problem> {
        loop {
            match self.scanner.token()? {
                Token::Open(tag) => return Ok(Some(tag)),
                Token::Close => return Ok(None),
                Token::Text(_) | Token::Aside | Token::End => {}
            }
        }
    }

    /// The children of a record, up to its end tag.
    fn record(&mut self, record: &mut dyn Record) -> Result<(), Problem> {
        while let Some(tag) = self.next_child()? {
            self.child(record, &tag)?;
        }
        Ok(())
    }

    fn child(&mut self, record: &mut dyn Record, tag: &Tag<'x>) -> Result<(), Problem> {
        let misfit = match record.slot(tag.name) {
            Slot::Extra => Some(self.value(tag)?),
            Slot::Named(named) if tag.empty => {
                named.add(tag.name, "");
                None
            }
            _ if tag.empty => None,
            Slot::Named(named) => match self.content()? {
                Content::Text(value) => {
                    named.add(tag.name, &value);
                    None
                }
                Content::Child(first) => Some(self.value_from(first)?),
            },
            Slot::Text(text) => match self.content()? {
                Content::Text(value) => {
                    set(text, value)?;
                    None
                }
                Content::Child(first) => Some(self.value_from(first)?),
            },
            Slot::Record(nested) => self.nested(nested)?,
            Slot::List(list) => self.list(list)?,
            Slot::Map(records) => self.map(records)?,
        };
        if let Some(value) = misfit {
            record.extra().push(tag.name, value);
        }
        Ok(())
    }

    /// A nested record; plain text in its place is returned.
    fn nested(&mut self, record: &mut dyn Record) -> Result<Misfit, Problem> {
        match self.content()? {
            Content::Text(text) => Ok(bare_text(text)),
            Content::Child(first) => self.record_from(record, &first).map(|()| None),
        }
    }

    /// A record whose first child was already read.
    fn record_from(&mut self, record: &mut dyn Record, first: &Tag<'x>) -> Result<(), Problem> {
        self.child(record, first)?;
        self.record(record)
    }

    /// A repeated record: one for each child that is not plain text. A child without content is a record without fields,
    /// however it is written.
    fn list(&mut self, list: &mut dyn RecordList) -> Result<Misfit, Problem> {
        let mut next = match self.content()? {
            Content::Text(text) => return Ok(bare_text(text)),
            Content::Child(first) => Some(first),
        };
        let mut misfits = Vec::new();
        while let Some(tag) = next {
            match if tag.empty { Content::Text(Cow::Borrowed("")) } else { self.content()? } {
                Content::Child(first) => {
                    self.records.take()?;
                    self.record_from(list.grow(), &first)?;
                }
                Content::Text(text) if is_blank(&text) => {
                    self.records.take()?;
                    list.grow();
                }
                Content::Text(text) => misfits.push(Value::text(text)),
            }
            next = self.next_child()?;
        }
        Ok((!misfits.is_empty()).then_some(Value::List(misfits)))
    }

    /// Records under the names of their elements.
    fn map(&mut self, records: &mut dyn RecordMap) -> Result<Misfit, Problem> {
        let mut next = match self.content()? {
            Content::Text(text) => return Ok(bare_text(text)),
            Content::Child(first) => Some(first),
        };
        let mut misfits = Extra::default();
        while let Some(tag) = next {
            self.records.take()?;
            let nested = records.entry(tag.name);
            if !tag.empty
                && let Some(value) = self.nested(nested)?
            {
                misfits.push(tag.name, value);
            }
            next = self.next_child()?;
        }
        Ok((!misfits.is_empty()).then_some(Value::Record(misfits)))
    }

    /// Text up to the end tag, or the first child.
    fn content(&mut self) -> Result<Content<'x>, Problem> {
        let mut text = Cow::Borrowed("");
        loop {
            match self.scanner.token()? {
                Token::Text(piece) if text.is_empty() => text = piece,
                Token::Text(piece) => text.to_mut().push_str(&piece),
                Token::Close => return Ok(Content::Text(text)),
                Token::Open(tag) => return Ok(Content::Child(tag)),
                Token::Aside | Token::End => {}
            }
        }
    }

    /// An unknown element.
    fn value(&mut self, tag: &Tag<'x>) -> Result<Value, Problem> {
        if tag.empty {
            return Ok(Value::text(Cow::Borrowed("")));
        }
        match self.content()? {
            Content::Text(text) => Ok(Value::text(text)),
            Content::Child(first) => self.value_from(first),
        }
    }

    /// The same, if its first child was already read.
    fn value_from(&mut self, first: Tag<'x>) -> Result<Value, Problem> {
        let mut record = Extra::default();
        let mut next = Some(first);
        while let Some(tag) = next {
            let value = self.value(&tag)?;
            record.push(tag.name, value);
            next = self.next_child()?;
        }
        Ok(Value::Record(record))
    }
}

fn bare_text(text: Cow<'_, str>) -> Misfit {
    (!is_blank(&text)).then(|| Value::text(text))
}
