//! Reads the rows of a TOML file and keeps the place of every value.
//!
//! A mistake in the shape of a row is noted, and reading continues, so that one run shows every mistake.

use std::cell::RefCell;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::place::{Place, Places, Problems, allowed};

/// One file while it is read.
struct Reading<'r> {
    file: &'static str,
    text: &'r str,
    problems: RefCell<Problems>,
}

/// A row: a table of the file, and its known keys.
pub(super) struct Row<'r> {
    reading: &'r Reading<'r>,
    table: &'r DeTable<'r>,
    place: Place,
    asked: RefCell<Vec<&'static str>>,
}

/// Reads a file with `read`, which gets its outermost table. Returns `None` if the file is not TOML.
pub(super) fn file<T>(
    file: &'static str,
    text: &str,
    problems: &mut Problems,
    read: impl FnOnce(&Row<'_>) -> T,
) -> Option<T> {
    problems.keep(file, text);
    let (root, errors) = DeTable::parse_recoverable(text);
    let reading = Reading { file, text, problems: RefCell::default() };
    for error in &errors {
        let at = error.span().map_or(0, |span| span.start);
        reading.problem(reading.place(at), error.message().replace('\n', ", "));
    }
    let value = errors.is_empty().then(|| reading.row(root.get_ref(), 0, read));
    problems.append(reading.problems.into_inner());
    value
}

impl Reading<'_> {
    fn problem(&self, place: Place, what: impl Into<String>) {
        self.problems.borrow_mut().push(place, what);
    }

    /// The place of a byte.
    fn place(&self, at: usize) -> Place {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Place { file: self.file, line, column }
    }

    /// Reads one row, then reports unknown keys.
    fn row<'r, T>(&'r self, table: &'r DeTable<'r>, at: usize, read: impl FnOnce(&Row<'r>) -> T) -> T {
        let row = Row { reading: self, table, place: self.place(at), asked: RefCell::default() };
        let value = read(&row);
        let asked = row.asked.borrow();
        for (key, _) in table {
            let name: &str = key.get_ref();
            if !asked.contains(&name) {
                let words = allowed(name, asked.iter().copied());
                self.problem(self.place(key.span().start), format!("key {name:?} is not known{words}"));
            }
        }
        drop(asked);
        value
    }
}

impl<'r> Row<'r> {
    /// Whether the row has the key. Asking this does not make the key an allowed one.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.iter().any(|(name, _)| name.get_ref() == key)
    }

    /// A required text.
    pub(super) fn text(&self, key: &'static str) -> String {
        let text = self.maybe_text(key);
        if text.is_none() {
            self.missing(key);
        }
        text.unwrap_or_default()
    }

    /// A text that may be left out.
    pub(super) fn maybe_text(&self, key: &'static str) -> Option<String> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::String(text) => {
                self.is_plain(value, key, text);
                return Some(text.clone().into_owned());
            }
            _ => self.wrong(value, key, "a text in quotes"),
        }
        Some(String::new())
    }

    /// `true` or `false`; false if it is missing.
    pub(super) fn flag(&self, key: &'static str) -> bool {
        let Some(value) = self.value(key) else { return false };
        match value.get_ref() {
            DeValue::Boolean(flag) => *flag,
            _ => {
                self.wrong(value, key, "true or false");
                false
            }
        }
    }

    /// A required whole number.
    pub(super) fn number<N: std::str::FromStr + Default>(&self, key: &'static str) -> N {
        let number = self.maybe_number(key);
        if number.is_none() && !self.has(key) {
            self.missing(key);
        }
        number.unwrap_or_default()
    }

    /// A whole number that may be left out.
    pub(super) fn maybe_number<N: std::str::FromStr>(&self, key: &'static str) -> Option<N> {
        let value = self.value(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str().parse().ok(),
            _ => None,
        };
        if number.is_none() {
            self.wrong(value, key, "a whole number of its size");
        }
        number
    }

    /// A required value from a list. The first one replaces an invalid one.
    pub(super) fn choice<T: Copy>(&self, key: &'static str, words: &[(&str, T)]) -> T {
        let Some(value) = self.value(key) else {
            self.missing(key);
            return words[0].1;
        };
        let found = value.get_ref().as_str().unwrap_or_default();
        if let Some((_, choice)) = words.iter().find(|(word, _)| *word == found) {
            return *choice;
        }
        let hint = allowed(found, words.iter().map(|(word, _)| *word));
        self.reading.problem(self.place_of(value), format!("{key} {found:?} is not known{hint}"));
        words[0].1
    }

    /// One of a few words, if present.
    pub(super) fn maybe_choice<T: Copy>(&self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        self.value(key).is_some().then(|| self.choice(key, words))
    }

    /// A list of texts; empty if it is missing.
    pub(super) fn texts(&self, key: &'static str) -> Vec<String> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let texts = value.get_ref().as_array().and_then(|items| {
            items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
        });
        if texts.is_none() {
            self.wrong(value, key, "a list of texts");
        }
        for text in texts.iter().flatten() {
            self.is_plain(value, key, text);
        }
        texts.unwrap_or_default()
    }

    /// A required list of rows.
    pub(super) fn rows<T>(&self, key: &'static str, mut read: impl FnMut(&Row<'r>) -> T) -> Vec<T> {
        let Some(value) = self.value(key) else {
            self.missing(key);
            return Vec::new();
        };
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(value, key, "a list of rows");
            return Vec::new();
        };
        let mut rows = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => rows.push(self.reading.row(table, item.span().start, &mut read)),
                _ => self.wrong(item, key, "rows in curly brackets"),
            }
        }
        rows
    }

    /// A list of rows; empty if it is missing.
    pub(super) fn maybe_rows<T>(&self, key: &'static str, read: impl FnMut(&Row<'r>) -> T) -> Vec<T> {
        if self.has(key) { self.rows(key, read) } else { Vec::new() }
    }

    /// A required single row.
    pub(super) fn one<T>(&self, key: &'static str, read: impl FnOnce(&Row<'r>) -> T) -> Option<T> {
        let value = self.value(key);
        match value.map(|value| (value.get_ref(), value.span())) {
            Some((DeValue::Table(table), span)) => Some(self.reading.row(table, span.start, read)),
            _ => {
                self.missing(key);
                None
            }
        }
    }

    /// The position of the row and of each of its values.
    pub(super) fn places(&self) -> Places {
        let asked = self.asked.borrow();
        let keys = asked.iter().filter_map(|key| Some((*key, self.place_of(self.find(key)?)))).collect();
        Places { row: self.place, keys }
    }

    fn find(&self, key: &str) -> Option<&'r Spanned<DeValue<'r>>> {
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    fn value(&self, key: &'static str) -> Option<&'r Spanned<DeValue<'r>>> {
        self.asked.borrow_mut().push(key);
        self.find(key)
    }

    fn place_of(&self, value: &Spanned<DeValue<'_>>) -> Place {
        self.reading.place(value.span().start)
    }

    fn missing(&self, key: &str) {
        self.reading.problem(self.place, format!("the row has no {key}"));
    }

    /// Reports characters that would break the line of a page or of a source, or that readers cannot see.
    fn is_plain(&self, value: &Spanned<DeValue<'_>>, key: &str, text: &str) {
        let what = if text.contains(is_hidden) {
            "has a line break or another character that cannot be seen"
        } else if text.trim() != text && !text.trim().is_empty() {
            "begins or ends with a blank"
        } else {
            return;
        };
        self.reading.problem(self.place_of(value), format!("{key} {what}"));
    }

    fn wrong(&self, value: &Spanned<DeValue<'_>>, key: &str, wanted: &str) {
        self.reading.problem(self.place_of(value), format!("{key} must be {wanted}"));
    }
}

/// Control characters, blanks other than the usual one, and signs without a width.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || (letter.is_whitespace() && letter != ' ')
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
