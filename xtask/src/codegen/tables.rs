//! The content of the table files.

mod rows;

use std::{fs, path::Path};

use super::{
    names::snake,
    place::{Place, Places, Problems},
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

pub(super) struct ServiceInfo {
    pub(super) places: Places,
    pub(super) name: String,
    pub(super) title: String,
    pub(super) prefix: String,
    pub(super) version: u8,
    pub(super) source: String,
    pub(super) doc: String,
}

pub(super) struct Method {
    pub(super) places: Places,
    pub(super) name: String,
    pub(super) rust: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) doc: String,
    pub(super) credentials: Credentials,
    pub(super) reply: String,
    pub(super) output: Option<String>,
    pub(super) retry: Retry,
    pub(super) retry_why: String,
    pub(super) cross: bool,
    pub(super) fields: Vec<Row>,
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

pub(super) struct GroupRow {
    pub(super) places: Places,
    pub(super) group: String,
    pub(super) rust: Option<String>,
    pub(super) required: bool,
    pub(super) repeat: bool,
    pub(super) inline: bool,
}

pub(super) struct Field {
    pub(super) places: Places,
    pub(super) wire: String,
    pub(super) prefix: Option<String>,
    pub(super) rust: Option<String>,
    pub(super) kind: String,
    pub(super) format: String,
    pub(super) length: Option<String>,
    pub(super) range: Option<String>,
    pub(super) required: bool,
    pub(super) sensitive: bool,
    pub(super) default: Option<String>,
    pub(super) values: Vec<String>,
    pub(super) spec: Option<String>,
    pub(super) aliases: Vec<String>,
    pub(super) source: String,
    pub(super) doc: String,
}

pub(super) struct Group {
    pub(super) places: Places,
    pub(super) name: String,
    pub(super) rust: String,
    pub(super) source: String,
    pub(super) doc: String,
    pub(super) fields: Vec<Row>,
}

pub(super) struct Record {
    pub(super) places: Places,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) doc: String,
    pub(super) empty: Empty,
    pub(super) essential: Vec<String>,
    pub(super) fields: Vec<Part>,
}

/// What a writer does with a field that is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    Keep,
    Omit,
}

/// A field of a reply: exactly one of `type`, `record`, `list`, `map` and `prefix` says which kind.
pub(super) struct Part {
    pub(super) places: Places,
    pub(super) wire: String,
    pub(super) rust: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) record: Option<String>,
    pub(super) list: Option<String>,
    pub(super) item: Option<String>,
    pub(super) map: Option<String>,
    pub(super) prefix: Option<String>,
    pub(super) json: Option<String>,
    /// Where the field differs from its record.
    pub(super) empty: Option<Empty>,
    /// The field beside which this one is written, also without a value.
    pub(super) beside: Option<String>,
    pub(super) assumption: Option<u16>,
    pub(super) aliases: Vec<String>,
    pub(super) source: String,
    pub(super) doc: String,
}

pub(super) struct CodeTable {
    pub(super) places: Places,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) doc: String,
    pub(super) codes: Vec<Code>,
}

pub(super) struct Code {
    pub(super) places: Places,
    pub(super) code: String,
    pub(super) name: String,
    pub(super) message: String,
    pub(super) remedy: Option<String>,
    pub(super) http: Option<u16>,
    pub(super) assumption: Option<u16>,
    /// The scope of the code, for the sandbox's dialect.
    pub(super) scope: Option<String>,
    pub(super) source: String,
    pub(super) doc: String,
}

pub(super) struct Newtype {
    pub(super) places: Places,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) doc: String,
}

pub(super) struct Currency {
    pub(super) places: Places,
    pub(super) code: String,
    pub(super) exponent: u8,
    pub(super) name: String,
}

pub(super) struct Assumption {
    pub(super) places: Places,
    pub(super) number: u16,
    pub(super) area: String,
    pub(super) title: String,
    pub(super) open: String,
    pub(super) chosen: String,
    pub(super) why: String,
    pub(super) change: String,
    /// What to ask the operator, where no request can tell, or only a payment.
    pub(super) question: Option<String>,
    /// What depends on the answer.
    pub(super) depends: Option<String>,
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
            "groups" => self.groups = root.rows("group", Group::read),
            "records" => self.records = root.rows("record", Record::read),
            "codes" => self.codes = root.rows("table", CodeTable::read),
            "types" => self.types = root.rows("type", Newtype::read),
            "currencies" => self.currencies = root.rows("currencies", Currency::read),
            "assumptions" => self.assumptions = root.rows("assumption", Assumption::read),
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
