//! The rows of this project's tables, each with what shows it.

use super::{
    super::{
        place::allowed,
        tables::{Credentials, Part, Tables},
    },
    list::OfTables,
};

/// One row of the tables.
pub(super) struct Entry {
    /// Names it, as in `parameter token/lookup cardKey`.
    pub(super) key: String,
    /// The same for a page.
    pub(super) what: String,
    pub(super) assumption: Option<u16>,
    /// Where the documents have it, such as `1 §4.6`.
    pub(super) source: String,
    /// The tests that show it.
    pub(super) shown: Vec<String>,
}

/// Every row of the tables that documents fill: methods, parameters, fields of replies, codes.
///
/// Currencies and the types of values are no rows of the documents.
pub(super) fn all(tables: &Tables, shown: &OfTables) -> Vec<Entry> {
    let methods = tables
        .services
        .iter()
        .flat_map(|service| service.methods.iter().map(move |method| format!("{}/{}", service.info.name, method.name)));
    let methods = methods.flat_map(|name| [format!("method {name}"), format!("parameters {name}")]);
    let records = tables.records.iter().map(|record| format!("record {}", record.name));
    let codes = tables.codes.iter().map(|table| format!("codes {}", table.name));
    methods.chain(records).chain(codes).flat_map(|from| of(tables, shown, &from).unwrap_or_default()).collect()
}

/// The rows that `from` names: `method token/lookup`, `parameters token/lookup`, `record Card`, `codes ErrorCode` or,
/// of these, `codes ErrorCode 101 102`.
///
/// # Errors
/// When there are no such rows.
pub(super) fn of(tables: &Tables, shown: &OfTables, from: &str) -> Result<Vec<Entry>, String> {
    let (kind, name) = from.split_once(' ').unwrap_or((from, ""));
    match kind {
        "method" => Ok(vec![method(tables, shown, name)?]),
        "parameters" => parameters(tables, shown, name),
        "record" => fields(tables, shown, name),
        "codes" => codes(tables, shown, name),
        _ => Err(format!("{from:?} names no rows{}", allowed(kind, ["method", "parameters", "record", "codes"]))),
    }
}

fn method(tables: &Tables, shown: &OfTables, name: &str) -> Result<Entry, String> {
    let source = known_method(tables, name)?.source.clone();
    let key = format!("method {name}");
    Ok(Entry { what: format!("`{name}`"), assumption: None, source, shown: single(shown, &key), key })
}

fn parameters(tables: &Tables, shown: &OfTables, name: &str) -> Result<Vec<Entry>, String> {
    let method = known_method(tables, name)?;
    let rule = match method.credentials {
        Credentials::Signed => "parameters signed",
        Credentials::Session => "parameters session",
        Credentials::Enterprise => "parameters enterprise",
    };
    // A shared group has its own source, but the parameter belongs to the method's section.
    let entry = |wire: String| Entry {
        key: format!("parameter {name} {wire}"),
        what: format!("`{name}` `{wire}`"),
        assumption: None,
        source: method.source.clone(),
        shown: single(shown, rule),
    };
    Ok(tables.flatten(&method.fields).into_iter().map(|field| entry(field.name())).collect())
}

fn fields(tables: &Tables, shown: &OfTables, name: &str) -> Result<Vec<Entry>, String> {
    let names = tables.records.iter().map(|record| record.name.as_str());
    let record = tables.record(name).ok_or_else(|| format!("no record is {name:?}{}", allowed(name, names)))?;
    // The content of a field that is a record, or several, is in the rows of that record.
    let leaf = |part: &&Part| part.record.is_none() && part.list.is_none() && part.map.is_none();
    let entry = |part: &Part| Entry {
        key: format!("field {name} {}", part.name()),
        what: format!("`{name}` `{}`", part.name()),
        assumption: part.assumption,
        source: part.source.clone(),
        shown: single(shown, "fields"),
    };
    Ok(record.fields.iter().filter(leaf).map(entry).collect())
}

fn codes(tables: &Tables, shown: &OfTables, name: &str) -> Result<Vec<Entry>, String> {
    let mut words = name.split(' ');
    let name = words.next().unwrap_or_default();
    let names = tables.codes.iter().map(|table| table.name.as_str());
    let table = tables.code_table(name).ok_or_else(|| format!("no codes are {name:?}{}", allowed(name, names)))?;
    let wanted: Vec<&str> = words.collect();
    if let Some(stranger) = wanted.iter().find(|code| !table.codes.iter().any(|row| row.code == **code)) {
        return Err(format!("{name} has no code {stranger:?}"));
    }
    let entry = |key: String, code: &str, message: &str, assumption, source: &str| Entry {
        what: if code == message { format!("`{name}` `{code}`") } else { format!("`{name}` `{code}` {message}") },
        assumption,
        source: source.to_owned(),
        shown: single(shown, &key),
        key,
    };
    let rows = table.codes.iter().filter(|row| wanted.is_empty() || wanted.contains(&row.code.as_str()));
    let all = rows
        .map(|row| entry(format!("codes {name} {}", row.code), &row.code, &row.message, row.assumption, &row.source));
    Ok(all.collect())
}

fn known_method<'t>(tables: &'t Tables, name: &str) -> Result<&'t super::super::tables::Method, String> {
    let methods = tables.services.iter().flat_map(|service| {
        service.methods.iter().map(move |method| (format!("{}/{}", service.info.name, method.name), method))
    });
    let methods: Vec<_> = methods.collect();
    let found = methods.iter().find(|(known, _)| known == name).map(|(_, method)| *method);
    found.ok_or_else(|| {
        format!("no method is {name:?}{}", allowed(name, methods.iter().map(|(known, _)| known.as_str())))
    })
}

fn single(shown: &OfTables, key: &str) -> Vec<String> {
    shown.get(key).map(|(_, tests)| tests.clone()).unwrap_or_default()
}
