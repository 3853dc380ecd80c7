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
    let slots: String = record.fields.iter().map(slot).collect();
    let writes: String = record.fields.iter().map(|part| write(record, part)).collect();
    let missing = missing(record);
    format!(
        "{PRELUDE}/// {doc} (spec {source})\n#[derive(Clone, Debug, Default, PartialEq, Eq)]\n#[non_exhaustive]\npub struct {name} {{\n{fields}\
         /// What the service sent and the tables do not know.\npub extra: Extra,\n}}\n\n\
         record_traits!({name});\n\n\
         impl Record for {name} {{\n\
         fn slot(&mut self, name: &str) -> Slot<'_> {{\n match name {{\n{slots} _ => Slot::Extra,\n }}\n }}\n\n\
         fn extra(&mut self) -> &mut Extra {{\n &mut self.extra\n }}\n\n\
         fn write(&self, out: &mut dyn RecordWriter) {{\n{writes}write::extra(out, &self.extra);\n}}\n\n{missing}}}\n",
        doc = record.doc,
        source = record.source,
        name = record.name,
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

fn slot(part: &Part) -> String {
    let name = part.rust_name();
    if let Some(prefix) = &part.prefix {
        return format!("name if name.starts_with({}) => Slot::Named(&mut self.{name}),\n", literal(prefix));
    }
    let variant = match (&part.record, &part.list, &part.map) {
        (Some(_), ..) => "Record",
        (_, Some(_), _) => "List",
        (_, _, Some(_)) => "Map",
        _ => "Text",
    };
    let names: Vec<String> = std::iter::once(&part.wire).chain(&part.aliases).map(|name| literal(name)).collect();
    format!("{} => Slot::{variant}(&mut self.{name}),\n", names.join(" | "))
}

fn write(record: &Record, part: &Part) -> String {
    let name = part.rust_name();
    let wire = literal(&part.wire);
    let keep = part.empty.unwrap_or(record.empty) == Empty::Keep;
    if let Some(other) = record.fields.iter().find(|field| part.beside.as_ref() == Some(&field.wire)) {
        return format!("write::beside(out, {wire}, &self.{name}, &self.{});\n", other.rust_name());
    }
    if part.prefix.is_some() {
        return format!("write::named(out, &self.{name});\n");
    }
    if part.record.is_some() {
        let line = format!("out.record({wire}, &self.{name});\n");
        return if keep { line } else { format!("if self.{name} != Default::default() {{ {line} }}\n") };
    }
    if part.list.is_some() {
        let shape = if part.json.as_deref() == Some("indexed") { "Indexed" } else { "Array" };
        let item = literal(part.item.as_deref().unwrap_or("item"));
        let line = format!("write::list(out, {wire}, {item}, ListShape::{shape}, &self.{name});\n");
        return if keep { line } else { format!("if !self.{name}.is_empty() {{ {line} }}\n") };
    }
    if part.map.is_some() {
        return format!("if !self.{name}.is_empty() {{ write::map(out, {wire}, &self.{name}); }}\n");
    }
    match (part.json.as_deref() == Some("number"), keep) {
        (true, true) => format!("out.number({wire}, self.{name}.text());\n"),
        (true, false) => format!("if !self.{name}.text().is_empty() {{ out.number({wire}, self.{name}.text()); }}\n"),
        (false, true) => format!("out.text({wire}, self.{name}.text());\n"),
        (false, false) => format!("write::filled(out, {wire}, &self.{name});\n"),
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
    match &essential[..] {
        [] => foreign(record),
        [first, others @ ..] => {
            let others: String = others.iter().map(|other| format!(".or_else(|| {other})")).collect();
            format!("fn missing(&self) -> Option<&'static str> {{\n{first}{others}\n}}\n")
        }
    }
}

/// A reply that is only a list may be empty, but then it holds nothing else either: a proxy's own JSON must not read as
/// "nothing found".
fn foreign(record: &Record) -> String {
    let [part] = &record.fields[..] else { return String::new() };
    if part.list.is_none() {
        return String::new();
    }
    format!(
        "fn missing(&self) -> Option<&'static str> {{\n(self.{}.is_empty() && !self.extra.is_empty()).then_some({})\n}}\n",
        part.rust_name(),
        literal(&part.wire)
    )
}
