//! The parts of XML that replies rarely hold, cut by quick-xml: attributes, references, comments, instructions, CDATA,
//! document types.

use alloc::{borrow::ToOwned, string::String};

use quick_xml::{
    Reader,
    escape::resolve_predefined_entity,
    events::{BytesRef, BytesStart, Event},
};

use super::scan::{NOT_WELL_FORMED, Part, Problem, UNDEFINED};

/// Cuts the part that `rest` begins with: how many bytes it has, and what it is.
pub(super) fn cut(rest: &str) -> Result<(usize, Part<'_>), Problem> {
    let mut reader = Reader::from_str(rest);
    let event = reader.read_event().map_err(|_| NOT_WELL_FORMED)?;
    let length = usize::try_from(reader.buffer_position()).map_err(|_| NOT_WELL_FORMED)?;
    let part = match event {
        Event::Start(tag) => Part::Tag { name: name_in(rest, &tag), empty: false },
        Event::Empty(tag) => Part::Tag { name: name_in(rest, &tag), empty: true },
        Event::CData(text) => Part::Text(text.xml10_content().into_owned()),
        Event::GeneralRef(reference) => Part::Text(resolve(&reference)?),
        Event::Comment(_) | Event::PI(_) | Event::Decl(_) | Event::DocType(_) => Part::Aside,
        Event::Text(_) | Event::End(_) | Event::Eof => return Err(NOT_WELL_FORMED),
    };
    Ok((length, part))
}

/// The name of a tag that begins `text`.
fn name_in<'x>(text: &'x str, tag: &BytesStart<'_>) -> &'x str {
    &text[1..=tag.name().as_ref().len()]
}

/// A character reference or one of the five predefined entities.
pub(super) fn resolve(reference: &BytesRef<'_>) -> Result<String, Problem> {
    if let Some(character) = reference.resolve_char_ref().map_err(|_| NOT_WELL_FORMED)? {
        return Ok(character.into());
    }
    resolve_predefined_entity(reference).map(ToOwned::to_owned).ok_or(UNDEFINED)
}
