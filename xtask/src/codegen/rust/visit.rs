//! The rows of a request or group: every field, those of its groups included, in signing order.

use super::{
    super::{
        names::snake,
        tables::{Credentials, Field, Group, Row, Tables},
    },
    fields::members,
};

/// One row and its place in the order of names.
struct Step {
    key: String,
    row: String,
    /// The member that it belongs to, where that is a group that can emit its parameters separately.
    member: Option<Member>,
}

/// A member that is a group.
#[derive(Clone, PartialEq, Eq)]
struct Member {
    name: String,
    rust: String,
}

/// Where a field is reached from: the struct, and the items that repeat it.
struct Access {
    path: String,
    items: Option<String>,
    member: Option<Member>,
}

/// The rows of a struct with these fields.
pub(super) fn rows(tables: &Tables, fields: &[Row], credentials: Option<Credentials>) -> String {
    let mut steps = Vec::new();
    collect(tables, fields, "", &Access { path: String::new(), items: None, member: None }, &mut steps);
    let key = match credentials {
        Some(Credentials::Signed) => Some("apikey"),
        Some(Credentials::Enterprise) => Some("api_key"),
        Some(Credentials::Session) | None => None,
    };
    steps.extend(key.map(|key| Step { key: key.to_owned(), row: "credentials".to_owned(), member: None }));
    let mut rows: Vec<String> = in_order(steps).into_iter().map(|step| step.row).collect();
    let groups: Vec<_> = members(tables, fields).iter().filter_map(|member| member.row_of_group(&rows)).collect();
    rows.extend(groups);
    rows.into_iter().map(|row| format!("        {row},\n")).collect()
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
                    let row = format!("group {}: {}", member.name, member.rust);
                    ordered.push(Step { key: step.key, row, member: Some(member) });
                }
            }
            _ => ordered.push(Step { member: None, ..step }),
        }
    }
    ordered
}

fn collect(tables: &Tables, rows: &[Row], module: &str, access: &Access, steps: &mut Vec<Step>) {
    for row in rows {
        match row {
            Row::Field(field) => {
                let member = access.member.clone();
                steps.push(Step { key: field.order_key(), row: row_of_field(field, module, access), member });
            }
            Row::Group(row) => {
                let Some(group) = tables.group(&row.group) else { continue };
                let name = row.rust.as_ref().unwrap_or(&row.group);
                let (path, items, member) = (access.path.clone(), access.items.clone(), access.member.clone());
                let inner = if row.inline {
                    Access { path, items, member }
                } else if row.repeat {
                    Access { items: Some(format!("{path}{name}s")), path, member }
                } else {
                    let this = Member { name: name.clone(), rust: group.rust.clone() };
                    Access { path: format!("{path}{name}."), items, member: member.or(Some(this)) }
                };
                let module = format!("{}::", module_of(group, row.inline));
                collect(tables, &group.fields, &module, &inner, steps);
            }
        }
    }
}

/// The module of a group's statics.
fn module_of(group: &Group, inline: bool) -> String {
    if inline { group.name.clone() } else { snake(&group.rust) }
}

fn row_of_field(field: &Field, module: &str, access: &Access) -> String {
    let Access { path, items, .. } = access;
    let (kind, name, of) = (field.kind_of_row(), field.rust_name(), format!("{module}{}", field.static_name()));
    match items {
        Some(items) => format!("each_{kind} ({items}, {name}): {of}"),
        None if path.is_empty() => format!("{kind} {name}: {of}"),
        None => format!("{kind} ({path}{name}): {of}"),
    }
}
