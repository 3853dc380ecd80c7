//! Positions in the tables, and mistakes there.

mod excerpt;

use std::{collections::BTreeMap, fmt};

use strsim::osa_distance;

/// A list of more words than these does not help to correct a typing mistake.
const LONG_LIST: usize = 8;
/// A list of more words than these would fill the screen, so only the nearest are shown.
const ENDLESS_LIST: usize = 50;
/// How many of them.
const NEAREST: usize = 5;

/// A position in one of the table files, counted from 1. Without a file it is their folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// A table's name without its ending, such as `token`; the path of any other file.
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
        let ending = if self.file.contains('.') { "" } else { ".toml" };
        write!(f, "{folder}{}{ending}:{}:{}", self.file, self.line, self.column)
    }
}

/// The position of a row, and the value of each of its keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    pub(super) row: Place,
    pub(super) keys: Vec<(&'static str, Place)>,
}

impl Places {
    /// The position of a key's value, or of the row if it has no such key.
    pub(super) fn of(&self, key: &str) -> Place {
        self.keys.iter().find(|(name, _)| *name == key).map_or(self.row, |(_, place)| *place)
    }
}

/// Everything that is wrong with the tables.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<(Place, String)>,
    /// The text of every file that was read, to show the lines in question.
    texts: BTreeMap<&'static str, String>,
}

impl Problems {
    pub(super) fn push(&mut self, place: Place, what: impl Into<String>) {
        self.found.push((place, what.into()));
    }

    /// Keeps the text of a file, so that its lines can be shown.
    pub(super) fn keep(&mut self, file: &'static str, text: &str) {
        self.texts.insert(file, text.to_owned());
    }

    pub(super) fn append(&mut self, mut more: Self) {
        self.found.append(&mut more.found);
        self.texts.append(&mut more.texts);
    }

    /// `Ok` without mistakes.
    ///
    /// # Errors
    /// Every problem with the line that it is about, in the order of files and lines.
    pub(super) fn into_result(mut self) -> anyhow::Result<()> {
        self.found.sort();
        self.found.dedup();
        if self.found.is_empty() {
            return Ok(());
        }
        let shown: Vec<String> = self.found.iter().map(|(place, what)| self.show(*place, what)).collect();
        let count = if shown.len() == 1 { "1 mistake".to_owned() } else { format!("{} mistakes", shown.len()) };
        anyhow::bail!("{count} in the tables, so nothing is written\n\n{}", shown.join("\n"))
    }

    /// The problem, and below it the line that it is about.
    fn show(&self, place: Place, what: &str) -> String {
        let line = self.texts.get(place.file).and_then(|text| text.lines().nth(place.line.checked_sub(1)?));
        let excerpt = line.map_or_else(String::new, |line| excerpt::of(line, place));
        format!("{place}: {what}\n{excerpt}")
    }
}

/// "…; did you mean "x"? (allowed: …)": the second half of a message about a word that is not known. A long list is
/// left out where the word is near to one of it, and cut to the nearest words if it is endless.
pub(super) fn allowed<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> String {
    let mut words: Vec<&str> = words.into_iter().collect();
    words.sort_unstable();
    words.dedup();
    let near = nearest(word, words.iter().copied());
    let hint = near.map_or_else(String::new, |known| format!("; did you mean {known:?}?"));
    if words.is_empty() || (near.is_some() && words.len() > LONG_LIST) {
        hint
    } else if words.len() > ENDLESS_LIST {
        let count = words.len();
        words.sort_by_key(|known| distance(word, known));
        format!("{hint} (of {count} that are allowed, the nearest: {})", words[..NEAREST].join(", "))
    } else {
        format!("{hint} (allowed: {})", words.join(", "))
    }
}

/// The word that was probably meant: at most a third of its letters are others. Capitals do not count.
pub(super) fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let near = words.into_iter().map(|known| (distance(word, known), known)).min()?;
    (near.0 <= word.len().div_ceil(3)).then_some(near.1)
}

fn distance(word: &str, known: &str) -> usize {
    osa_distance(&word.to_ascii_lowercase(), &known.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_given_only_for_something_near() {
        assert_eq!(allowed("lenght", ["type", "length"]), "; did you mean \"length\"? (allowed: length, type)");
        assert_eq!(allowed("entirely", ["type", "length"]), " (allowed: length, type)");
    }

    #[test]
    fn a_long_list_is_shown_only_where_nothing_is_near() {
        let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
        assert_eq!(allowed("thre", words), "; did you mean \"three\"?");
        assert_eq!(allowed("unlike any", words), " (allowed: eight, five, four, nine, one, seven, six, three, two)");
    }

    #[test]
    fn of_an_endless_list_the_nearest_words_are_shown() {
        let words: Vec<String> = (100..2_100).map(|number| format!("module::test_{number}")).collect();
        let told = allowed("another::folder::test_77", words.iter().map(String::as_str));
        let nearest = "module::test_177, module::test_277, module::test_377, module::test_477, module::test_577";
        assert_eq!(told, format!(" (of 2000 that are allowed, the nearest: {nearest})"));
    }
}
