//! Numbers in the words of the documents, compared with those of the row: `spec = "up to 20 chars"` beside `length =
//! "..30"`.

use super::{
    super::{
        formats::{bounds, range_bounds},
        tables::Field,
    },
    Checker,
};

/// What the words before or after a number call a length.
const UNITS: &[&str] = &["digits", "alphanumeric", "alpha", "letters", "chars", "characters"];

impl Checker<'_> {
    /// Reports a length or a range that contradicts the `spec` of its row.
    pub(super) fn stated(&mut self, field: &Field) {
        let Some(spec) = field.spec.as_deref() else { return };
        if let Some((length, (_, most))) = field.length.as_deref().and_then(|text| Some((text, bounds(text)?)))
            && let Some(stated) = longest(spec)
            && stated != most
        {
            let what = format!("length {length:?} allows {most} characters, but spec {spec:?} says {stated}");
            self.problem(field.places.of("length"), what);
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

/// The most characters that the words allow: `up to 20 chars`, `Char(32)`, `3-4 digits`, `2 or 4 digits`.
fn longest(spec: &str) -> Option<u16> {
    let words = words(spec);
    words.iter().enumerate().find_map(|(at, word)| {
        let number = word.rsplit('-').next()?.parse().ok()?;
        let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at]);
        let is_length = matches!(before(1), "Char" | "Int")
            || (before(2), before(1)) == ("up", "to")
            || words.get(at + 1).is_some_and(|unit| UNITS.contains(unit));
        is_length.then_some(number)
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
            ("up to 50 chars", Some(50)),
            ("Char(8), DDMMYYYY", Some(8)),
            ("Char 160", Some(160)),
            ("Int(1)", Some(1)),
            ("13-19 digits", Some(19)),
            ("2 or 4 digits", Some(4)),
            ("32 alphanumeric", Some(32)),
            ("3 alpha, ISO 4217", Some(3)),
            ("up to 32 alphanumeric", Some(32)),
            ("integer, max 127", None),
            ("comma-separated, unique, at most 5,000", None),
            ("MMYY or MMYYYY", None),
            ("alphanumeric", None),
        ] {
            assert_eq!(longest(spec), wanted, "{spec}");
        }
        assert_eq!(greatest("integer, max 127"), Some(127));
    }
}
