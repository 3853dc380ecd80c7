//! The rare parts of XML, for builds without quick-xml: on bare metal, and in a small decoder.
//! References, comments, instructions and CDATA are parsed as quick-xml does; attributes and document types,
//! which have no meaning in the documents' replies, are refused.

use alloc::string::String;

use super::part::{BLANKS, NOT_WELL_FORMED, Part, Problem, UNDEFINED, with_line_feeds};

const LEFT_OUT: Problem = "has an attribute or a document type, which this build does not support";

/// Parses the part at the start of `rest`: returns its length in bytes and its content.
pub(super) fn cut(rest: &str) -> Result<(usize, Part<'_>), Problem> {
    if let Some(behind) = rest.strip_prefix('&') {
        let name = up_to(behind, ";")?;
        return Ok((name.len() + 2, Part::Text(String::from(resolve(name)?))));
    }
    if let Some(behind) = rest.strip_prefix("<![CDATA[") {
        let text = up_to(behind, "]]>")?;
        return Ok((text.len() + 12, Part::Text(with_line_feeds(text).into_owned())));
    }
    if let Some(behind) = rest.strip_prefix("<!--") {
        return Ok((up_to(behind, "-->")?.len() + 7, Part::Aside));
    }
    if rest.starts_with("<?") {
        // `<?>` is not an instruction.
        let inside = up_to(behind_first(rest), "?>")?;
        return if inside.is_empty() { Err(NOT_WELL_FORMED) } else { Ok((inside.len() + 3, Part::Aside)) };
    }
    if rest.starts_with("<!") { Err(LEFT_OUT) } else { tag(rest) }
}

/// A tag with spaces after its name.
fn tag(rest: &str) -> Result<(usize, Part<'_>), Problem> {
    let inside = up_to(behind_first(rest), ">")?;
    let (tag, empty) = inside.strip_suffix('/').map_or((inside, false), |tag| (tag, true));
    let name = tag.trim_end_matches(BLANKS);
    if name.contains(BLANKS) {
        return Err(LEFT_OUT);
    }
    Ok((inside.len() + 2, Part::Tag { name, empty }))
}

fn behind_first(rest: &str) -> &str {
    rest.get(1..).unwrap_or_default()
}

/// The text before `end`. A linear scan is enough for such short texts, and takes little code.
fn up_to<'x>(text: &'x str, end: &str) -> Result<&'x str, Problem> {
    let at = text.as_bytes().windows(end.len()).position(|place| place == end.as_bytes());
    at.and_then(|at| text.get(..at)).ok_or(NOT_WELL_FORMED)
}

/// A character reference or one of the five predefined entities.
fn resolve(name: &str) -> Result<char, Problem> {
    let Some(number) = name.strip_prefix('#') else {
        return match name {
            "lt" => Ok('<'),
            "gt" => Ok('>'),
            "amp" => Ok('&'),
            "apos" => Ok('\''),
            "quot" => Ok('"'),
            _ => Err(UNDEFINED),
        };
    };
    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |hex| (hex, 16));
    // A sign is not a digit, although the standard library accepts it.
    let code = if digits.starts_with('+') { None } else { u32::from_str_radix(digits, radix).ok() };
    code.filter(|code| *code != 0).and_then(char::from_u32).ok_or(NOT_WELL_FORMED)
}

#[cfg(all(test, feature = "xml"))]
mod tests {
    use alloc::string::String;

    use proptest::prelude::*;

    use super::{super::rare, LEFT_OUT, Part, cut};

    const PIECES: [&str; 31] = [
        "<", "&", "a", "é", ":", " ", "\t", "\r\n", "\r", "/>", ">", "/", ";", "amp;", "lt;", "quot;", "nope;", "#65;",
        "#x41;", "#+6;", "#0;", "#xD800;", "!--", "--", "-->", "![CDATA[", "]]", "]]>", "?", "?>", "b='c'",
    ];

    fn beginning() -> impl Strategy<Value = String> {
        let pieces = proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..8);
        ("[<&]", pieces).prop_map(|(first, rest)| rest.into_iter().fold(first, |out, piece| out + piece))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Parts are split as quick-xml does, and only two kinds are not supported.
        #[test]
        fn the_parts_are_those_of_quick_xml(text in beginning()) {
            match (cut(&text), rare::cut(&text)) {
                // The scanner parses end tags itself, and refuses tags without a name from any source.
                _ if text.starts_with("</") => {}
                (Ok((_, Part::Tag { name: "", .. })), _) => {}
                (Err(LEFT_OUT), _) => prop_assert!(text.starts_with("<!") || text.contains([' ', '\t', '\r'])),
                (bare, whole) => prop_assert_eq!(bare.map_err(drop), whole.map_err(drop), "{:?}", text),
            }
        }
    }
}
