//! Reads a record from XML events: empty elements are empty, repeated elements are lists, unknown ones survive.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};

use quick_xml::{
    Reader,
    escape::resolve_predefined_entity,
    events::{BytesRef, BytesStart, BytesText, Event},
};

use crate::{
    decode::{DecodeError, without_byte_order_mark},
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
    let body = without_byte_order_mark(body);
    let mut reader =
        XmlReader { xml: Reader::from_reader(body), at: 0, depth: 0, has_carriage_returns: body.contains(&b'\r') };
    // The events are checked to be UTF-8 one by one; only when something is wrong, it is asked whether that was it.
    reader.document(record).map_err(|problem| match core::str::from_utf8(body) {
        Ok(_) => DecodeError::at(body, usize::try_from(reader.at).unwrap_or(body.len()), problem),
        Err(error) => DecodeError::not_utf8(body, error),
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

/// Something that did not fit its slot, to be kept among the unknown fields.
type Misfit = Option<Value>;

struct XmlReader<'x> {
    xml: Reader<&'x [u8]>,
    /// Where the event begins that was read last.
    at: u64,
    depth: usize,
    /// Whether any line ends have to be changed; most documents have none that do.
    has_carriage_returns: bool,
}

impl<'x> XmlReader<'x> {
    fn event(&mut self) -> Result<Event<'x>, Problem> {
        self.at = self.xml.buffer_position();
        self.xml.read_event().map_err(|_| NOT_WELL_FORMED)
    }

    fn document(&mut self, record: &mut dyn Record) -> Result<(), Problem> {
        loop {
            match self.event()? {
                Event::Start(start) => {
                    if name_of(&start) != ROOT {
                        return Err("has a root element other than serviceResponse");
                    }
                    self.record(record)?;
                    return self.epilogue();
                }
                Event::Empty(start) if name_of(&start) == ROOT => return self.epilogue(),
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
                Event::GeneralRef(reference) => drop(resolve(&reference)?),
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
            Slot::Named(named) => match self.value(child.empty)? {
                Value::Text(text) => {
                    named.push(name, text);
                    None
                }
                other => Some(other),
            },
            _ if child.empty => None,
            Slot::Text(text) => match self.content()? {
                Content::Text(value) => {
                    set(text, value);
                    None
                }
                Content::Child(first) => Some(self.value_from(first)?),
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
    fn nested(&mut self, record: &mut dyn Record) -> Result<Misfit, Problem> {
        match self.content()? {
            Content::Text(text) => Ok(bare_text(text)),
            Content::Child(first) => self.record_from(record, &first).map(|()| None),
        }
    }

    /// A record whose first child was already met.
    fn record_from(&mut self, record: &mut dyn Record, first: &Child<'x>) -> Result<(), Problem> {
        self.child(record, first)?;
        self.record(record)
    }

    /// A repeated record: one for each child that is not bare text.
    fn list(&mut self, list: &mut dyn RecordList) -> Result<Misfit, Problem> {
        let mut next = match self.content()? {
            Content::Text(text) => return Ok(bare_text(text)),
            Content::Child(first) => Some(first),
        };
        let mut misfits = Vec::new();
        while let Some(child) = next {
            if child.empty {
                list.grow();
            } else {
                match self.content()? {
                    Content::Child(first) => self.record_from(list.grow(), &first)?,
                    Content::Text(text) => misfits.extend(bare_text(text)),
                }
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
        while let Some(child) = next {
            let name = name_of(&child.start);
            let nested = records.entry(name);
            if !child.empty
                && let Some(value) = self.nested(nested)?
            {
                misfits.push(name, value);
            }
            next = self.next_child()?;
        }
        Ok((!misfits.is_empty()).then_some(Value::Record(misfits)))
    }

    /// Text up to the end tag, or the first child. Nearly every element holds one piece of text and nothing else.
    fn content(&mut self) -> Result<Content<'x>, Problem> {
        match self.event()? {
            Event::End(_) => Ok(Content::Text(Cow::Borrowed(""))),
            Event::Text(piece) => {
                let text = self.text(piece);
                match self.event()? {
                    Event::End(_) => Ok(Content::Text(text)),
                    other => self.content_from(text, other),
                }
            }
            other => self.content_from(Cow::Borrowed(""), other),
        }
    }

    /// The same for content of several pieces, when some of it was already met.
    fn content_from(&mut self, mut text: Cow<'x, str>, mut event: Event<'x>) -> Result<Content<'x>, Problem> {
        loop {
            let piece = match event {
                Event::Text(piece) => self.text(piece),
                Event::CData(piece) => piece.xml10_content(),
                Event::GeneralRef(reference) => Cow::Owned(resolve(&reference)?),
                Event::End(_) => return Ok(Content::Text(text)),
                Event::Start(start) => return Ok(Content::Child(Child { start, empty: false })),
                Event::Empty(start) => return Ok(Content::Child(Child { start, empty: true })),
                Event::Eof => return Err(CUT_SHORT),
                _ => Cow::Borrowed(""),
            };
            if text.is_empty() {
                text = piece
            } else {
                text.to_mut().push_str(&piece)
            }
            event = self.event()?;
        }
    }

    /// A piece of text with its line ends as XML wants them.
    fn text(&self, piece: BytesText<'x>) -> Cow<'x, str> {
        if self.has_carriage_returns { piece.xml10_content() } else { piece.into_inner() }
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

fn bare_text(text: Cow<'_, str>) -> Misfit {
    (!text.trim().is_empty()).then(|| Value::Text(text.into_owned()))
}

/// The name without the prefix of a namespace.
fn name_of<'s>(start: &'s BytesStart<'_>) -> &'s str {
    let name = start.name().into_inner();
    name.bytes().position(|b| b == b':').map_or(name, |colon| &name[colon + 1..])
}

/// A character reference or one of the five predefined entities.
fn resolve(reference: &BytesRef<'_>) -> Result<String, Problem> {
    if let Some(character) = reference.resolve_char_ref().map_err(|_| NOT_WELL_FORMED)? {
        return Ok(character.into());
    }
    resolve_predefined_entity(reference).map(ToOwned::to_owned).ok_or("uses an entity that XML does not define")
}
