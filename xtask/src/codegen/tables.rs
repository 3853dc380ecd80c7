//! The tables as they stand in the files.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, bail};
use serde::{Deserialize, de::DeserializeOwned};

/// All tables of the project.
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
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Service {
    #[serde(rename = "service")]
    pub(super) info: ServiceInfo,
    #[serde(rename = "method")]
    pub(super) methods: Vec<Method>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceInfo {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) prefix: String,
    pub(super) version: u8,
    pub(super) source: String,
    pub(super) doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Method {
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
    #[serde(default)]
    pub(super) cross: bool,
    pub(super) fields: Vec<Row>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Credentials {
    Signed,
    Session,
    Enterprise,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Retry {
    Safe,
    LookupFirst,
    Never,
}

/// A row of a method or a group: a group, or a field.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Row {
    Group(GroupRow),
    Field(Box<Field>),
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupRow {
    pub(super) group: String,
    pub(super) rust: Option<String>,
    #[serde(default)]
    pub(super) required: bool,
    #[serde(default)]
    pub(super) repeat: bool,
    #[serde(default)]
    pub(super) inline: bool,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Field {
    #[serde(default)]
    pub(super) wire: String,
    pub(super) prefix: Option<String>,
    pub(super) rust: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) format: String,
    pub(super) length: Option<String>,
    pub(super) range: Option<String>,
    #[serde(default)]
    pub(super) required: bool,
    #[serde(default)]
    pub(super) sensitive: bool,
    pub(super) default: Option<String>,
    #[serde(default)]
    pub(super) values: Vec<String>,
    pub(super) spec: Option<String>,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    pub(super) source: String,
    pub(super) doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) rust: String,
    pub(super) source: String,
    pub(super) doc: String,
    pub(super) fields: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) doc: String,
    pub(super) empty: Empty,
    #[serde(default)]
    pub(super) essential: Vec<String>,
    pub(super) fields: Vec<Part>,
}

/// What a writer does with a field that is empty.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Empty {
    Keep,
    Omit,
}

/// A field of a reply: exactly one of `type`, `record`, `list`, `map` and `prefix` says which kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Part {
    #[serde(default)]
    pub(super) wire: String,
    pub(super) rust: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) record: Option<String>,
    pub(super) list: Option<String>,
    pub(super) item: Option<String>,
    pub(super) map: Option<String>,
    pub(super) prefix: Option<String>,
    pub(super) json: Option<String>,
    pub(super) assumption: Option<u16>,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
    pub(super) source: String,
    pub(super) doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeTable {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) doc: String,
    pub(super) codes: Vec<Code>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Code {
    pub(super) code: String,
    pub(super) name: String,
    pub(super) message: String,
    pub(super) remedy: Option<String>,
    pub(super) http: Option<u16>,
    pub(super) assumption: Option<u16>,
    pub(super) source: String,
    pub(super) doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Newtype {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Currency {
    pub(super) code: String,
    pub(super) exponent: u8,
    pub(super) name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Assumption {
    pub(super) number: u16,
    pub(super) area: String,
    pub(super) title: String,
    pub(super) open: String,
    pub(super) chosen: String,
    pub(super) why: String,
    pub(super) change: String,
}

/// Files of methods, in the order of the documents.
const SERVICES: [&str; 4] = ["token", "session", "transaction", "enterprise"];

/// Reads all tables.
///
/// # Errors
/// When a file is missing, is no TOML, or has a key or a value that the tables do not know; says which file, line and
/// column.
pub(super) fn load(folder: &Path) -> anyhow::Result<Tables> {
    let mut problems = Vec::new();
    let services = SERVICES.iter().filter_map(|name| keep(read::<Service>(folder, name), &mut problems)).collect();
    let mut lists = Lists { folder, problems };
    let tables = Tables {
        services,
        groups: lists.read("groups", "group"),
        records: lists.read("records", "record"),
        codes: lists.read("codes", "table"),
        types: lists.read("types", "type"),
        currencies: lists.read("currencies", "currencies"),
        assumptions: lists.read("assumptions", "assumption"),
    };
    if !lists.problems.is_empty() {
        bail!("{}", lists.problems.join("\n"));
    }
    Ok(tables)
}

/// Files that hold one list.
struct Lists<'a> {
    folder: &'a Path,
    problems: Vec<String>,
}

impl Lists<'_> {
    fn read<T: DeserializeOwned>(&mut self, file: &str, key: &str) -> Vec<T> {
        let whole = read::<BTreeMap<String, Vec<T>>>(self.folder, file);
        keep(whole, &mut self.problems).and_then(|mut whole| whole.remove(key)).unwrap_or_default()
    }
}

fn keep<T>(result: anyhow::Result<T>, problems: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| problems.push(format!("{error:#}"))).ok()
}

fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> anyhow::Result<T> {
    let path = folder.join(format!("{name}.toml"));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{name}.toml"))
}
