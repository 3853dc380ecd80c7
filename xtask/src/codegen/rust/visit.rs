//! The ordered visitor: every field of a request, its groups included, in signing order.

use std::collections::BTreeSet;

use super::{
    super::{
        names::{literal, snake},
        tables::{Credentials, Field, Group, Method, Row, Tables},
    },
    fields::Holds,
};

/// One line of the visitor and its place in the order of names.
struct Step {
    key: String,
    code: String,
    /// The member that it belongs to, where that is a group that can emit its parameters separately.
    member: Option<Member>,
}

/// A member that is a group.
#[derive(Clone, PartialEq, Eq)]
struct Member {
    name: String,
    group: String,
}

/// Where a field is reached from: the struct, and the items that repeat it.
struct Access {
    path: String,
    items: Option<String>,
    member: Option<Member>,
}

/// The body of `Method::visit`.
pub(super) fn body(tables: &Tables, method: &Method) -> String {
    of_method(tables, method).into_iter().map(|step| step.code + "\n").collect()
}

/// The body of a group's own `visit`, if a method or another group has any use for it.
pub(super) fn body_of_group(tables: &Tables, group: &Group) -> Option<String> {
    let calls = |steps: Vec<Step>| steps.into_iter().filter_map(|step| step.member).map(|member| member.group);
    let mut open: Vec<String> = tables.methods().flat_map(|(_, method)| calls(of_method(tables, method))).collect();
    let mut called = BTreeSet::new();
    while let Some(next) = open.pop() {
        if let Some(inner) = tables.group(&next)
            && called.insert(next)
        {
            open.extend(calls(of_group(tables, inner)));
        }
    }
    called.contains(&group.name).then(|| of_group(tables, group).into_iter().map(|step| step.code + "\n").collect())
}

fn of_method(tables: &Tables, method: &Method) -> Vec<Step> {
    let mut steps = collected(tables, &method.fields);
    match method.credentials {
        Credentials::Signed => steps.push(credentials("apikey")),
        Credentials::Enterprise => steps.push(credentials("api_key")),
        Credentials::Session => {}
    }
    in_order(steps)
}

fn of_group(tables: &Tables, group: &Group) -> Vec<Step> {
    in_order(collected(tables, &group.fields))
}

/// By name. A group whose names stand together gets one line; one with others in between is taken apart.
fn in_order(mut steps: Vec<Step>) -> Vec<Step> {
    steps.sort_by(|a, b| a.key.cmp(&b.key));
    let apart = |member: &Member| {
        let mine = |step: &Step| step.member.as_ref() == Some(member);
        let first = steps.iter().position(mine).unwrap_or_default();
        steps[first..].iter().skip_while(|step| mine(step)).any(mine)
    };
    let apart: Vec<bool> = steps.iter().map(|step| step.member.as_ref().is_none_or(apart)).collect();
    let mut ordered: Vec<Step> = Vec::new();
    for (step, apart) in steps.into_iter().zip(apart) {
        match step.member {
            Some(member) if !apart => {
                if ordered.last().is_none_or(|last| last.member.as_ref() != Some(&member)) {
                    let code = format!("self.{}.visit(sink);", member.name);
                    ordered.push(Step { key: step.key, code, member: Some(member) });
                }
            }
            _ => ordered.push(Step { member: None, ..step }),
        }
    }
    ordered
}

fn credentials(key: &str) -> Step {
    Step { key: key.to_owned(), code: "sink.credentials();".to_owned(), member: None }
}

/// The steps of all rows.
fn collected(tables: &Tables, rows: &[Row]) -> Vec<Step> {
    let mut steps = Vec::new();
    let access = Access { path: "self".to_owned(), items: None, member: None };
    collect(tables, rows, "", &access, &mut steps);
    steps
}

fn collect(tables: &Tables, rows: &[Row], module: &str, access: &Access, steps: &mut Vec<Step>) {
    for row in rows {
        match row {
            Row::Field(field) => {
                let member = access.member.clone();
                steps.push(Step { key: field.order_key(), code: emit(field, module, access), member });
            }
            Row::Group(row) => {
                let Some(group) = tables.group(&row.group) else { continue };
                let name = row.rust.as_ref().unwrap_or(&row.group);
                let (path, items, member) = (access.path.clone(), access.items.clone(), access.member.clone());
                let inner = if row.inline {
                    Access { path, items, member }
                } else if row.repeat {
                    Access { path: "item".to_owned(), items: Some(format!("{path}.{name}s")), member }
                } else {
                    let this = Member { name: name.clone(), group: group.name.clone() };
                    Access { path: format!("{path}.{name}"), items, member: member.or(Some(this)) }
                };
                let module = format!("{}::", module_of(group, row.inline));
                collect(tables, &group.fields, &module, &inner, steps);
            }
        }
    }
}

/// The module of a group's statics.
pub(super) fn module_of(group: &Group, inline: bool) -> String {
    if inline { group.name.clone() } else { snake(&group.rust) }
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
