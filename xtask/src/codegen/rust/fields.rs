//! Fields of requests: their types, statics, and how each is checked, read and set.

use super::super::{
    formats::{self, bounds, range_bounds},
    names::{literal, shout},
    tables::{Field, Group, GroupRow, Row, Tables},
};

/// How a field's value is held in Rust.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Text,
    Number,
    List,
    /// Name and text of every parameter with a prefix.
    Named,
}

impl Field {
    pub(super) fn holds(&self) -> Holds {
        match self.kind.as_str() {
            _ if self.prefix.is_some() => Holds::Named,
            "u64" | "i64" => Holds::Number,
            kind if kind.starts_with("Vec<") => Holds::List,
            _ => Holds::Text,
        }
    }

    /// The kind of its row.
    pub(super) fn kind_of_row(&self) -> &'static str {
        match (self.holds(), self.required) {
            (Holds::Text, true) => "text",
            (Holds::Text, false) => "optional",
            (Holds::Number, true) => "number",
            (Holds::Number, false) => "optional_number",
            (Holds::List, _) => "list",
            (Holds::Named, _) => "named",
        }
    }

    /// The Rust type of a value that is present.
    pub(super) fn value_type(&self) -> String {
        match self.holds() {
            Holds::Named => "Named".to_owned(),
            Holds::Text if self.sensitive && self.kind == "String" => "Secret".to_owned(),
            _ => self.kind.clone(),
        }
    }

    /// The Rust type of the struct's field.
    fn struct_type(&self) -> String {
        let optional = !self.required && matches!(self.holds(), Holds::Text | Holds::Number);
        if optional { format!("Option<{}>", self.value_type()) } else { self.value_type() }
    }

    /// The name of its static.
    pub(super) fn static_name(&self) -> String {
        shout(&self.rust_name())
    }

    fn doc_lines(&self) -> String {
        let mut text = format!("    /// {}", self.doc);
        if !self.required
            && let Some(default) = &self.default
        {
            text += &format!(" Default: {default}.");
        }
        text += &format!(" `{}`", self.name());
        if let Some(spec) = &self.spec {
            text += &format!(": {spec}");
        }
        text + &format!(" (spec {}).\n", self.source)
    }
}

impl Group {
    /// The documentation of a member with the group.
    fn doc_lines(&self, before: &str) -> String {
        format!("    /// {before}{} (spec {})\n", self.doc, self.source)
    }
}

/// `static CARD_KEY: Field = …`
pub(super) fn statics(rows: &[Row]) -> String {
    rows.iter()
        .filter_map(|row| match row {
            Row::Field(field) => Some(&**field),
            Row::Group(_) => None,
        })
        .map(one_static)
        .collect()
}

fn one_static(field: &Field) -> String {
    let format = formats::find(&field.format).map_or("Text", |format| format.variant);
    let length = field.length.as_deref().and_then(bounds);
    let range = field.range.as_deref().and_then(range_bounds);
    let texts = |texts: &[String]| {
        let literals: Vec<String> = texts.iter().map(|text| literal(text)).collect();
        (!texts.is_empty()).then(|| format!("&[{}]", literals.join(", ")))
    };
    let length = length.map_or("Length::Any".to_owned(), |(least, most)| format!("Length::Between({least}, {most})"));
    let more = [
        range.map(|(least, most)| format!(".range({least}, {most})")),
        field.sensitive.then(|| ".sensitive()".to_owned()),
        field.default.as_ref().map(|default| format!(".default({default:?})")),
        texts(&field.values).map(|values| format!(".values({values})")),
        texts(&field.aliases).map(|aliases| format!(".aliases({aliases})")),
    ];
    format!(
        "pub(crate) static {}: Field = Field::{}({}, {})\n    .doc({}, {}, {})\n    .format(Format::{format}, {length}){};\n\n",
        field.static_name(),
        if field.required { "required" } else { "optional" },
        literal(&field.name()),
        literal(&field.rust_name()),
        literal(&field.source),
        literal(field.spec.as_deref().unwrap_or_default()),
        literal(&field.doc),
        more.into_iter().flatten().map(|one| format!("\n    {one}")).collect::<String>(),
    )
}

/// The list of all fields, those of groups included, in the order of the tables.
pub(super) fn list_of_fields(tables: &Tables, rows: &[Row]) -> String {
    let own = |row: &Row| match row {
        Row::Field(field) => Some(format!("&{}", field.static_name())),
        Row::Group(_) => None,
    };
    let lists =
        rows.chunk_by(|one, next| own(one).is_some() && own(next).is_some()).filter_map(|rows| match &rows[0] {
            Row::Field(_) => Some(format!("&[{}]", rows.iter().filter_map(own).collect::<Vec<_>>().join(", "))),
            Row::Group(row) if row.inline => Some(format!("{}::FIELDS", row.group)),
            Row::Group(row) => Some(format!("{}::FIELDS", tables.group(&row.group)?.rust)),
        });
    let lists: Vec<String> = lists.collect();
    match &lists[..] {
        [list] => list.clone(),
        lists => format!("&joined::<{}>(&[{}])", tables.flatten(rows).len(), lists.join(", ")),
    }
}

/// A member of a request struct: a field or a group.
pub(super) enum Member<'t> {
    Field(&'t Field, /* the module of its static */ String),
    Group { name: String, rust: &'t str, row: &'t GroupRow, group: &'t Group },
}

/// The members of a struct, groups that are inlined replaced by their fields.
pub(super) fn members<'t>(tables: &'t Tables, rows: &'t [Row]) -> Vec<Member<'t>> {
    let mut members = Vec::new();
    for row in rows {
        match row {
            Row::Field(field) => members.push(Member::Field(field, String::new())),
            Row::Group(row) => {
                let Some(group) = tables.group(&row.group) else { continue };
                if row.inline {
                    for member in members_of_group(tables, group) {
                        members.push(member);
                    }
                } else {
                    let single = row.rust.clone().unwrap_or_else(|| row.group.clone());
                    let name = if row.repeat { format!("{single}s") } else { single };
                    members.push(Member::Group { name, rust: &group.rust, row, group });
                }
            }
        }
    }
    members
}

fn members_of_group<'t>(tables: &'t Tables, group: &'t Group) -> Vec<Member<'t>> {
    members(tables, &group.fields)
        .into_iter()
        .map(|member| match member {
            Member::Field(field, _) => Member::Field(field, format!("{}::", group.name)),
            other => other,
        })
        .collect()
}

impl Member<'_> {
    pub(super) fn name(&self) -> String {
        match self {
            Self::Field(field, _) => field.rust_name(),
            Self::Group { name, .. } => name.clone(),
        }
    }

    /// The documentation of an amount argument of a constructor.
    pub(super) fn in_minor_units(&self) -> Option<String> {
        match self {
            Self::Field(field, _) if field.format == "minor" => {
                let name = field.rust_name();
                Some(format!("///\n/// `{name}` is in whole minor units of the currency: 499 is 4.99 GBP.\n"))
            }
            _ => None,
        }
    }

    pub(super) fn required(&self) -> bool {
        match self {
            Self::Field(field, _) => field.required,
            Self::Group { row, .. } => row.required,
        }
    }

    /// The line of the struct.
    pub(super) fn declaration(&self) -> String {
        match self {
            Self::Field(field, _) => {
                format!("{}    pub {}: {},\n", field.doc_lines(), field.rust_name(), field.struct_type())
            }
            Self::Group { name, rust, row, group } if row.repeat => {
                format!("{}    pub {name}: Vec<{rust}>,\n", group.doc_lines(""))
            }
            Self::Group { name, rust, group, .. } => format!("{}    pub {name}: {rust},\n", group.doc_lines("")),
        }
    }

    /// The argument of the constructor.
    pub(super) fn argument(&self) -> String {
        match self {
            Self::Field(field, _) => match field.holds() {
                Holds::Number => format!("{}: {}", field.rust_name(), field.value_type()),
                Holds::List => {
                    let item = field.kind.trim_start_matches("Vec<").trim_end_matches('>');
                    format!("{}: impl IntoIterator<Item = impl Into<{item}>>", field.rust_name())
                }
                Holds::Text | Holds::Named => format!("{}: impl Into<{}>", field.rust_name(), field.value_type()),
            },
            Self::Group { name, rust, .. } => format!("{name}: {rust}"),
        }
    }

    /// What the constructor puts into the struct.
    pub(super) fn initial(&self) -> String {
        let name = self.name();
        match self {
            Self::Field(field, _) if field.required => match field.holds() {
                Holds::Number => name,
                Holds::List => format!("{name}: {name}.into_iter().map(Into::into).collect()"),
                Holds::Text | Holds::Named => format!("{name}: {name}.into()"),
            },
            Self::Group { row, .. } if row.required => name,
            Self::Field(field, _) if matches!(field.holds(), Holds::Text | Holds::Number) => format!("{name}: None"),
            Self::Group { rust, row, .. } if !row.repeat => format!("{name}: {rust}::new()"),
            Self::Field(_, _) => format!("{name}: Named::default()"),
            Self::Group { .. } => format!("{name}: Vec::new()"),
        }
    }

    /// The setter of an optional member; `alone` in a struct without others.
    pub(super) fn setter(&self, alone: bool) -> String {
        let name = self.name();
        let rest = if alone { "" } else { ", ..self" };
        match self {
            Self::Field(field, _) => {
                let doc = field.doc_lines();
                match field.holds() {
                    Holds::Named => format!(
                        "{doc}    pub fn {name}(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {{\n\
                         self.{name}.push(name, value); self }}\n\n"
                    ),
                    Holds::Number => format!(
                        "{doc}    pub fn {name}(self, {name}: {}) -> Self {{ Self {{ {name}: Some({name}){rest} }} }}\n\n",
                        field.value_type()
                    ),
                    _ => format!(
                        "{doc}    pub fn {name}(self, {name}: impl Into<{}>) -> Self {{ Self {{ {name}: Some({name}.into()){rest} }} }}\n\n",
                        field.value_type()
                    ),
                }
            }
            Self::Group { rust, row, group, .. } if row.repeat => {
                let doc = group.doc_lines("Adds one. ");
                let single = row.rust.as_deref().unwrap_or(&row.group);
                format!(
                    "{doc}    pub fn {single}(mut self, {single}: {rust}) -> Self {{ self.{name}.push({single}); self }}\n\n"
                )
            }
            Self::Group { rust, group, .. } => format!(
                "{}    pub fn {name}(self, {name}: {rust}) -> Self {{ Self {{ {name}{rest} }} }}\n\n",
                group.doc_lines("")
            ),
        }
    }

    /// The line that checks a list, which no visit shows whole.
    pub(super) fn check_of_list(&self) -> Option<String> {
        let Self::Field(field, module) = self else { return None };
        let line = format!("check::list(&{module}{}, &self.{}, &mut violations);\n", field.static_name(), self.name());
        (field.holds() == Holds::List).then_some(line)
    }

    /// The member of one of several numbered groups, read back.
    pub(super) fn read_of_item(&self) -> String {
        let Self::Field(field, module) = self else { return String::new() };
        format!("{}: reader.{}(&{module}{}, Some(number)),\n", self.name(), field.kind_of_row(), field.static_name())
    }

    /// The row that reads a group whose parameters `rows` write one by one.
    pub(super) fn row_of_group(&self, rows: &[String]) -> Option<String> {
        let Self::Group { name, rust, row, .. } = self else { return None };
        let kind = if row.repeat { "items" } else { "apart" };
        (!rows.contains(&format!("group {name}: {rust}"))).then(|| format!("{kind} {name}: {rust}"))
    }
}
