//! Entries of the register of assumptions.

pub use crate::generated::assumptions::ASSUMPTIONS;

/// A question that the documents leave open, and how it was decided: one entry of `docs/reference/assumptions.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assumption {
    /// Its number, which is never used again; shown as `A07`.
    pub number: u16,
    /// The part that it is about: `model`, `crypto`, `protocol` or `sandbox`.
    pub area: &'static str,
    /// The question in a few words.
    pub title: &'static str,
    /// What is open, and where.
    pub open: &'static str,
    /// What was chosen.
    pub chosen: &'static str,
    /// Why.
    pub why: &'static str,
    /// What to touch to choose otherwise.
    pub change: &'static str,
    /// What to ask an operator's support, where no request can find it out: an entry of `docs/reference/questions.md`.
    pub question: Option<&'static str>,
}

impl Assumption {
    /// The entry with this number.
    ///
    /// ```
    /// assert_eq!(pg_sandbox::Assumption::numbered(35).map(|found| found.title), Some("Redirect data proves nothing"));
    /// ```
    #[must_use]
    pub fn numbered(number: u16) -> Option<&'static Self> {
        let at = ASSUMPTIONS.binary_search_by_key(&number, |one| one.number).ok()?;
        ASSUMPTIONS.get(at)
    }

    /// The number of its [question](Self::question) in `docs/reference/questions.md`.
    ///
    /// ```
    /// let declines = pg_sandbox::Assumption::numbered(11).and_then(pg_sandbox::Assumption::question_number);
    /// assert_eq!(declines, Some(1));
    /// ```
    #[must_use]
    pub fn question_number(&self) -> Option<usize> {
        self.question?;
        Some(ASSUMPTIONS.iter().filter(|one| one.question.is_some() && one.number <= self.number).count())
    }
}
