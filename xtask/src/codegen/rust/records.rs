//! Replies and their parts: one file a record.

use super::{
    super::{
        names::literal,
        tables::{Empty, Part, Record, Tables},
    },
    PRELUDE, Unit,
};

pub(super) fn generate(tables: &Tables) -> Vec<Unit> {
    tables.records.iter().map(|record| Unit { name: record.name.clone(), code: code(record) }).collect()
}

fn code(record: &Record) -> String {
    let fields: String = record.fields.iter().map(declaration).collect();
    let rows: String = record.fields.iter().map(|part| row(record, part)).collect();
    format!(
        "{PRELUDE}/// {doc} (spec {source})\n#[derive(Clone, Default, PartialEq, Eq)]\n#[non_exhaustive]\npub struct {name} {{\n{fields}\
         /// Fields that the service sent and the tables do not list.\npub extra: Extra,\n}}\n\n\
         record_traits!({name});\n\n\
         {debug}\
         impl Record for {name} {{\n    record_fields! {{\n{rows}    }}\n{missing}}}\n",
        doc = record.doc,
        source = record.source,
        name = record.name,
        debug = debug(record),
        missing = missing(record),
    )
}

/// `Debug` masks card numbers in texts; types of their own do so themselves.
fn debug(record: &Record) -> String {
    let field = |part: &Part| {
        let name = part.rust_name();
        let is_text = part.kind.as_deref() == Some("String");
        let value = if is_text { format!("mask::masked(&self.{name})") } else { format!("self.{name}") };
        format!(".field({}, &{value})", literal(&name))
    };
    let fields: String = record.fields.iter().map(field).collect();
    format!(
        "impl fmt::Debug for {name} {{\nfn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {{\n\
         f.debug_struct({literal}){fields}.field(\"extra\", &self.extra).finish()\n}}\n}}\n\n",
        name = record.name,
        literal = literal(&record.name),
    )
}

fn declaration(part: &Part) -> String {
    let kind = match (&part.kind, &part.record, &part.list, &part.map) {
        (Some(kind), ..) => kind.clone(),
        (_, Some(record), ..) => record.clone(),
        (_, _, Some(list), _) => format!("Vec<{list}>"),
        (_, _, _, Some(map)) => format!("Keyed<{map}>"),
        _ => "Named".to_owned(),
    };
    let wire = part.prefix.as_ref().map_or_else(|| part.wire.clone(), |prefix| format!("{prefix}*"));
    let basis = part.assumption.map_or_else(String::new, |number| format!(", assumption A{number:02}"));
    format!("/// {} `{wire}` (spec {}{basis}).\npub {}: {kind},\n", part.doc, part.source, part.rust_name())
}

/// The row of a field: its names on the wire, its kind, and what else the kind needs. rustfmt leaves it alone.
fn row(record: &Record, part: &Part) -> String {
    let name = part.rust_name();
    if let Some(prefix) = &part.prefix {
        return format!("        name if name.starts_with({}) => named {name},\n", literal(prefix));
    }
    let names: Vec<String> = std::iter::once(&part.wire).chain(&part.aliases).map(|name| literal(name)).collect();
    format!("        {} => {},\n", names.join(" | "), kind(record, part, &name))
}

fn kind(record: &Record, part: &Part, name: &str) -> String {
    if let Some(other) = record.fields.iter().find(|field| part.beside.as_ref() == Some(&field.wire)) {
        return format!("beside {name} ({})", other.rust_name());
    }
    if part.map.is_some() {
        return format!("map {name}");
    }
    let filled = if part.empty.unwrap_or(record.empty) == Empty::Keep { "" } else { "filled_" };
    if part.record.is_some() {
        return format!("{filled}record {name}");
    }
    if part.list.is_some() {
        let shape = if part.json.as_deref() == Some("indexed") { "Indexed" } else { "Array" };
        return format!("{filled}list {name} ({} {shape})", literal(part.item.as_deref().unwrap_or("item")));
    }
    match (part.json.as_deref() == Some("number"), filled) {
        (true, _) => format!("{filled}number {name}"),
        (false, "") => format!("text {name}"),
        (false, _) => format!("filled {name}"),
    }
}

fn missing(record: &Record) -> String {
    let essential: Vec<String> = record
        .fields
        .iter()
        .filter(|part| record.essential.contains(&part.wire))
        .map(|part| {
            let name = part.rust_name();
            let empty = if part.record.is_some() {
                format!("(self.{name} == Default::default())")
            } else {
                format!("self.{name}.is_empty()")
            };
            format!("{empty}.then_some({})", literal(&part.wire))
        })
        .collect();
    let missing = match &essential[..] {
        [] => return foreign(record),
        [first, others @ ..] => {
            first.clone() + &others.iter().map(|other| format!(".or_else(|| {other})")).collect::<String>()
        }
    };
    format!("\nfn missing(&self) -> Option<&'static str> {{\n{missing}\n}}\n")
}

/// A reply that is only a list may be empty, but then it holds nothing else either: a proxy's own JSON must not read as
/// "nothing found".
fn foreign(record: &Record) -> String {
    let [part] = &record.fields[..] else { return String::new() };
    if part.list.is_none() {
        return String::new();
    }
    format!(
        "\nfn missing(&self) -> Option<&'static str> {{\n(self.{}.is_empty() && !self.extra.is_empty()).then_some({})\n}}\n",
        part.rust_name(),
        literal(&part.wire)
    )
}
