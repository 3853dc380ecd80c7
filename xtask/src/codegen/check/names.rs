//! Names that must be unique, or of a certain form.

use std::collections::BTreeMap;

use super::{
    super::{
        names,
        place::{Place, Places},
        tables::{Field, Part, Row},
    },
    CREDENTIALS, Checker,
};

/// Functions that every request type has, so that no field can be named like them.
const TAKEN: &[&str] = &["new", "visit", "check", "read", "from_parameters"];

impl Checker<'_> {
    /// Names that share a space: Rust types at the root of the crate, methods of one service, names of groups.
    pub(super) fn names(&mut self) {
        let tables = self.tables;
        let mut types = vec![("Currency", Place { file: "currencies", line: 1, column: 1 })];
        let mut methods = Vec::new();
        for (service, method) in tables.methods() {
            types.push((&method.rust, method.places.of("rust")));
            methods.push((format!("{}{}", service.info.prefix, method.name), method.places.of("name")));
        }
        types.extend(tables.groups.iter().map(|group| (group.rust.as_str(), group.places.of("rust"))));
        types.extend(tables.records.iter().map(|record| (record.name.as_str(), record.places.of("name"))));
        types.extend(tables.codes.iter().map(|table| (table.name.as_str(), table.places.of("name"))));
        types.extend(tables.types.iter().map(|newtype| (newtype.name.as_str(), newtype.places.of("name"))));
        for (name, place) in &types {
            if !name.is_empty() && !is_camel(name) {
                self.problem(*place, format!("{name:?} is not a Rust type name, such as CardKey"));
            }
        }
        self.twice("type", types);
        self.twice("method", methods);
        let groups = tables.groups.iter().map(|group| (group.name.as_str(), group.places.of("name")));
        self.twice("group", groups);
    }

    /// Notes every name that another place has before.
    pub(super) fn twice<N: AsRef<str>>(&mut self, what: &str, names: impl IntoIterator<Item = (N, Place)>) {
        let mut seen: BTreeMap<String, Place> = BTreeMap::new();
        for (name, place) in names {
            let name = name.as_ref();
            if name.is_empty() {
                continue;
            }
            if let Some(first) = seen.get(name) {
                self.problem(place, format!("{what} {name:?} stands twice, first at {first}"));
            } else {
                seen.insert(name.to_owned(), place);
            }
        }
    }

    /// The Rust names of the members of one struct.
    pub(super) fn rust_names(&mut self, rows: &[Row]) {
        let mut names = Vec::new();
        self.collect(rows, &mut names);
        for (name, place) in &names {
            self.rust_name(*place, name);
        }
        self.twice("member", names);
    }

    fn collect(&self, rows: &[Row], names: &mut Vec<(String, Place)>) {
        for row in rows {
            match row {
                Row::Field(field) => names.push((field.rust_name(), field.places.of("rust"))),
                Row::Group(row) if row.inline => {
                    let inner = self.tables.group(&row.group).map_or(&[][..], |group| &group.fields);
                    let mut members = Vec::new();
                    // A group that contains itself is already reported, and must not be followed here.
                    if inner.iter().all(|row| matches!(row, Row::Field(_))) {
                        self.collect(inner, &mut members);
                    }
                    // The mistake is that of the row which puts the group here.
                    names.extend(members.into_iter().map(|(name, _)| (name, row.places.row)));
                }
                Row::Group(row) => {
                    names.push((row.rust.clone().unwrap_or_else(|| row.group.clone()), row.places.row));
                }
            }
        }
    }

    /// The Rust names of the fields of one record.
    pub(super) fn part_names(&mut self, parts: &[Part]) {
        let names: Vec<(String, Place)> = parts.iter().map(|part| (part.rust_name(), part.places.of("rust"))).collect();
        for (name, place) in &names {
            self.rust_name(*place, name);
            if name == "extra" {
                self.problem(*place, "\"extra\" is the member that holds what the tables do not know");
            }
        }
        self.twice("member", names);
    }

    fn rust_name(&mut self, place: Place, name: &str) {
        if name.is_empty() {
            return;
        }
        if !is_snake(name) {
            let what = format!("{name:?} is not a Rust field name: give one, such as rust = \"three_d_secure\"");
            self.problem(place, what);
        } else if TAKEN.contains(&name) || names::KEYWORDS.contains(&name) {
            self.problem(place, format!("{name:?} is taken in Rust: give another name as rust = \"…\""));
        }
    }

    /// No two fields of one request may share a name, nor may a name begin like a numbered or open one.
    pub(super) fn wire_names(&mut self, method: Place, rows: &[Row]) {
        if self.is_endless() {
            return;
        }
        let fields = self.tables.flatten(rows);
        for (at, field) in fields.iter().enumerate() {
            for other in &fields[..at] {
                if let Some(what) = clash(other, field) {
                    // A clash of two groups is a mistake of the method that takes both.
                    let of_method = field.places.row.file == method.file && field.places.row > method;
                    let place = if of_method { field.places.of("wire") } else { method };
                    self.problem(place, what);
                }
            }
        }
    }
}

/// What is wrong with two fields in one request.
fn clash(first: &Field, second: &Field) -> Option<String> {
    let spellings = |field: &Field| -> Vec<String> {
        field
            .aliases
            .iter()
            .map(|alias| alias.to_ascii_lowercase())
            .chain([field.name().to_ascii_lowercase()])
            .collect()
    };
    let known = spellings(first);
    if let Some(name) = spellings(second).iter().find(|name| known.contains(name)) {
        return Some(format!("parameter {name:?} stands twice, first at {} (capitals do not count)", first.places.row));
    }
    for (open, closed) in [(first, second), (second, first)] {
        if open.is_open() && closed.order_key().starts_with(&open.order_key()) {
            return Some(format!("parameter {:?} can be taken for {:?}", closed.name(), open.name()));
        }
    }
    None
}

impl Checker<'_> {
    /// Wire names of one record, with its other spellings.
    pub(super) fn part_wire_names(&mut self, parts: &[Part]) {
        let spelt = |part: &Part, places: &Places| {
            let place = places.of("wire");
            part.aliases.iter().chain([&part.name()]).map(|name| (name.clone(), place)).collect::<Vec<_>>()
        };
        self.twice("field", parts.iter().flat_map(|part| spelt(part, &part.places)));
        // A reader takes the first row that fits.
        for (at, part) in parts.iter().enumerate() {
            let prefixes =
                parts[..at].iter().filter_map(|before| before.prefix.as_deref()).filter(|text| !text.is_empty());
            for prefix in prefixes {
                let names = [&part.wire].into_iter().chain(&part.aliases).chain(&part.prefix);
                if let Some(name) = names.clone().find(|name| name.starts_with(prefix)) {
                    let what = format!("{name:?} is taken for {prefix:?}*, which is above it: move the row there");
                    self.problem(part.places.of(if part.prefix.is_some() { "prefix" } else { "wire" }), what);
                }
            }
        }
    }

    /// Other spellings that no reader could tell apart, or that say nothing.
    pub(super) fn aliases(&mut self, places: &Places, name: &str, aliases: &[String]) {
        for (at, alias) in aliases.iter().enumerate() {
            let what = if alias.is_empty() {
                "is empty"
            } else if alias == name || aliases[..at].contains(alias) {
                "is a spelling that the row has already"
            } else if !is_wire(alias) {
                "holds more than letters, digits, _, [ and ]"
            } else if CREDENTIALS.contains(&alias.to_ascii_lowercase().as_str()) {
                "is a credential, which every request gets by itself"
            } else {
                continue;
            };
            self.problem(places.of("aliases"), format!("alias {alias:?} {what}"));
        }
    }
}

fn is_camel(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_snake(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Whether a text can be a name on the wire.
pub(super) fn is_wire(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'[' | b']'))
}

/// Whether a text can name a constant.
pub(super) fn is_shouted(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}
