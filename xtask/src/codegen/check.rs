//! Checks that no parser makes: that names are known, used once, and that every fact has its source.

use std::collections::BTreeSet;

use anyhow::bail;

use super::tables::{Field, Part, Row, Tables};

/// The formats that fields may have, as `Format` variants.
pub(super) const FORMATS: &[(&str, &str)] = &[
    ("text", "Text"),
    ("alphanumeric", "Alphanumeric"),
    ("digits", "Digits"),
    ("integer", "Integer"),
    ("minor", "Minor"),
    ("decimal", "Decimal"),
    ("url", "Url"),
    ("currency", "Currency"),
    ("country", "Country"),
    ("month", "Month"),
    ("year", "Year"),
    ("year2", "Year2"),
    ("expiry", "Expiry"),
    ("date-ymd", "DateYmd"),
    ("date-dmy", "DateDmy"),
    ("unix-time", "UnixTime"),
    ("card-number", "CardNumber"),
    ("cv2", "Cv2"),
    ("one-of", "OneOf"),
    ("flag", "Flag"),
    ("card-keys", "CardKeys"),
    ("msisdn", "Msisdn"),
    ("phone", "Phone"),
    ("email", "Email"),
];

/// Types that are written by hand.
const HAND_WRITTEN: &[&str] = &["String", "u64", "i64", "Currency", "Decimal", "CardNumber", "Cv2", "Vec<CardKey>"];

/// Longest wire name of a field, so that a numbered name fits its buffer.
const NAME_LIMIT: usize = 40;

/// # Errors
/// Every mistake of the tables, one a line.
pub(super) fn check(tables: &Tables) -> anyhow::Result<()> {
    let mut checker = Checker::new(tables);
    for service in &tables.services {
        for method in &service.methods {
            let place = format!("{}.toml: {}", service.info.name, method.name);
            checker.source(&place, &method.source);
            checker.rows(&place, &method.fields);
            checker.unique(&place, &tables.flatten(&method.fields));
            if !method.reply.is_empty() && !checker.records.contains(method.reply.as_str()) {
                checker.problem(&place, &format!("reply {:?} is no record of records.toml", method.reply));
            }
        }
    }
    for group in &tables.groups {
        let place = format!("groups.toml: {}", group.name);
        checker.source(&place, &group.source);
        checker.rows(&place, &group.fields);
    }
    for record in &tables.records {
        let place = format!("records.toml: {}", record.name);
        checker.source(&place, &record.source);
        for part in &record.fields {
            checker.part(&place, part);
        }
        for essential in &record.essential {
            if !record.fields.iter().any(|part| part.wire == *essential) {
                checker.problem(&place, &format!("essential {essential:?} is none of its fields"));
            }
        }
    }
    for table in &tables.codes {
        for code in &table.codes {
            let place = format!("codes.toml: {} {}", table.name, code.code);
            checker.source(&place, &code.source);
            if let Some(number) = code.assumption
                && !tables.assumptions.iter().any(|assumption| assumption.number == number)
            {
                checker.problem(&place, &format!("assumption {number} is not in assumptions.toml"));
            }
        }
    }
    if checker.problems.is_empty() { Ok(()) } else { bail!("{}", checker.problems.join("\n")) }
}

struct Checker<'t> {
    types: BTreeSet<&'t str>,
    groups: BTreeSet<&'t str>,
    records: BTreeSet<&'t str>,
    problems: Vec<String>,
}

impl<'t> Checker<'t> {
    fn new(tables: &'t Tables) -> Self {
        let named = tables.types.iter().map(|newtype| newtype.name.as_str());
        let coded = tables.codes.iter().map(|table| table.name.as_str());
        Self {
            types: named.chain(coded).chain(HAND_WRITTEN.iter().copied()).collect(),
            groups: tables.groups.iter().map(|group| group.name.as_str()).collect(),
            records: tables.records.iter().map(|record| record.name.as_str()).collect(),
            problems: Vec::new(),
        }
    }

    fn problem(&mut self, place: &str, what: &str) {
        self.problems.push(format!("{place}: {what}"));
    }

    /// A source is a document's number and a section, such as `2 §4.3`.
    fn source(&mut self, place: &str, source: &str) {
        let fits = source.split_once(" §").is_some_and(|(document, section)| {
            matches!(document, "1" | "2" | "3") && section.starts_with(|c: char| c.is_ascii_digit())
        });
        if !fits {
            self.problem(place, &format!("source {source:?} is not of the form \"2 §4.3\""));
        }
    }

    fn rows(&mut self, place: &str, rows: &[Row]) {
        for row in rows {
            match row {
                Row::Group(row) if !self.groups.contains(row.group.as_str()) => {
                    self.problem(place, &format!("group {:?} is not in groups.toml", row.group));
                }
                Row::Group(_) => {}
                Row::Field(field) => self.field(&format!("{place}: {}", field.name()), field),
            }
        }
    }

    fn field(&mut self, place: &str, field: &Field) {
        self.source(place, &field.source);
        if field.wire.is_empty() == field.prefix.is_none() {
            self.problem(place, "needs either a wire name or a prefix");
        }
        if field.name().len() > NAME_LIMIT {
            self.problem(place, &format!("its name is longer than {NAME_LIMIT} characters"));
        }
        if !self.types.contains(field.kind.as_str()) {
            self.problem(place, &format!("type {:?} is in none of types.toml and codes.toml", field.kind));
        }
        if !FORMATS.iter().any(|(name, _)| *name == field.format) {
            self.problem(place, &format!("format {:?} is not known", field.format));
        }
        if (field.format == "one-of") == field.values.is_empty() {
            self.problem(place, "values go with format one-of, and only with it");
        }
        if field.length.as_deref().is_some_and(|length| bounds(length).is_none()) {
            self.problem(place, "length must be \"32\", \"..50\" or \"3..4\"");
        }
        if field.range.as_deref().is_some_and(|range| range_bounds(range).is_none()) {
            self.problem(place, "range must be two whole numbers such as \"-1..127\"");
        }
        if !field.doc.ends_with('.') {
            self.problem(place, "its doc is no sentence with a full stop");
        }
    }

    fn part(&mut self, place: &str, part: &Part) {
        let place = format!("{place}: {}", part.prefix.as_deref().unwrap_or(&part.wire));
        self.source(&place, &part.source);
        let kinds = [&part.kind, &part.record, &part.list, &part.map, &part.prefix];
        if kinds.iter().filter(|kind| kind.is_some()).count() != 1 {
            self.problem(&place, "needs exactly one of type, record, list, map and prefix");
        }
        for record in [&part.record, &part.list, &part.map].into_iter().flatten() {
            if !self.records.contains(record.as_str()) {
                self.problem(&place, &format!("record {record:?} is not in records.toml"));
            }
        }
        if let Some(kind) = part.kind.as_deref().filter(|kind| !self.types.contains(kind)) {
            self.problem(&place, &format!("type {kind:?} is in none of types.toml and codes.toml"));
        }
    }

    /// No two fields of one request may share a name, nor may a name begin like a numbered or open one.
    fn unique(&mut self, place: &str, fields: &[&Field]) {
        for (at, field) in fields.iter().enumerate() {
            for other in &fields[at + 1..] {
                if field.order_key() == other.order_key() {
                    self.problem(place, &format!("{} stands twice", field.name()));
                }
                for (open, closed) in [(field, other), (other, field)] {
                    if open.is_open() && closed.order_key().starts_with(&open.order_key()) {
                        self.problem(place, &format!("{} can be taken for {}", closed.name(), open.name()));
                    }
                }
            }
        }
    }
}

/// The bounds of a length, in characters.
pub(super) fn bounds(length: &str) -> Option<(u16, u16)> {
    match length.split_once("..") {
        None => length.parse().ok().map(|exact| (exact, exact)),
        Some(("", most)) => most.parse().ok().map(|most| (0, most)),
        Some((least, most)) => Some((least.parse().ok()?, most.parse().ok()?)),
    }
}

/// The bounds of a number.
pub(super) fn range_bounds(range: &str) -> Option<(i64, i64)> {
    let (least, most) = range.split_once("..")?;
    Some((least.parse().ok()?, most.parse().ok()?))
}

impl Field {
    /// Its name on the wire; an open one ends in `*`.
    pub(super) fn name(&self) -> String {
        self.prefix.as_ref().map_or_else(|| self.wire.clone(), |prefix| format!("{prefix}*"))
    }

    /// Its place in the order of names: lower case, up to the part that varies.
    pub(super) fn order_key(&self) -> String {
        let name = self.prefix.as_deref().unwrap_or(&self.wire);
        name.split("{n}").next().unwrap_or_default().to_ascii_lowercase()
    }

    /// Whether it stands for several names.
    pub(super) fn is_open(&self) -> bool {
        self.prefix.is_some() || self.wire.contains("{n}")
    }
}

impl Tables {
    /// All fields of these rows and of their groups.
    pub(super) fn flatten<'t>(&'t self, rows: &'t [Row]) -> Vec<&'t Field> {
        let mut fields = Vec::new();
        for row in rows {
            match row {
                Row::Field(field) => fields.push(&**field),
                Row::Group(row) => {
                    if let Some(group) = self.group(&row.group) {
                        fields.extend(self.flatten(&group.fields));
                    }
                }
            }
        }
        fields
    }

    /// The group of that name.
    pub(super) fn group(&self, name: &str) -> Option<&super::tables::Group> {
        self.groups.iter().find(|group| group.name == name)
    }
}
