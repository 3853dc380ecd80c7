//! Reads a record from XML events: empty elements are empty, repeated elements are lists, unknown ones survive.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
};

use quick_xml::{
    Reader,
    escape::resolve_predefined_entity,
    events::{BytesRef, BytesStart, Event},
};

use crate::{
    decode::DecodeError,
    record::{Record, RecordList, RecordMap, Slot, set},
    value::{Extra, Value},
    xml::ROOT,
};

/// The deepest nesting that is read; the documents show five levels.
const DEPTH_LIMIT: usize = 32;

/// Reads the element `serviceResponse` that `body` holds into `record`.
///
/// Document types are skipped and their entities never expanded, so a small body cannot grow.
///
/// # Errors
/// When the body is not UTF-8, not well-formed, has another root element, or is nested too deeply. Says where.
pub fn read(body: &[u8], record: &mut dyn Record) -> Result<(), DecodeError> {
    let text = core::str::from_utf8(body).map_err(DecodeError::not_utf8)?;
    let mut reader = XmlReader { xml: Reader::from_str(text.trim_start_matches('\u{feff}')), depth: 0 };
    reader.document(record).map_err(|problem| {
        let at = usize::try_from(reader.xml.buffer_position()).unwrap_or(text.len());
        DecodeError::xml(text, at, problem)
    })
}

/// What is wrong with a document, without any of its text.
type Problem = &'static str;

const NOT_WELL_FORMED: Problem = "is not well-formed XML";
const CUT_SHORT: Problem = "ends before its root element does";

/// What an element turned out to hold.
enum Content<'x> {
    Text(Cow<'x, str>),
    /// The first child; the reader stands behind its start tag (or behind it whole, when it is empty).
    Child(Child<'x>),
}

/// A child element; an `empty` one is already over.
struct Child<'x> {
    start: BytesStart<'x>,
    empty: bool,
}

struct XmlReader<'x> {
    xml: Reader<&'x [u8]>,
    depth: usize,
}

impl<'x> XmlReader<'x> {
    fn event(&mut self) -> Result<Event<'x>, Problem> {
        self.xml.read_event().map_err(|_| NOT_WELL_FORMED)
    }

    fn document(&mut self, record: &mut dyn Record) -> Result<(), Problem> {
        loop {
            match self.event()? {
                Event::Start(start) => {
                    if start.local_name().as_ref() != ROOT {
                        return Err("has a root element other than serviceResponse");
                    }
                    self.record(record)?;
                    return self.epilogue();
                }
                Event::Empty(start) if start.local_name().as_ref() == ROOT => return self.epilogue(),
                Event::Text(text) if text.trim().is_empty() => {}
                Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Eof => return Err("holds no element serviceResponse"),
                _ => return Err(NOT_WELL_FORMED),
            }
        }
    }

    /// Only white space, comments and instructions may follow the root element.
    fn epilogue(&mut self) -> Result<(), Problem> {
        loop {
            match self.event()? {
                Event::Eof => return Ok(()),
                Event::Text(text) if text.trim().is_empty() => {}
                Event::Comment(_) | Event::PI(_) => {}
                _ => return Err("goes on behind its root element"),
            }
        }
    }

    /// The next child of the element that the reader stands in; `None` at its end. Text between children is
    /// white space in every document shown, and is passed over.
    fn next_child(&mut self) -> Result<Option<Child<'x>>, Problem> {
        loop {
            match self.event()? {
                Event::Start(start) => return Ok(Some(Child { start, empty: false })),
                Event::Empty(start) => return Ok(Some(Child { start, empty: true })),
                Event::End(_) => return Ok(None),
                Event::Eof => return Err(CUT_SHORT),
                _ => {}
            }
        }
    }

    /// The children of a record, up to its end tag.
    fn record(&mut self, record: &mut dyn Record) -> Result<(), Problem> {
        self.deeper()?;
        while let Some(child) = self.next_child()? {
            self.child(record, &child)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Problem> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT { Err("is nested too deeply") } else { Ok(()) }
    }

    fn child(&mut self, record: &mut dyn Record, child: &Child<'x>) -> Result<(), Problem> {
        let name = name_of(&child.start);
        let misfit = match record.slot(name) {
            Slot::Extra => Some(self.value(child.empty)?),
            _ if child.empty => None,
            Slot::Text(text) => match self.content()? {
                Content::Text(value) => {
                    set(text, value);
                    None
                }
                Content::Child(first) => Some(self.value_from(first)?),
            },
            Slot::Named(named) => match self.value(false)? {
                Value::Text(text) => {
                    named.push(name, text);
                    None
                }
                other => Some(other),
            },
            Slot::Record(nested) => self.nested(nested)?,
            Slot::List(list) => self.list(list)?,
            Slot::Map(records) => self.map(records)?,
        };
        if let Some(value) = misfit {
            record.extra().push(name, value);
        }
        Ok(())
    }

    /// A nested record; bare text in its place is handed back.
    fn nested(&mut self, record: &mut dyn Record) -> Result<Option<Value>, Problem> {
        match self.content()? {
            Content::Text(text) => Ok(bare_text(text)),
            Content::Child(first) => {
                self.child(record, &first)?;
                self.record(record)?;
                Ok(None)
            }
        }
    }

    fn list(&mut self, list: &mut dyn RecordList) -> Result<Option<Value>, Problem> {
        match self.content()? {
            Content::Text(text) => Ok(bare_text(text)),
            Content::Child(first) => {
                let mut next = Some(first);
                while let Some(child) = next {
                    let record = list.grow();
                    if !child.empty {
                        self.record(record)?;
                    }
                    next = self.next_child()?;
                }
                Ok(None)
            }
        }
    }

    fn map(&mut self, records: &mut dyn RecordMap) -> Result<Option<Value>, Problem> {
        match self.content()? {
            Content::Text(text) => Ok(bare_text(text)),
            Content::Child(first) => {
                let mut next = Some(first);
                while let Some(child) = next {
                    let record = records.entry(name_of(&child.start));
                    if !child.empty {
                        self.record(record)?;
                    }
                    next = self.next_child()?;
                }
                Ok(None)
            }
        }
    }

    /// Text up to the end tag, or the first child.
    fn content(&mut self) -> Result<Content<'x>, Problem> {
        let mut text: Cow<'x, str> = Cow::Borrowed("");
        loop {
            let piece = match self.event()? {
                Event::Text(piece) => piece.xml10_content(),
                Event::CData(piece) => piece.xml10_content(),
                Event::GeneralRef(reference) => Cow::Owned(resolve(&reference)?),
                Event::End(_) => return Ok(Content::Text(text)),
                Event::Start(start) => return Ok(Content::Child(Child { start, empty: false })),
                Event::Empty(start) => return Ok(Content::Child(Child { start, empty: true })),
                Event::Eof => return Err(CUT_SHORT),
                _ => continue,
            };
            if text.is_empty() { text = piece } else { text.to_mut().push_str(&piece) }
        }
    }

    /// An element that the tables do not know.
    fn value(&mut self, empty: bool) -> Result<Value, Problem> {
        if empty {
            return Ok(Value::Text(String::new()));
        }
        match self.content()? {
            Content::Text(text) => Ok(Value::Text(text.into_owned())),
            Content::Child(first) => self.value_from(first),
        }
    }

    /// The same, when its first child was already met.
    fn value_from(&mut self, first: Child<'x>) -> Result<Value, Problem> {
        self.deeper()?;
        let mut record = Extra::default();
        let mut next = Some(first);
        while let Some(child) = next {
            let value = self.value(child.empty)?;
            record.push(name_of(&child.start), value);
            next = self.next_child()?;
        }
        self.depth -= 1;
        Ok(Value::Record(record))
    }
}

fn bare_text(text: Cow<'_, str>) -> Option<Value> {
    (!text.trim().is_empty()).then(|| Value::Text(text.into_owned()))
}

fn name_of<'s>(start: &'s BytesStart<'_>) -> &'s str {
    start.local_name().into_inner()
}

/// A character reference or one of the five predefined entities.
fn resolve(reference: &BytesRef<'_>) -> Result<String, Problem> {
    if let Some(character) = reference.resolve_char_ref().map_err(|_| NOT_WELL_FORMED)? {
        return Ok(character.into());
    }
    resolve_predefined_entity(reference).map(ToOwned::to_owned).ok_or("uses an entity that XML does not define")
}
