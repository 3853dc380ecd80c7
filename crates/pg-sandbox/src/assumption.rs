//! Entries of the register of assumptions.

use std::sync::LazyLock;

/// Every entry of `docs/reference/assumptions.md`, in ascending order of the numbers.
pub static ASSUMPTIONS: LazyLock<Vec<Assumption>> = LazyLock::new(|| {
    let table: toml::Table = pg_model::ASSUMPTIONS.parse().expect("the generator reads the same table");
    let rows = table.get("assumption").and_then(toml::Value::as_array).into_iter().flatten();
    rows.filter_map(|row| Assumption::read(row.as_table()?)).collect()
});

/// A question that the documents leave open, and its decision: one entry of `docs/reference/assumptions.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assumption {
    /// Its number, never reused; shown as `A07`.
    pub number: u16,
    /// The affected part: `model`, `crypto`, `protocol` or `sandbox`.
    pub area: &'static str,
    /// The question in a few words.
    pub title: &'static str,
    /// The open question, with its source.
    pub open: &'static str,
    /// The decision.
    pub chosen: &'static str,
    /// The reason.
    pub why: &'static str,
    /// How to change the decision.
    pub change: &'static str,
    /// The question to an operator's support, if no request can answer it: an entry of `docs/reference/questions.md`.
    pub question: Option<&'static str>,
}

impl Assumption {
    /// Reads a row of the table. Its texts live as long as the program.
    fn read(row: &toml::Table) -> Option<Self> {
        let text = |key| Some(&*row.get(key)?.as_str()?.to_owned().leak());
        Some(Self {
            number: row.get("number")?.as_integer()?.try_into().ok()?,
            area: text("area")?,
            title: text("title")?,
            open: text("open")?,
            chosen: text("chosen")?,
            why: text("why")?,
            change: text("change")?,
            question: text("question"),
        })
    }

    /// Returns the entry with this number.
    ///
    /// ```
    /// assert_eq!(pg_sandbox::Assumption::numbered(35).map(|found| found.title), Some("Redirect data proves nothing"));
    /// ```
    #[must_use]
    pub fn numbered(number: u16) -> Option<&'static Self> {
        let at = ASSUMPTIONS.binary_search_by_key(&number, |one| one.number).ok()?;
        ASSUMPTIONS.get(at)
    }

    /// Returns the number of its [question](Self::question) in `docs/reference/questions.md`.
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

#[cfg(test)]
mod tests {
    use super::ASSUMPTIONS;

    #[test]
    fn every_row_of_the_table_is_read_in_the_order_of_the_numbers() {
        assert_eq!(ASSUMPTIONS.len(), pg_model::ASSUMPTIONS.matches("[[assumption]]").count());
        assert!(ASSUMPTIONS.is_sorted_by(|one, next| one.number < next.number));
    }
}
