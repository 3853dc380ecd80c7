//! The ordered visitor: every field of a request, its groups included, in signing order.

use super::super::{
    names::literal,
    tables::{Credentials, Field, Method, Row, Tables},
};
use super::fields::Holds;

/// One line of the visitor and its place in the order of names.
struct Step {
    key: String,
    code: String,
}

/// Where a field is reached from: the struct, and the items that repeat it.
struct Access {
    path: String,
    items: Option<String>,
}

/// The body of `Method::visit`.
pub(super) fn body(tables: &Tables, method: &Method) -> String {
    let mut steps = Vec::new();
    collect(tables, &method.fields, "", &Access { path: "self".to_owned(), items: None }, &mut steps);
    match method.credentials {
        Credentials::Signed => steps.push(credentials("apikey")),
        Credentials::Enterprise => steps.push(credentials("api_key")),
        Credentials::Session => {}
    }
    steps.sort_by(|a, b| a.key.cmp(&b.key));
    steps.into_iter().map(|step| step.code + "\n").collect()
}

fn credentials(key: &str) -> Step {
    Step { key: key.to_owned(), code: "sink.credentials();".to_owned() }
}

fn collect(tables: &Tables, rows: &[Row], module: &str, access: &Access, steps: &mut Vec<Step>) {
    for row in rows {
        match row {
            Row::Field(field) => steps.push(Step { key: field.order_key(), code: emit(field, module, access) }),
            Row::Group(row) => {
                let Some(group) = tables.group(&row.group) else { continue };
                let name = row.rust.as_ref().unwrap_or(&row.group);
                let inner = if row.inline {
                    Access { path: access.path.clone(), items: access.items.clone() }
                } else if row.repeat {
                    Access { path: "item".to_owned(), items: Some(format!("{}.{name}s", access.path)) }
                } else {
                    Access { path: format!("{}.{name}", access.path), items: access.items.clone() }
                };
                collect(tables, &group.fields, &module_of(group, row.inline), &inner, steps);
            }
        }
    }
}

/// The path of a group's statics.
fn module_of(group: &super::super::tables::Group, inline: bool) -> String {
    let module = if inline { group.name.clone() } else { super::super::names::snake(&group.rust) };
    format!("groups::{module}::")
}

fn emit(field: &Field, module: &str, access: &Access) -> String {
    let of = format!("&{module}{}", field.static_name());
    let value = format!("{}.{}", access.path, field.rust_name());
    if let Some(items) = &access.items {
        return match (field.holds(), field.required) {
            (Holds::Number, true) => format!("emit::item_numbers(sink, {of}, &{items}, |item| Some({value}));"),
            (Holds::Number, false) => format!("emit::item_numbers(sink, {of}, &{items}, |item| {value});"),
            (_, true) => format!("emit::item_texts(sink, {of}, &{items}, |item| Some(&{value}));"),
            (_, false) => format!("emit::item_texts(sink, {of}, &{items}, |item| {value}.as_ref());"),
        };
    }
    match (field.holds(), field.required) {
        (Holds::Text, true) => format!("emit::text(sink, {of}, &{value});"),
        (Holds::Text, false) => format!("emit::optional(sink, {of}, &{value});"),
        (Holds::Number, true) => format!("emit::number(sink, {of}, {value});"),
        (Holds::Number, false) => format!("emit::optional_number(sink, {of}, {value});"),
        (Holds::List, _) => {
            format!("sink.list({of}, {}, &mut {value}.iter().map(AsRef::as_ref));", literal(&field.wire))
        }
        (Holds::Named, _) => format!("emit::named(sink, {of}, &{value});"),
    }
}
