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
         record_traits! {{\n    {name}{missing};\n{rows}}}\n",
        doc = record.doc,
        source = record.source,
        name = record.name,
        missing = missing(record),
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
        return format!("    name if name.starts_with({}) => named {name},\n", literal(prefix));
    }
    let names: Vec<String> = std::iter::once(&part.wire).chain(&part.aliases).map(|name| literal(name)).collect();
    format!("    {} => {},\n", names.join(" | "), kind(record, part, &name))
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

/// The function that returns the first missing required field, also of a record within the record, as an argument.
fn missing(record: &Record) -> String {
    let missing = |part: &Part| {
        let name = part.rust_name();
        let wire = literal(&part.wire);
        match &part.record {
            Some(_) => format!("(record.{name} == Default::default()).then_some({wire})"),
            None => format!("record.{name}.is_empty().then_some({wire})"),
        }
    };
    let essential = record.fields.iter().filter(|part| record.essential.contains(&part.wire));
    let essential: Vec<String> = essential
        .map(|part| match &part.record {
            // A record within the record has required fields of its own.
            Some(_) if part.list.is_none() => {
                format!("{}.or_else(|| record.{}.missing())", missing(part), part.rust_name())
            }
            _ => missing(part),
        })
        .collect();
    match (&essential[..], &record.fields[..]) {
        ([first, others @ ..], _) => {
            let others: String = others.iter().map(|other| format!(".or_else(|| {other})")).collect();
            format!(", |record| {first}{others}")
        }
        // The body of an empty one must name the list, which the reader checks: a proxy's own JSON must not read as "nothing
        // found".
        ([], [part]) if part.list.is_some() => format!(", |record| {}", missing(part)),
        _ => String::new(),
    }
}
