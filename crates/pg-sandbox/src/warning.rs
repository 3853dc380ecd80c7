//! Warnings about a request that was answered, for example about a misspelt or ignored parameter.

use http::{HeaderName, HeaderValue};
use pg_model::mask;

/// The header that carries the warnings, separated by `; `.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("pg-warning");

/// The most warnings of one response. A header has to stay short.
pub(crate) const MOST: usize = 8;
/// The most characters of one warning.
const LONGEST: usize = 200;

/// The warnings of one response, each one once, in the order in which they arose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Warnings {
    told: Vec<String>,
    left_out: usize,
}

impl Warnings {
    /// Adds a warning: one sentence without a full stop, which names parameters and never a value.
    ///
    /// Headers are ASCII and one line, so other characters become `?`. Text that looks like a card number is masked.
    pub(crate) fn add(&mut self, text: &str) {
        if self.told.len() == MOST {
            self.left_out += 1;
            return;
        }
        let text = harmless(text);
        if !self.told.contains(&text) {
            self.told.push(text);
        }
    }

    /// Replaces the first warning that begins with a text; `None` removes it.
    pub(crate) fn replace(&mut self, start: &str, change: impl FnOnce(&str) -> Option<String>) {
        let Some(at) = self.told.iter().position(|told| told.starts_with(start)) else { return };
        match change(&self.told[at]) {
            Some(text) => self.told[at] = text,
            None => drop(self.told.remove(at)),
        }
    }

    /// Counts the warnings beyond those that are written out.
    pub(crate) fn leave_out(&mut self, more: usize) {
        self.left_out += more;
    }

    /// Whether another warning would only be counted.
    pub(crate) fn is_full(&self) -> bool {
        self.told.len() == MOST
    }

    /// Adds the warnings of another.
    pub(crate) fn join(&mut self, other: Self) {
        other.told.iter().for_each(|text| self.add(text));
        self.left_out += other.left_out;
    }

    /// One sentence each; the last one counts those that are not written out.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let more = (self.left_out > 0).then(|| format!("and {} more", self.left_out));
        self.told.iter().cloned().chain(more).collect()
    }

    /// Returns the warnings that are written out, and the number of the others.
    pub(crate) fn parts(&self) -> (&[String], usize) {
        (&self.told, self.left_out)
    }

    /// Reverses [`Warnings::parts`].
    pub(crate) const fn of(told: Vec<String>, left_out: usize) -> Self {
        Self { told, left_out }
    }

    /// Returns the value of the header; `None` without a warning.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        if self.told.is_empty() { None } else { HeaderValue::try_from(self.sentences().join("; ")).ok() }
    }
}

fn harmless(text: &str) -> String {
    let plain = |letter: char| match letter {
        ';' => ',',
        ' '..='~' => letter,
        _ => '?',
    };
    mask::text(text).chars().map(plain).take(LONGEST).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_ascii_in_one_line_and_shows_no_card_number() {
        let mut warnings = Warnings::default();
        assert_eq!(warnings.header(), None);
        warnings.add("Zoë\r\nSet-Cookie: a=b; 4000 0000 0000 1000");
        warnings.add("second");
        warnings.add("second");
        let header = warnings.header().unwrap();
        assert_eq!(header.to_str().unwrap(), "Zo???Set-Cookie: a=b, 4000 00** **** 1000; second");
        assert_eq!(warnings.sentences(), ["Zo???Set-Cookie: a=b, 4000 00** **** 1000", "second"]);
    }

    #[test]
    fn many_warnings_are_counted() {
        let mut warnings = Warnings::default();
        (0..MOST + 3).for_each(|number| warnings.add(&format!("{number}{}", "x".repeat(300))));
        let mut joined = Warnings::default();
        joined.add("first");
        joined.join(warnings);
        let header = joined.header().unwrap();
        assert!(header.len() < MOST * (LONGEST + 2) + 20);
        assert_eq!(joined.sentences().last().unwrap(), "and 4 more");
        assert!(header.to_str().unwrap().ends_with("; and 4 more"));
    }
}
