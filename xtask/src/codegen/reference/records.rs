//! The page of records: replies and their parts, with examples.

use super::{
    super::{
        examples,
        tables::{Empty, Part, Record, Tables},
    },
    markdown::{anchor, assumption, code, table, text},
};

const INTRODUCTION: &str = "# Records\n\n\
    What replies hold. In XML a reply is the element `serviceResponse` with a child for each field, in JSON one object. Every\n\
    scalar is text on the wire, and one that is empty, `null` or absent was not given. Fields that are not listed survive in\n\
    the `extra` of their record, codes that are not listed survive as they came.\n\n";

pub(super) fn page(tables: &Tables) -> String {
    let rows = tables.records.iter().map(|record| {
        vec![format!("[{}](#{})", record.name, anchor(&record.name)), text(&record.doc), record.source.clone()]
    });
    let mut page = INTRODUCTION.to_owned() + &table(&["Record", "What it is", "Source"], rows);
    for record in &tables.records {
        page += &section(tables, record);
    }
    page
}

fn section(tables: &Tables, record: &Record) -> String {
    let empty = match record.empty {
        Empty::Keep => "written empty",
        Empty::Omit => "left out",
    };
    let mut section = format!(
        "## {}\n\n{}\n\n- **Source:** spec {}\n- **Fields without a value:** {empty}\n",
        record.name,
        text(&record.doc),
        record.source
    );
    if !record.essential.is_empty() {
        let essential: Vec<String> = record.essential.iter().map(|wire| code(wire)).collect();
        section += &format!("- **Cannot be read without:** {}\n", essential.join(", "));
    }
    let methods = methods(tables, record);
    if !methods.is_empty() {
        section += &format!("- **Reply of:** {}\n", methods.join(", "));
    }
    section.push('\n');
    section += &table(
        &["Field", "Rust", "Holds", "Meaning", "Source"],
        record.fields.iter().map(|part| row(tables, record, part)),
    );
    if !methods.is_empty() {
        let sample = examples::of_record(tables, record, true);
        section += &format!("```xml\n{}\n```\n\n", sample.xml());
        if !record.source.starts_with('3') {
            section += &format!("```json\n{}\n```\n\n", sample.json().json());
        }
    }
    section
}

/// The methods that answer with a record.
fn methods(tables: &Tables, record: &Record) -> Vec<String> {
    let answering = tables.methods().filter(|(_, method)| method.reply == record.name);
    answering
        .map(|(service, method)| {
            format!("[{}/{}]({}.md#{})", service.info.name, text(&method.name), service.info.name, anchor(&method.name))
        })
        .collect()
}

fn row(tables: &Tables, record: &Record, part: &Part) -> Vec<String> {
    let mut meaning = text(&part.doc);
    if !part.aliases.is_empty() {
        let aliases: Vec<String> = part.aliases.iter().map(|alias| code(alias)).collect();
        meaning += &format!(" Readers also take {}.", aliases.join(", "));
    }
    if let Some(other) = &part.beside {
        meaning += &format!(" Written empty where there is a {}.", code(other));
    }
    let written = if part.map.is_some() { Empty::Omit } else { part.empty.unwrap_or(record.empty) };
    match (record.empty, written) {
        (Empty::Keep, Empty::Omit) => meaning += " Left out without a value.",
        (Empty::Omit, Empty::Keep) => meaning += " Written empty without a value.",
        _ => {}
    }
    if let Some(number) = part.assumption {
        meaning += &format!(" Rests on {}.", assumption(number));
    }
    vec![code(&part.name()), code(&part.rust_name()), holds(tables, part), meaning, part.source.clone()]
}

fn holds(tables: &Tables, part: &Part) -> String {
    let record = |name: &str| format!("[{name}](#{})", anchor(name));
    if let Some(inner) = &part.record {
        return record(inner);
    }
    if let Some(inner) = &part.map {
        return format!("{} by name", record(inner));
    }
    if let Some(inner) = &part.list {
        let item = code(part.item.as_deref().unwrap_or("item"));
        let json = if part.json.as_deref() == Some("indexed") { "an object keyed by index" } else { "an array" };
        return format!("list of {}: {item} elements in XML, {json} in JSON", record(inner));
    }
    if part.prefix.is_some() {
        return "every field that begins with this word".to_owned();
    }
    let kind = part.kind.as_deref().unwrap_or("String");
    let known = tables.code_table(kind).is_some() || kind == "Currency";
    let kind = if known { format!("[{kind}](codes.md#{})", anchor(kind)) } else { code(kind) };
    if part.json.as_deref() == Some("number") { format!("{kind}, a number in JSON") } else { kind }
}
