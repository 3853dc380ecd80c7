//! The content of the table files.

mod rows;

use std::{fs, path::Path};

pub(super) use self::rows::{Cell, FromRow, rows};
use super::{
    names::snake,
    place::{Place, Problems},
    reading::{self, Row as Source},
};

/// All tables of the project.
#[derive(Default)]
pub(super) struct Tables {
    /// Services in the order of the documents.
    pub(super) services: Vec<Service>,
    pub(super) groups: Vec<Group>,
    pub(super) records: Vec<Record>,
    pub(super) codes: Vec<CodeTable>,
    pub(super) types: Vec<Newtype>,
    pub(super) currencies: Vec<Currency>,
    pub(super) assumptions: Vec<Assumption>,
}

/// One file of methods.
pub(super) struct Service {
    pub(super) info: ServiceInfo,
    pub(super) methods: Vec<Method>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Credentials {
    Signed,
    Session,
    Enterprise,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    Safe,
    LookupFirst,
    Never,
}

/// A row of a method or a group: a group, or a field.
pub(super) enum Row {
    Group(GroupRow),
    Field(Box<Field>),
}

/// What a writer does with a field that is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    Keep,
    Omit,
}

rows! {
    ServiceInfo {
        name: String,
        title: String,
        prefix: String,
        version: u8,
        source: String,
        doc: String,
    }

    Method {
        name: String,
        rust: String,
        title: String,
        source: String,
        doc: String,
        credentials: Credentials,
        reply: String,
        output: Option<String>,
        retry: Retry,
        retry_why: String,
        cross: bool,
        fields: Vec<Row>,
    }

    GroupRow {
        group: String,
        rust: Option<String>,
        required: bool,
        repeat: bool,
        inline: bool,
    }

    Field {
        wire: String = |row: &Source<'_>| row.maybe_text("wire").unwrap_or_default(),
        prefix: Option<String>,
        rust: Option<String>,
        kind as "type": String,
        format: String,
        length: Option<String>,
        range: Option<String>,
        required: bool,
        sensitive: bool,
        default: Option<String>,
        values: Vec<String>,
        spec: Option<String>,
        aliases: Vec<String>,
        source: String,
        doc: String,
    }

    Group {
        name: String,
        rust: String,
        source: String,
        doc: String,
        fields: Vec<Row>,
    }

    Record {
        name: String,
        source: String,
        doc: String,
        empty: Empty,
        essential: Vec<String>,
        fields: Vec<Part>,
    }

    /// A field of a reply: exactly one of `type`, `record`, `list`, `map` and `prefix` says which kind.
    Part {
        wire: String = |row: &Source<'_>| row.maybe_text("wire").unwrap_or_default(),
        rust: Option<String>,
        kind as "type": Option<String>,
        record: Option<String>,
        list: Option<String>,
        item: Option<String>,
        map: Option<String>,
        prefix: Option<String>,
        json: Option<String>,
        /// Where the field differs from its record.
        empty: Option<Empty>,
        /// The field beside which this field is written, even without a value.
        beside: Option<String>,
        assumption: Option<u16>,
        aliases: Vec<String>,
        source: String,
        doc: String,
    }

    CodeTable {
        name: String,
        source: String,
        doc: String,
        codes: Vec<Code>,
    }

    Code {
        code: String,
        name: String,
        message: String,
        remedy: Option<String>,
        http: Option<u16>,
        assumption: Option<u16>,
        /// The scope of the code, for the sandbox's dialect.
        scope: Option<String>,
        source: String,
        doc: String,
    }

    Newtype {
        name: String,
        source: String,
        doc: String,
    }

    Currency {
        code: String,
        exponent: u8,
        name: String,
    }

    Assumption {
        number: u16,
        area: String,
        title: String,
        open: String,
        chosen: String,
        why: String,
        change: String,
        /// What to ask the operator, where no request can tell, or only a payment.
        question: Option<String>,
        /// What depends on the answer.
        depends: Option<String>,
        /// Where the answer goes: the entry of a dialect or the setting of a client, in backticks, or `Nowhere` and why.
        answer: Option<String>,
    }
}

/// Files of methods, in the order of the documents.
const SERVICES: [&str; 4] = ["token", "session", "transaction", "enterprise"];
/// The other files.
const LISTS: [&str; 6] = ["groups", "records", "codes", "types", "currencies", "assumptions"];

/// Reads all tables, and records mistakes in their structure: keys that are misspelt, missing or of the wrong type.
///
/// Returns `None` if a file is missing or not TOML, since all references to it would seem wrong.
pub(super) fn load(folder: &Path, problems: &mut Problems) -> Option<Tables> {
    let mut tables = Some(Tables::default());
    for name in SERVICES.into_iter().chain(LISTS) {
        let whole = read(folder, name, problems).and_then(|text| {
            let tables = tables.as_mut()?;
            reading::file(name, &text, problems, |root| tables.take_in(name, root))
        });
        if whole.is_none() {
            tables = None;
        }
    }
    strangers(folder, problems);
    tables
}

fn read(folder: &Path, name: &'static str, problems: &mut Problems) -> Option<String> {
    let text = fs::read_to_string(folder.join(format!("{name}.toml")));
    text.map_err(|error| problems.push(Place { file: name, line: 1, column: 1 }, format!("cannot be read: {error}")))
        .ok()
}

/// Reports unknown files: otherwise a misspelt name would look like an empty table.
fn strangers(folder: &Path, problems: &mut Problems) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let known = path.extension().is_some_and(|ending| ending == "toml")
            && SERVICES.iter().chain(&LISTS).any(|name| *name == stem);
        if !known {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            problems.push(Place::default(), format!("{name} is none of the tables"));
        }
    }
}

impl Tables {
    fn take_in(&mut self, file: &str, root: &Source<'_>) {
        match file {
            "groups" => self.groups = Cell::read(root, "group"),
            "records" => self.records = Cell::read(root, "record"),
            "codes" => self.codes = Cell::read(root, "table"),
            "types" => self.types = Cell::read(root, "type"),
            "currencies" => self.currencies = Cell::read(root, "currencies"),
            "assumptions" => self.assumptions = Cell::read(root, "assumption"),
            _ => self.services.extend(Service::read(root)),
        }
    }

    /// The group of that name.
    pub(super) fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// The record of that name.
    pub(super) fn record(&self, name: &str) -> Option<&Record> {
        self.records.iter().find(|record| record.name == name)
    }

    /// The code table of that name.
    pub(super) fn code_table(&self, name: &str) -> Option<&CodeTable> {
        self.codes.iter().find(|table| table.name == name)
    }

    /// The methods of all services, in the order of the documents.
    pub(super) fn methods(&self) -> impl Iterator<Item = (&Service, &Method)> {
        self.services.iter().flat_map(|service| service.methods.iter().map(move |method| (service, method)))
    }

    /// Every row that names a group.
    pub(super) fn group_rows(&self) -> impl Iterator<Item = &GroupRow> {
        let of_methods = self.methods().flat_map(|(_, method)| &method.fields);
        let of_groups = self.groups.iter().flat_map(|group| &group.fields);
        of_methods.chain(of_groups).filter_map(|row| match row {
            Row::Group(row) => Some(row),
            Row::Field(_) => None,
        })
    }

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
}

impl CodeTable {
    /// Whether its codes are invented by the sandbox, and not in the documents.
    pub(super) fn is_invented(&self) -> bool {
        self.name.starts_with("Sandbox")
    }
}

impl Code {
    /// The situation of a code of the sandbox, by which dialects name it.
    pub(super) fn situation(&self) -> String {
        self.name.to_ascii_lowercase().replace('_', "-")
    }
}

impl Field {
    pub(super) fn rust_name(&self) -> String {
        self.rust.clone().unwrap_or_else(|| snake(&self.wire))
    }

    /// Its name on the wire; an open one ends in `*`.
    pub(super) fn name(&self) -> String {
        self.prefix.as_ref().map_or_else(|| self.wire.clone(), |prefix| format!("{prefix}*"))
    }

    /// Its place in the order of names: lower case, up to the part that varies.
    pub(super) fn order_key(&self) -> String {
        let name = self.prefix.as_deref().unwrap_or(&self.wire);
        name.split("{n}").next().unwrap_or_default().to_ascii_lowercase()
    }

    /// Whether it has several names.
    pub(super) fn is_open(&self) -> bool {
        self.prefix.is_some() || self.wire.contains("{n}")
    }
}

impl Part {
    pub(super) fn rust_name(&self) -> String {
        self.rust.clone().unwrap_or_else(|| snake(self.prefix.as_deref().unwrap_or(&self.wire)))
    }

    /// Its name on the wire; an open one ends in `*`.
    pub(super) fn name(&self) -> String {
        self.prefix.as_ref().map_or_else(|| self.wire.clone(), |prefix| format!("{prefix}*"))
    }
}
