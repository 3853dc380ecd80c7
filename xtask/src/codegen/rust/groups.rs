//! Structs: groups, and the part of them that methods have in common with groups.

use std::collections::BTreeSet;

use super::{
    super::{
        names::snake,
        tables::{Field, Group, Row, Tables},
    },
    Unit,
    fields::{Holds, Member, members, statics},
    imports::Imports,
    visit,
};

pub(super) fn generate(tables: &Tables) -> Vec<Unit> {
    let inlined = rows(tables).filter(|row| row.inline).map(|row| row.group.as_str()).collect::<BTreeSet<_>>();
    let repeated = rows(tables).filter(|row| row.repeat).map(|row| row.group.as_str()).collect::<BTreeSet<_>>();
    tables
        .groups
        .iter()
        .map(|group| {
            let whole = !inlined.contains(group.name.as_str());
            let code = code(tables, group, whole, repeated.contains(group.name.as_str()));
            Unit {
                // The module is named after the group, the struct after its type.
                name: if whole { group.rust.clone() } else { group.name.clone() },
                about: format!("{} (spec {})", group.doc, group.source),
                code,
                tail: String::new(),
            }
        })
        .collect()
}

/// Every row that names a group.
fn rows(tables: &Tables) -> impl Iterator<Item = &super::super::tables::GroupRow> {
    let of_methods = tables.services.iter().flat_map(|service| &service.methods).flat_map(|method| &method.fields);
    let of_groups = tables.groups.iter().flat_map(|group| &group.fields);
    of_methods.chain(of_groups).filter_map(|row| match row {
        Row::Group(row) => Some(row),
        Row::Field(_) => None,
    })
}

fn code(tables: &Tables, group: &Group, whole: bool, repeated: bool) -> String {
    let members = members(tables, &group.fields);
    let mut body = String::new();
    if whole {
        let (number, argument) = if repeated { ("number: usize, ", ", number: usize") } else { ("", "") };
        let checks: String = members.iter().map(|member| member.check(repeated, "violations")).collect();
        let reads: String = members.iter().map(|member| member.read(repeated)).collect();
        let fields = if repeated {
            format!(
                "/// The parameters of one.\npub(crate) const FIELDS: &'static [&'static Field] = &[{}];\n\n",
                references(tables, group)
            )
        } else {
            String::new()
        };
        let visit = visit::body_of_group(tables, group).map_or_else(String::new, |lines| {
            format!("pub(crate) fn visit(&self, sink: &mut dyn ParameterSink) {{\n{lines}}}\n\n")
        });
        let more = format!(
            "{visit}pub(crate) fn check(&self, {number}violations: &mut Violations) {{\n{checks}}}\n\n\
             pub(crate) fn read(reader: &mut Reader<'_>{argument}) -> Self {{\n Self {{ {reads} }} }}\n"
        );
        let doc = format!("{}\n///\n/// Source: spec {}.", group.doc, group.source);
        body += &structure(&group.rust, &doc, &members, [&fields, &more]);
    }
    body += &statics(&group.fields);
    let others = tables.groups.iter().flat_map(|other| [other.name.clone(), snake(&other.rust)]);
    let used: BTreeSet<String> = others
        .filter(|module| body.contains(&format!("&{module}::")))
        .map(|module| format!("generated::groups::{module}"))
        .collect();
    let used: Vec<&str> = used.iter().map(String::as_str).collect();
    imports(&body, if whole { &members } else { &[] }, &used) + &body
}

fn references(tables: &Tables, group: &Group) -> String {
    tables.flatten(&group.fields).iter().map(|field| format!("&{}", field.static_name())).collect::<Vec<_>>().join(", ")
}

/// The struct with its constructor and setters, and whatever else its `impl` begins and ends with.
pub(super) fn structure(rust: &str, doc: &str, members: &[Member<'_>], [first, last]: [&str; 2]) -> String {
    let declarations: String = members.iter().map(Member::declaration).collect();
    let arguments: Vec<String> = members.iter().filter(|member| member.required()).map(Member::argument).collect();
    let initial: Vec<String> = members.iter().map(Member::initial).collect();
    let setters: String = members.iter().filter(|member| !member.required()).map(Member::setter).collect();
    let default = if arguments.is_empty() {
        format!("impl Default for {rust} {{ fn default() -> Self {{ Self::new() }} }}\n\n")
    } else {
        String::new()
    };
    let what = if arguments.is_empty() { "With nothing set." } else { "With everything that is required." };
    let minor: String = members.iter().filter(|member| member.required()).filter_map(Member::in_minor_units).collect();
    format!(
        "/// {doc}\n#[derive(Clone, Debug, PartialEq, Eq)]\n#[must_use]\n#[non_exhaustive]\npub struct {rust} {{\n{declarations}}}\n\n\
         impl {rust} {{\n{first}/// {what}\n{minor}pub fn new({}) -> Self {{\n Self {{ {} }} }}\n\n{setters}{last}}}\n\n{default}",
        arguments.join(", "),
        initial.join(", "),
    )
}

/// The imports of a struct's file, by the names in its code.
pub(super) fn imports(body: &str, members: &[Member<'_>], more: &[&str]) -> String {
    let mut imports = Imports::default();
    for path in more {
        imports.own(*path);
    }
    for member in members {
        match member {
            Member::Field(field, module) => {
                if let Some(name) = type_name(field) {
                    imports.own(name);
                }
                if let Some(module) = module.strip_suffix("::") {
                    imports.own(format!("generated::groups::{module}"));
                }
            }
            Member::Group { rust, .. } => imports.own(*rust),
        }
    }
    imports.used(
        body,
        &[
            ("check::", "check"),
            ("emit::", "emit"),
            (": Field = ", "field::Field"),
            ("&'static Field", "field::Field"),
            ("Format::", "format::Format"),
            ("Length::", "field::Length"),
            ("Named::", "parameters::Named"),
            ("Reader<", "read::Reader"),
            ("Reader::", "read::Reader"),
            ("Violations", "violation::Violations"),
            ("dyn ParameterSink", "parameters::ParameterSink"),
            ("&Parameters", "parameters::Parameters"),
            ("Outcome<", "outcome::Outcome"),
        ],
    );
    imports.alloc(body, &[("String", "string::String"), ("Vec<", "vec::Vec")]);
    imports.lines()
}

/// The type that a field's declaration names, unless it is one of the language.
fn type_name(field: &Field) -> Option<String> {
    let name = field.value_type();
    let name = name.trim_start_matches("Vec<").trim_end_matches('>').to_owned();
    (field.holds() != Holds::Named && !matches!(name.as_str(), "String" | "u64" | "i64")).then_some(name)
}
