//! Reads a dialect from its file, and reports every mistake in it.

use alloc::{format, string::String, vec, vec::Vec};
use core::fmt;

use serde::Deserialize;
use toml::Spanned;

use super::{
    AuthenticationEntry, AuthenticationState, CheckoutStatuses, Dialect, EmptyLookup, ErrorEntry, Lookup, RefusalScope,
    SessionData, Situation, StatusEntry, UNKNOWN_CARD, UNKNOWN_TRANSACTION, words::Word,
};
use crate::{ErrorCode, Remedy, StatusCode};

#[cfg(test)]
mod tests;

/// The mistakes of a dialect file, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialectError {
    /// The mistakes.
    pub mistakes: Vec<DialectMistake>,
}

/// One mistake in a dialect file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DialectMistake {
    /// The line of the mistake, counted from 1.
    pub line: usize,
    /// The column of the mistake, counted from 1.
    pub column: usize,
    /// The error, and how to correct it.
    pub problem: String,
}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.mistakes.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}line {}, column {}: {}", mistake.line, mistake.column, mistake.problem)?;
        }
        Ok(())
    }
}

impl core::error::Error for DialectError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    name: String,
    refused_reference: Option<Spanned<String>>,
    #[serde(default)]
    shared_codes: bool,
    #[serde(default)]
    lookup: LookupTable,
    #[serde(default)]
    checkout: CheckoutTable,
    #[serde(default)]
    session_data: SessionDataTable,
    #[serde(default)]
    declined: Vec<DeclinedRow>,
    #[serde(default)]
    pending: Vec<PendingRow>,
    #[serde(default)]
    authentication: Vec<AuthenticationRow>,
    #[serde(default)]
    error: Vec<ErrorRow>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct LookupTable {
    nothing: Option<Spanned<String>>,
    no_card: Option<Spanned<String>>,
    immediate: bool,
    found_by_initiation: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct CheckoutTable {
    paid: Vec<Spanned<String>>,
    pending: Vec<Spanned<String>>,
    failed: Vec<Spanned<String>>,
    refused_cancel_means_ended: bool,
    cancel_closes_open_pages: bool,
    found_by_reference: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct SessionDataTable {
    key: Option<Spanned<String>>,
    iv: Option<Spanned<String>>,
    padding: Option<Spanned<String>>,
    text: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclinedRow {
    code: Spanned<String>,
    #[serde(default)]
    situations: Vec<Spanned<String>>,
    #[serde(default)]
    message: String,
    assumption: Spanned<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PendingRow {
    code: Spanned<String>,
    #[serde(default)]
    message: String,
    assumption: Spanned<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuthenticationRow {
    code: Spanned<String>,
    means: Spanned<String>,
    #[serde(default)]
    message: String,
    assumption: Spanned<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorRow {
    code: Spanned<String>,
    #[serde(default)]
    situations: Vec<Spanned<String>>,
    http: Option<Spanned<u16>>,
    #[serde(default)]
    message: String,
    remedy: Option<Spanned<String>>,
    scope: Option<Spanned<String>>,
    assumption: Spanned<u16>,
}

impl Dialect {
    /// Parses the text of a dialect file: see `docs/guide/dialects.md`.
    ///
    /// ```
    /// use pg_model::dialect::Dialect;
    ///
    /// let dialect = Dialect::from_toml("[[declined]]\ncode = \"651\"\nassumption = 11\n")?;
    /// assert!(dialect.is_declined(&"651".into()));
    /// let wrong = Dialect::from_toml("[[declined]]\ncode = \"600\"\nassumption = 11\n").unwrap_err();
    /// assert_eq!(wrong.to_string(), "line 2, column 8: the documents say what 600 means; leave it out");
    /// # Ok::<(), pg_model::dialect::DialectError>(())
    /// ```
    ///
    /// # Errors
    /// [`DialectError`] lists every invalid value with its line: outside the allowed words, documented, or listed twice. If the
    /// file is not TOML, or has an unknown key, a missing field or a value of another type, it has only that mistake.
    pub fn from_toml(text: &str) -> Result<Self, DialectError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            DialectError {
                mistakes: vec![mistake(text, at, error.message().replace("expected u16", "expected a whole number"))],
            }
        })?;
        let mut checker = Checker { text, mistakes: Vec::new() };
        let dialect = checker.dialect(file);
        if checker.mistakes.is_empty() {
            return Ok(dialect);
        }
        checker.mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
        Err(DialectError { mistakes: checker.mistakes })
    }
}

fn mistake(text: &str, at: usize, problem: String) -> DialectMistake {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    DialectMistake { line, column, problem: problem.trim().replace('\n', " ") }
}

/// The only documented status text of `transaction_lookup` (spec 3 §4.8).
const PAID: &str = "Success";

fn texts(texts: Vec<Spanned<String>>) -> Vec<String> {
    texts.into_iter().map(Spanned::into_inner).collect()
}

struct Checker<'t> {
    text: &'t str,
    mistakes: Vec<DialectMistake>,
}

impl Checker<'_> {
    fn wrong<T>(&mut self, place: &Spanned<T>, problem: impl Into<String>) {
        let mistake = mistake(self.text, place.span().start, problem.into());
        self.mistakes.push(mistake);
    }

    fn dialect(&mut self, file: File) -> Dialect {
        let pending = file.pending.iter().map(|row| &row.code);
        self.once("code", file.declined.iter().map(|row| &row.code).chain(pending));
        self.once("code", file.authentication.iter().map(|row| &row.code));
        self.once("code", file.error.iter().map(|row| &row.code));
        self.once("situation", file.declined.iter().flat_map(|row| &row.situations));
        self.once("situation", file.error.iter().flat_map(|row| &row.situations));
        let nothing = self.nothing(file.lookup.nothing.as_ref(), UNKNOWN_TRANSACTION, &file.error);
        let no_card = self.nothing(file.lookup.no_card.as_ref(), UNKNOWN_CARD, &file.error);
        let CheckoutTable { paid, pending, failed, .. } = &file.checkout;
        self.once("status text", paid.iter().chain(pending).chain(failed));
        for text in pending.iter().chain(failed).filter(|text| text.get_ref() == PAID) {
            self.wrong(text, "the documents say that Success means paid (spec 3 §4.8); leave it out");
        }
        let data = &file.session_data;
        Dialect {
            name: file.name,
            refused_reference: file.refused_reference.as_ref().and_then(|word| self.word(word)),
            shared_codes: file.shared_codes,
            lookup: Lookup {
                nothing,
                no_card,
                immediate: file.lookup.immediate,
                found_by_initiation: file.lookup.found_by_initiation,
            },
            checkout: CheckoutStatuses {
                paid: texts(file.checkout.paid),
                pending: texts(file.checkout.pending),
                failed: texts(file.checkout.failed),
                refused_cancel_means_ended: file.checkout.refused_cancel_means_ended,
                cancel_closes_open_pages: file.checkout.cancel_closes_open_pages,
                found_by_reference: file.checkout.found_by_reference,
            },
            session_data: SessionData {
                key: data.key.as_ref().and_then(|word| self.word(word)),
                iv: data.iv.as_ref().and_then(|word| self.word(word)),
                padding: data.padding.as_ref().and_then(|word| self.word(word)),
                text: data.text.as_ref().and_then(|word| self.word(word)),
            },
            declined: file.declined.into_iter().map(|row| self.declined(row)).collect(),
            pending: file.pending.into_iter().map(|row| self.pending(row)).collect(),
            authentication: file.authentication.into_iter().filter_map(|row| self.authentication(row)).collect(),
            errors: file.error.into_iter().map(|row| self.error(row)).collect(),
        }
    }

    /// Returns the reply of a lookup that finds nothing. An error needs a code.
    fn nothing(&mut self, word: Option<&Spanned<String>>, situation: &str, errors: &[ErrorRow]) -> Option<EmptyLookup> {
        let word = word?;
        let nothing = self.word::<EmptyLookup>(word);
        let names = |row: &ErrorRow| row.situations.iter().any(|one| one.get_ref() == situation);
        if nothing == Some(EmptyLookup::Error) && !errors.iter().any(names) {
            self.wrong(word, format!("needs an [[error]] with situations = [\"{situation}\"] that names the code"));
        }
        nothing
    }

    fn declined(&mut self, row: DeclinedRow) -> StatusEntry {
        self.undocumented(&row.code);
        let assumption = self.assumption(&row.assumption);
        let situations = self.situations(row.situations, false);
        StatusEntry { situations, message: row.message, ..StatusEntry::new(row.code.into_inner(), assumption) }
    }

    fn pending(&mut self, row: PendingRow) -> StatusEntry {
        self.undocumented(&row.code);
        let assumption = self.assumption(&row.assumption);
        StatusEntry { message: row.message, ..StatusEntry::new(row.code.into_inner(), assumption) }
    }

    /// A status code of payments that the documents do not list.
    fn undocumented(&mut self, code: &Spanned<String>) {
        self.code(code);
        if StatusCode::KNOWN.iter().any(|known| known.as_str() == code.get_ref()) {
            self.wrong(code, format!("the documents say what {} means; leave it out", code.get_ref()));
        }
    }

    fn authentication(&mut self, row: AuthenticationRow) -> Option<AuthenticationEntry> {
        self.code(&row.code);
        let assumption = self.assumption(&row.assumption);
        let means = self.word(&row.means)?;
        let ends = matches!(
            means,
            AuthenticationState::Failed | AuthenticationState::Abandoned | AuthenticationState::TimedOut
        );
        let documented = match row.code.get_ref().as_str() {
            "600" if ends => Some("approved"),
            "607" if ends => Some("Success"),
            "608" if means == AuthenticationState::Authenticated => Some("Failed"),
            _ => None,
        };
        if let Some(text) = documented {
            let (code, means) = (row.code.get_ref(), row.means.get_ref());
            let what =
                format!("the documents call {code} {text} (spec 2 §2.3), so it cannot mean {means:?}; leave it out");
            self.wrong(&row.means, what);
        }
        let entry = AuthenticationEntry::new(row.code.into_inner(), means, assumption);
        Some(AuthenticationEntry { message: row.message, ..entry })
    }

    fn error(&mut self, row: ErrorRow) -> ErrorEntry {
        self.code(&row.code);
        if row.code.get_ref() == ErrorCode::NO_RESPONSE_FROM_BANK.as_str() {
            self.wrong(
                &row.code,
                "119 leaves open whether the bank has charged, and no entry changes that; leave it out",
            );
        }
        if let Some(place) = row.http.as_ref().filter(|http| !(200..600).contains(http.get_ref())) {
            self.wrong(place, format!("{} is not an HTTP status of a reply; use 200 to 599", place.get_ref()));
        }
        let assumption = self.assumption(&row.assumption);
        let remedy = row.remedy.as_ref().and_then(|word| self.word::<Remedy>(word));
        let scope = row.scope.as_ref().and_then(|word| self.word::<RefusalScope>(word));
        let looked_up = remedy
            .or_else(|| ErrorCode::from(row.code.get_ref().as_str()).remedy())
            .is_none_or(|one| one == Remedy::LookUp);
        if let Some(place) = row.scope.as_ref().filter(|_| looked_up && scope != Some(RefusalScope::WhileItLasts)) {
            self.wrong(
                place,
                "a code that is looked up says nothing about other copies, so this scope has no effect: add another remedy, or \
                 leave the scope out",
            );
        }
        ErrorEntry {
            situations: self.situations(row.situations, true),
            http: row.http.map(Spanned::into_inner),
            message: row.message,
            remedy,
            scope,
            ..ErrorEntry::new(row.code.into_inner(), assumption)
        }
    }

    fn code(&mut self, code: &Spanned<String>) {
        let text = code.get_ref();
        let plain = (1..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric());
        if !plain {
            self.wrong(code, format!("{text:?} is not a code; write 1 to 16 letters and digits, such as \"123\""));
        }
    }

    fn assumption(&mut self, number: &Spanned<u16>) -> u16 {
        if !(1..1000).contains(number.get_ref()) {
            self.wrong(
                number,
                "write the number of the assumption that this decides, from docs/reference/assumptions.md",
            );
        }
        *number.get_ref()
    }

    fn situations(&mut self, names: Vec<Spanned<String>>, errors: bool) -> Vec<String> {
        for name in &names {
            if Situation::named(name.get_ref()).is_none_or(|one| one.is_error != errors) {
                let near = crate::SITUATIONS.iter().filter(|one| one.is_error == errors);
                let near = near.min_by_key(|one| distance(one.name, name.get_ref()));
                let hint = near.map_or("", |one| one.name);
                let kind = if errors { "an error" } else { "a decline" };
                let what = format!("{:?} is not a situation of {kind}; did you mean {hint:?}?", name.get_ref());
                self.wrong(name, what);
            }
        }
        names.into_iter().map(Spanned::into_inner).collect()
    }

    fn word<W: Word>(&mut self, word: &Spanned<String>) -> Option<W> {
        let found = W::WORDS.iter().find(|(known, _)| known == word.get_ref());
        if found.is_none() {
            let allowed: Vec<String> = W::WORDS.iter().map(|(known, _)| format!("{known:?}")).collect();
            self.wrong(word, format!("{:?} is not known; write {}", word.get_ref(), allowed.join(" or ")));
        }
        found.map(|(_, value)| *value)
    }

    /// Reports duplicate entries, because it would be unclear which of them is valid.
    fn once<'r>(&mut self, what: &str, rows: impl Iterator<Item = &'r Spanned<String>>) {
        let mut seen: Vec<&Spanned<String>> = Vec::new();
        for row in rows {
            if let Some(first) = seen.iter().find(|other| other.get_ref() == row.get_ref()) {
                let first = mistake(self.text, first.span().start, String::new()).line;
                self.wrong(row, format!("{what} {:?} is already in line {first}; keep one", row.get_ref()));
            }
            seen.push(row);
        }
    }
}

/// Returns the edit distance of two words.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.bytes().enumerate() {
        let mut diagonal = core::mem::replace(&mut row[0], at + 1);
        for (column, other) in right.bytes().enumerate() {
            let best = (diagonal + usize::from(letter != other)).min(row[column] + 1).min(row[column + 1] + 1);
            diagonal = core::mem::replace(&mut row[column + 1], best);
        }
    }
    row[right.len()]
}
