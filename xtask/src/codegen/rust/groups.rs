//! Structs: groups, and the part of them that methods have in common with groups.

use std::collections::BTreeSet;

use super::{
    super::tables::{Group, Tables},
    PRELUDE, Unit,
    fields::{Member, list_of_fields, members, statics},
    visit,
};

pub(super) fn generate(tables: &Tables) -> Vec<Unit> {
    let inlined = tables.group_rows().filter(|row| row.inline).map(|row| row.group.as_str()).collect::<BTreeSet<_>>();
    let repeated = tables.group_rows().filter(|row| row.repeat).map(|row| row.group.as_str()).collect::<BTreeSet<_>>();
    tables
        .groups
        .iter()
        .map(|group| {
            let whole = !inlined.contains(group.name.as_str());
            let code = code(tables, group, whole, repeated.contains(group.name.as_str()));
            Unit {
                // The module is named after the group, the struct after its type.
                name: if whole { group.rust.clone() } else { group.name.clone() },
                code,
            }
        })
        .collect()
}

fn code(tables: &Tables, group: &Group, whole: bool, repeated: bool) -> String {
    let members = members(tables, &group.fields);
    let about = if whole { String::new() } else { format!("//! {} (spec {})\n\n", group.doc, group.source) };
    let mut body = about + PRELUDE;
    let fields = list_of_fields(tables, &group.fields);
    let fields = format!("const FIELDS: &'static [&'static Field] = {fields};\n");
    if whole {
        let doc = format!("{} (spec {})", group.doc, group.source);
        if repeated {
            let fields = format!("/// The parameters of one.\npub(crate) {fields}\n");
            let reads: String = members.iter().map(Member::read_of_item).collect();
            let read = format!(
                "pub(crate) fn read(reader: &mut Reader<'_>, number: usize) -> Self {{\n Self {{ {reads} }} }}\n"
            );
            body += &structure(&group.rust, &doc, &members, [&fields, &read]);
        } else {
            let rows = visit::rows(tables, &group.fields, None);
            body += &structure(&group.rust, &doc, &members, ["", ""]);
            body += &format!("impl Group for {} {{\n{fields}\n    group_fields! {{\n{rows}    }}\n}}\n\n", group.rust);
        }
    } else {
        body += &format!("pub(crate) {}\n", fields.replace("'static ", ""));
    }
    body += &statics(&group.fields);
    body
}

/// The struct with its constructor and setters, and whatever else its `impl` begins and ends with.
pub(super) fn structure(rust: &str, doc: &str, members: &[Member<'_>], [first, last]: [&str; 2]) -> String {
    let declarations: String = members.iter().map(Member::declaration).collect();
    let arguments: Vec<String> = members.iter().filter(|member| member.required()).map(Member::argument).collect();
    let initial: Vec<String> = members.iter().map(Member::initial).collect();
    let optional = members.iter().filter(|member| !member.required());
    let setters: String = optional.map(|member| member.setter(members.len() == 1)).collect();
    let (default, new) = if arguments.is_empty() {
        (", Default", "Self::default()".to_owned())
    } else {
        ("", format!("Self {{ {} }}", initial.join(", ")))
    };
    let what = if arguments.is_empty() {
        "Creates it without parameters."
    } else {
        "Creates it with all required parameters."
    };
    let minor: String = members.iter().filter(|member| member.required()).filter_map(Member::in_minor_units).collect();
    format!(
        "/// {doc}\n#[derive(Clone, Debug{default}, PartialEq, Eq)]\n#[must_use]\n#[non_exhaustive]\npub struct {rust} {{\n{declarations}}}\n\n\
         impl {rust} {{\n{first}/// {what}\n{minor}pub fn new({}) -> Self {{\n {new} }}\n\n{setters}{last}}}\n\n",
        arguments.join(", "),
    )
}
