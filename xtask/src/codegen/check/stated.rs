//! Numbers in the words of the documents, compared with those of the row: `spec = "up to 20 chars"` beside `length =
//! "..30"`.

use super::{
    super::{
        formats::{self, bounds, range_bounds},
        tables::Field,
    },
    Checker,
    fields::{is_list, is_number},
};

/// What the words before or after a number call a length.
const UNITS: &[&str] = &["digits", "alphanumeric", "alpha", "letters", "chars", "characters"];

impl Checker<'_> {
    /// Reports a length or a range that contradicts the `spec` of its row.
    pub(super) fn stated(&mut self, field: &Field) {
        let Some(spec) = field.spec.as_deref() else { return };
        let stated = stated_length(spec);
        if let Some((length, (least, most))) = field.length.as_deref().and_then(|text| Some((text, bounds(text)?)))
            && let Some((shortest, longest)) = stated
        {
            let place = field.places.of("length");
            if longest != most {
                let what = format!("length {length:?} allows {most} characters, but spec {spec:?} says {longest}");
                self.problem(place, what);
            } else if let Some(shortest) = shortest.filter(|shortest| *shortest != least) {
                let what = format!("length {length:?} begins at {least} characters, but spec {spec:?} says {shortest}");
                self.problem(place, what);
            }
        }
        // Some formats have their lengths themselves, and a semicolon separates what holds elsewhere (A04).
        let may_have_one = formats::find(&field.format).is_some_and(|format| format.lengths.is_empty());
        let is_text = !is_number(&field.kind) && !is_list(&field.kind);
        if stated.is_some() && field.length.is_none() && may_have_one && is_text && !spec.contains(';') {
            self.problem(field.places.row, format!("spec {spec:?} states a length: give it as length"));
        }
        if greatest(spec).is_some() && field.range.is_none() && is_number(&field.kind) {
            self.problem(field.places.row, format!("spec {spec:?} states a range: give it as range"));
        }
        if let Some((range, (_, most))) = field.range.as_deref().and_then(|text| Some((text, range_bounds(text)?)))
            && let Some(stated) = greatest(spec)
            && stated != most
        {
            let what = format!("range {range:?} ends at {most}, but spec {spec:?} says {stated}");
            self.problem(field.places.of("range"), what);
        }
    }
}

/// The fewest characters, if the words say so, and the most: `up to 20 chars`, `Char(32)`, `3-4 digits`, `2 or 4 digits`.
fn stated_length(spec: &str) -> Option<(Option<u16>, u16)> {
    let words = words(spec);
    words.iter().enumerate().find_map(|(at, word)| {
        let (fewest, most) = word.split_once('-').unwrap_or((word, word));
        let (fewest, most) = (fewest.parse().ok()?, most.parse().ok()?);
        let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at]);
        let is_most = matches!(before(1), "Char" | "Int") || (before(2), before(1)) == ("up", "to");
        let has_unit = words.get(at + 1).is_some_and(|unit| UNITS.contains(unit));
        // Words before a number, as in `at most 8 chars`, may make it another bound.
        let is_fewest = word.contains('-') || at == 0;
        (is_most || has_unit).then_some(((!is_most && is_fewest).then_some(fewest), most))
    })
}

/// The greatest number that the words allow: `max 127`.
fn greatest(spec: &str) -> Option<i64> {
    let words = words(spec);
    let at = words.iter().position(|word| *word == "max")?;
    words.get(at + 1)?.parse().ok()
}

fn words(spec: &str) -> Vec<&str> {
    spec.split([' ', ',', '(', ')']).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_from_the_words_of_the_documents() {
        for (spec, wanted) in [
            ("up to 50 chars", Some((None, 50))),
            ("Char(8), DDMMYYYY", Some((None, 8))),
            ("Char 160", Some((None, 160))),
            ("Int(1)", Some((None, 1))),
            ("13-19 digits", Some((Some(13), 19))),
            ("2 or 4 digits", Some((None, 4))),
            ("32 alphanumeric", Some((Some(32), 32))),
            ("3 alpha, ISO 4217", Some((Some(3), 3))),
            ("up to 32 alphanumeric", Some((None, 32))),
            ("at most 160 characters", Some((None, 160))),
            ("max 50 chars", Some((None, 50))),
            ("1 to 20 chars", Some((None, 20))),
            ("integer, max 127", None),
            ("comma-separated, unique, at most 5,000", None),
            ("MMYY or MMYYYY", None),
            ("alphanumeric", None),
        ] {
            assert_eq!(stated_length(spec), wanted, "{spec}");
        }
        assert_eq!(greatest("integer, max 127"), Some(127));
    }
}
