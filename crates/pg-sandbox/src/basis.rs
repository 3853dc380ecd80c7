//! The basis of a response: the clause of the specification, and the assumptions.

use http::{HeaderName, HeaderValue};

/// The header for it, for example `pg-basis: 2 4.4, A12`: document and section, then assumptions.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("pg-basis");

/// A clause such as `2 §4.4` and the numbers of assumptions, in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Basis {
    clause: &'static str,
    assumptions: Vec<u16>,
}

impl Basis {
    /// Creates a clause alone.
    pub(crate) const fn new(clause: &'static str) -> Self {
        Self { clause, assumptions: Vec::new() }
    }

    /// Creates a clause and numbers in ascending order.
    pub(crate) const fn of(clause: &'static str, assumptions: Vec<u16>) -> Self {
        Self { clause, assumptions }
    }

    /// Returns the clause.
    pub(crate) const fn clause(&self) -> &'static str {
        self.clause
    }

    /// Returns the numbers of assumptions, in ascending order.
    pub(crate) fn assumptions(&self) -> &[u16] {
        &self.assumptions
    }

    /// Returns another clause with the same assumptions.
    pub(crate) fn citing(self, clause: &'static str) -> Self {
        Self { clause, ..self }
    }

    /// Adds the number of an assumption, once.
    pub(crate) fn assume(&mut self, number: u16) {
        if let Err(at) = self.assumptions.binary_search(&number) {
            if self.assumptions.capacity() == 0 {
                // Enough for most replies, so that the list does not grow.
                self.assumptions.reserve_exact(8);
            }
            self.assumptions.insert(at, number);
        }
    }

    /// Adds the numbers of several assumptions.
    pub(crate) fn assume_all(&mut self, numbers: impl IntoIterator<Item = u16>) {
        numbers.into_iter().for_each(|number| self.assume(number));
    }

    /// Creates a clause with one assumption.
    pub(crate) fn assuming(clause: &'static str, number: u16) -> Self {
        Self { clause, assumptions: vec![number] }
    }

    /// Adds every assumption of another basis, and keeps the clause.
    pub(crate) fn join(&mut self, other: &Self) {
        self.assume_all(other.assumptions.iter().copied());
    }

    /// Whether the clause is in this document.
    pub(crate) fn is_of(&self, document: char) -> bool {
        self.clause.starts_with(document)
    }

    /// Returns the text of the header in ASCII, since strict clients refuse a header with a section sign. `None`
    /// without a clause: the specification does not cover the request.
    pub(crate) fn text(&self) -> Option<String> {
        if self.clause.is_empty() {
            return None;
        }
        let mut text = String::with_capacity(self.clause.len() + (", A".len() + 3) * self.assumptions.len());
        text.extend(self.clause.split('§'));
        for number in &self.assumptions {
            // Every reply has some, and the formatter takes several times as long.
            let digit = |unit: u16| char::from(b"0123456789"[usize::from(number / unit % 10)]);
            text.push_str(", A");
            if *number >= 100 {
                text.push(digit(100));
            }
            text.push(digit(10));
            text.push(digit(1));
        }
        Some(text)
    }

    /// Returns the value of the header.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        HeaderValue::try_from(self.text()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_basis_lists_the_clause_and_then_the_assumptions() {
        let mut basis = Basis::new("2 §4.4");
        [45, 2, 45].into_iter().for_each(|number| basis.assume(number));
        assert_eq!(basis.header().unwrap(), "2 4.4, A02, A45");
        basis = basis.citing("");
        assert!(Basis::default().header().is_none() && basis.header().is_none());
    }
}
