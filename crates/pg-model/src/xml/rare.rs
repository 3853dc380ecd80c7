//! The rare parts of XML, parsed by quick-xml: attributes, references, comments, instructions, CDATA,
//! document types.

use alloc::{borrow::ToOwned, string::String};

use quick_xml::{
    Reader,
    escape::resolve_predefined_entity,
    events::{BytesRef, BytesStart, Event},
};

use super::part::{NOT_WELL_FORMED, Part, Problem, UNDEFINED};

/// Parses the part at the start of `rest`: returns its length in bytes and its content.
pub(super) fn cut(rest: &str) -> Result<(usize, Part<'_>), Problem> {
    if let Some((length, character)) = short_number(rest) {
        return Ok((length, Part::Text(character.into())));
    }
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

/// The maximum number of digits parsed here.
const FEW_DIGITS: usize = 7;

/// A plain decimal character reference, such as `&#9;`, and its length: a text may consist of these references only,
/// and a quick-xml reader for each takes longer than all the rest. Other forms, and invalid characters, are left to
/// quick-xml.
fn short_number(rest: &str) -> Option<(usize, char)> {
    let behind = rest.strip_prefix("&#")?;
    let digits = behind.bytes().take(FEW_DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let number = behind.get(..digits).filter(|_| (1..=FEW_DIGITS).contains(&digits))?;
    let character = char::from_u32(number.parse().ok()?)?;
    // XML has no control characters, so quick-xml refuses them.
    let plain = matches!(character, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    (plain && behind.as_bytes().get(digits) == Some(&b';')).then_some((digits + 3, character))
}

/// The name of a tag at the start of `text`.
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
