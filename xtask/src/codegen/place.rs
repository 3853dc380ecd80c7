//! Where something stands in the tables, and what is wrong there.

use std::fmt;

/// A position in one of the table files, counted from 1. Without a file it is their folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The file's name without its ending, such as `token`; with its folder where it is none of the tables.
    pub(super) file: &'static str,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            return f.write_str(super::TABLES);
        }
        let folder = if self.file.contains('/') { String::new() } else { format!("{}/", super::TABLES) };
        write!(f, "{folder}{}.toml:{}:{}", self.file, self.line, self.column)
    }
}

/// Where a row stands, and the value of each of its keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) row: Place,
    pub(super) keys: Vec<(&'static str, Place)>,
}

impl Places {
    /// Where the value of a key stands; the row itself where it has no such key.
    pub(super) fn of(&self, key: &str) -> Place {
        self.keys.iter().find(|(name, _)| *name == key).map_or(self.row, |(_, place)| *place)
    }
}

/// Everything that is wrong with the tables.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<(Place, String)>);

impl Problems {
    pub(super) fn push(&mut self, place: Place, what: impl Into<String>) {
        self.0.push((place, what.into()));
    }

    pub(super) fn append(&mut self, mut more: Self) {
        self.0.append(&mut more.0);
    }

    /// `Ok` when nothing is wrong.
    ///
    /// # Errors
    /// Every problem on a line of its own, in the order of files and lines.
    pub(super) fn into_result(mut self) -> anyhow::Result<()> {
        self.0.sort();
        self.0.dedup();
        if self.0.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = self.0.iter().map(|(place, what)| format!("{place}: {what}")).collect();
        let count = if lines.len() == 1 { "1 mistake".to_owned() } else { format!("{} mistakes", lines.len()) };
        anyhow::bail!("{count} in the tables\n{}", lines.join("\n"))
    }
}

/// "…; did you mean "x"? allowed: …": the second half of a message about a word that is not known.
pub(super) fn allowed<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> String {
    let mut words: Vec<&str> = words.into_iter().collect();
    words.sort_unstable();
    words.dedup();
    let near = words
        .iter()
        .map(|known| (distance(word, known), *known))
        .min()
        .filter(|(far, _)| *far <= word.len().div_ceil(3));
    let hint = near.map_or_else(String::new, |(_, known)| format!("; did you mean {known:?}?"));
    if words.is_empty() { hint } else { format!("{hint} (allowed: {})", words.join(", ")) }
}

/// How many letters have to be put in, left out or changed to make one word the other; capitals do not count.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, a) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_letters() {
        for (one, other, far) in
            [("", "", 0), ("", "ab", 2), ("wire", "wier", 2), ("lenght", "length", 2), ("A", "a", 0)]
        {
            assert_eq!(distance(one, other), far, "{one} {other}");
            assert_eq!(distance(other, one), far, "{other} {one}");
        }
    }

    #[test]
    fn a_hint_is_given_only_for_something_near() {
        assert_eq!(allowed("lenght", ["type", "length"]), "; did you mean \"length\"? (allowed: length, type)");
        assert_eq!(allowed("entirely", ["type", "length"]), " (allowed: length, type)");
    }
}
