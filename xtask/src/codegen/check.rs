//! Checks of the content of the tables, after their shape has been read: that names are known and used once, that every fact
//! has its source, and that no rule contradicts another.

mod answers;
mod codes;
mod fields;
mod names;
mod records;
mod retry;
#[path = "../../../crates/pg-model/src/mask/names.rs"]
mod secrets;
mod spelling;
mod stated;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub(super) use self::codes::AREAS;
use super::{
    place::{Place, Places, Problems, allowed},
    tables::{Credentials, Group, GroupRow, Method, Row, Service, Tables},
};

/// Hand-written types of `pg-model` that fields may have.
const HAND_WRITTEN: &[&str] =
    &["String", "u64", "i64", "Currency", "Decimal", "CardNumber", "Cv2", "Secret", "Vec<CardKey>"];

/// Parameters that every request gets automatically.
const CREDENTIALS: &[&str] = &["apikey", "apipassword", "shasignature", "api_key", "api_password", "version"];

/// The parameter by which the request of a browser is authorised.
const SESSION_KEY: &str = "sessionKey";

/// Notes every mistake.
pub(super) fn check(tables: &Tables, problems: &mut Problems) {
    let mut checker = Checker::new(tables, problems);
    for service in &tables.services {
        checker.service(service);
    }
    for group in &tables.groups {
        checker.group(group);
    }
    checker.records();
    checker.codes();
    checker.currencies();
    checker.assumptions();
    checker.names();
    checker.spellings();
}

struct Checker<'t> {
    tables: &'t Tables,
    /// Every type that a field may have.
    types: BTreeSet<&'t str>,
    problems: &'t mut Problems,
}

impl<'t> Checker<'t> {
    fn new(tables: &'t Tables, problems: &'t mut Problems) -> Self {
        let named = tables.types.iter().map(|newtype| newtype.name.as_str());
        let coded = tables.codes.iter().map(|table| table.name.as_str());
        let types = named.chain(coded).chain(HAND_WRITTEN.iter().copied()).collect();
        Self { tables, types, problems }
    }

    fn problem(&mut self, place: Place, what: impl Into<String>) {
        self.problems.push(place, what);
    }

    /// Checks a text that must not be empty. A missing key was already reported.
    fn filled(&mut self, places: &Places, texts: &[(&'static str, &str)]) {
        for (key, text) in texts {
            let there = places.keys.iter().any(|(name, _)| name == key);
            if there && text.trim().is_empty() {
                self.problem(places.of(key), format!("{key} is empty"));
            }
        }
    }

    /// The source of a fact, and one sentence that states it.
    fn source_and_doc(&mut self, places: &Places, source: &str, doc: &str) {
        self.filled(places, &[("source", source), ("doc", doc)]);
        if !source.is_empty() && !is_source(source) {
            self.problem(places.of("source"), format!("source {source:?} is not of the form \"2 §4.3\""));
        } else if let Some(what) = unknown_section(source).filter(|_| !source.is_empty()) {
            self.problem(places.of("source"), what);
        }
        if !doc.is_empty() && !doc.ends_with(['.', '?', '!']) {
            self.problem(places.of("doc"), "doc is not a sentence: it has no full stop at its end");
        }
        for number in mentioned_assumptions(doc) {
            self.assumption(places.of("doc"), number);
        }
    }

    /// An assumption that a row rests on.
    fn assumption(&mut self, place: Place, number: u16) {
        if !self.tables.assumptions.iter().any(|assumption| assumption.number == number) {
            self.problem(place, format!("assumption A{number:02} is not in assumptions.toml"));
        }
    }

    fn service(&mut self, service: &'t Service) {
        let info = &service.info;
        self.filled(&info.places, &[("name", &info.name), ("title", &info.title)]);
        self.source_and_doc(&info.places, &info.source, &info.doc);
        if info.name != info.places.row.file {
            let wanted = info.places.row.file;
            self.problem(info.places.of("name"), format!("name is {:?} in the table of {wanted:?}", info.name));
        }
        if !(info.prefix.starts_with('/') && info.prefix.ends_with('/')) {
            self.problem(info.places.of("prefix"), "prefix must begin and end with a slash");
        }
        if !matches!(info.version, 3 | 5) {
            self.problem(info.places.of("version"), "version must be 3 or 5");
        } else if (info.version == 3) != info.prefix.starts_with("/v3/") {
            self.problem(info.places.of("prefix"), "the paths of version 3 begin with /v3/, and no others do");
        }
        for method in &service.methods {
            self.method(info.version, method);
        }
    }

    fn method(&mut self, version: u8, method: &'t Method) {
        let places = &method.places;
        let texts = [
            ("name", method.name.as_str()),
            ("rust", &method.rust),
            ("title", &method.title),
            ("retry_why", &method.retry_why),
        ];
        self.filled(places, &texts);
        self.source_and_doc(places, &method.source, &method.doc);
        if !method.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            let what = format!("{:?} is a part of the path: it holds letters, digits and _ only", method.name);
            self.problem(places.of("name"), what);
        }
        if method.retry_why.ends_with('.') {
            self.problem(places.of("retry_why"), "retry_why is a clause: it has no full stop at its end");
        }
        if (version == 5) != (method.credentials == Credentials::Enterprise) {
            self.problem(places.of("credentials"), format!("these credentials do not belong to version {version}"));
        }
        let has_key =
            || self.tables.flatten(&method.fields).iter().any(|field| field.required && field.wire == SESSION_KEY);
        if method.credentials == Credentials::Session && !self.is_endless() && !has_key() {
            let what =
                format!("a request of a session has no other credentials than {SESSION_KEY}, so that is required");
            self.problem(places.of("credentials"), what);
        }
        if method.reply.is_empty() {
            if method.credentials != Credentials::Session {
                self.problem(places.of("reply"), "reply is empty, though no browser gets it");
            }
        } else {
            self.record_name(places.of("reply"), &method.reply);
        }
        let outcome = format!("Outcome<{}>", method.reply);
        match &method.output {
            Some(output) if *output != outcome => {
                self.problem(places.of("output"), format!("output must be {outcome:?} or left out"));
            }
            None if self.tables.methods().any(|(_, other)| other.output.as_ref() == Some(&outcome)) => {
                let reply = &method.reply;
                self.problem(
                    places.of("reply"),
                    format!("a reply of {reply} is an outcome, so it needs output = {outcome:?}"),
                );
            }
            _ => {}
        }
        self.retry(method);
        self.rows(&method.fields, false);
        self.wire_names(places.row, &method.fields);
    }

    fn group(&mut self, group: &'t Group) {
        self.filled(&group.places, &[("name", &group.name), ("rust", &group.rust)]);
        self.source_and_doc(&group.places, &group.source, &group.doc);
        let uses: Vec<&GroupRow> = self.tables.group_rows().filter(|row| row.group == group.name).collect();
        if uses.is_empty() && !group.name.is_empty() {
            self.problem(group.places.row, format!("group {:?} is used nowhere", group.name));
        }
        if uses.iter().any(|row| row.inline != uses[0].inline) || uses.iter().any(|row| row.repeat != uses[0].repeat) {
            self.problem(group.places.row, "the rows that use the group disagree about inline or repeat");
        }
        if self.reaches(group, &group.name, 0) {
            self.problem(group.places.row, "the group holds itself");
        }
        self.rows(&group.fields, uses.iter().any(|row| row.repeat));
    }

    /// The rows of a method or group; `repeated` when they belong to items that are numbered.
    fn rows(&mut self, rows: &'t [Row], repeated: bool) {
        for row in rows {
            match row {
                Row::Field(field) => self.field(field, repeated),
                Row::Group(row) if repeated => {
                    self.problem(row.places.row, "a group that repeats holds fields only");
                }
                Row::Group(row) => self.group_row(row),
            }
        }
        self.rust_names(rows);
    }

    fn group_row(&mut self, row: &GroupRow) {
        let Some(group) = self.tables.group(&row.group) else {
            let names = self.tables.groups.iter().map(|group| group.name.as_str());
            let hint = allowed(&row.group, names);
            return self.problem(row.places.of("group"), format!("group {:?} is not in groups.toml{hint}", row.group));
        };
        if row.inline && (row.repeat || row.required || row.rust.is_some()) {
            self.problem(row.places.row, "inline goes with none of repeat, required and rust");
        }
        if row.repeat && row.required {
            self.problem(row.places.of("required"), "a group that repeats may always be empty");
        }
        let needs = group.fields.iter().any(Row::is_required);
        if needs && !(row.required || row.repeat || row.inline) {
            let what = format!("group {:?} has required fields, so it needs required = true", row.group);
            self.problem(row.places.row, what);
        }
    }

    /// Whether a group contains itself, so that its fields cannot be listed.
    fn is_endless(&self) -> bool {
        self.tables.groups.iter().any(|group| self.reaches(group, &group.name, 0))
    }

    /// Whether a group contains the named one, directly or in its groups.
    fn reaches(&self, group: &Group, name: &str, depth: usize) -> bool {
        group.fields.iter().any(|row| match row {
            Row::Group(row) if row.group == name => true,
            Row::Group(row) if depth < self.tables.groups.len() => {
                self.tables.group(&row.group).is_some_and(|inner| self.reaches(inner, name, depth + 1))
            }
            _ => false,
        })
    }

    fn record_name(&mut self, place: Place, name: &str) {
        if self.tables.record(name).is_none() {
            let hint = allowed(name, self.tables.records.iter().map(|record| record.name.as_str()));
            self.problem(place, format!("record {name:?} is not in records.toml{hint}"));
        }
    }

    fn type_name(&mut self, place: Place, name: &str) {
        if !name.is_empty() && !self.types.contains(name) {
            let hint = allowed(name, self.types.iter().copied());
            self.problem(place, format!("type {name:?} is in none of types.toml and codes.toml{hint}"));
        }
    }
}

impl Row {
    /// Whether the constructor of the struct requires the row.
    fn is_required(&self) -> bool {
        match self {
            Self::Field(field) => field.required,
            Self::Group(row) => row.required,
        }
    }
}

/// Whether a text is a document's number and a section, such as `2 §4.3`.
fn is_source(source: &str) -> bool {
    source.split_once(" §").is_some_and(|(document, section)| {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        matches!(document, "1" | "2" | "3") && section.split('.').all(digits)
    })
}

/// The numbers of `A21` and the like in a text.
pub(super) fn mentioned_assumptions(text: &str) -> Vec<u16> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| word.strip_prefix('A'))
        .filter(|digits| (2..=3).contains(&digits.len()))
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// Every numbered heading of the three documents, to find sources that do not exist: made from the documents and not from the tables; a section that they gain is added here.
const SECTIONS: [(&str, &str); 3] = [
    ("1", "1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6 7 8 9"),
    ("2", "1 1.1 1.2 2 2.1 2.2 2.3 2.4 2.5 2.6 3 3.1 3.2 3.3 4 4.1 4.2 4.3 4.4 5 6 7 8 9"),
    ("3", "1 2 2.1 2.2 2.3 2.4 3 3.1 3.2 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6 7 8 9"),
];

/// The error in a source such as `2 §4.3`, if the section does not exist.
fn unknown_section(source: &str) -> Option<String> {
    let all: Vec<String> = SECTIONS
        .iter()
        .flat_map(|(document, sections)| sections.split(' ').map(move |section| format!("{document} §{section}")))
        .collect();
    if all.iter().any(|known| known == source) {
        return None;
    }
    let hint = allowed(source, all.iter().map(String::as_str));
    Some(format!("source {source:?} is in none of the documents{hint}"))
}
