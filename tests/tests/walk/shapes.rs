//! The fields of the records, from `crates/pg-model/tables/records.toml`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::Value;

/// The content of `records.toml`: the fields of each record, and the nested records.
pub(crate) struct Shapes(BTreeMap<String, Vec<Shape>>);

struct Shape {
    name: String,
    open: bool,
    inner: Option<(String, Inner)>,
}

#[derive(Clone, Copy)]
enum Inner {
    Record,
    List,
    Map,
}

impl Shapes {
    pub(crate) fn load() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/pg-model/tables/records.toml");
        let tables: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        let records = tables["record"].as_array().unwrap().iter();
        let text = |value: &toml::Value, key: &str| Some(value.get(key)?.as_str().unwrap().to_owned());
        let shape = |field: &toml::Value| {
            let inner = [("record", Inner::Record), ("list", Inner::List), ("map", Inner::Map)];
            let inner = inner.into_iter().find_map(|(key, kind)| Some((text(field, key)?, kind)));
            let open = field.get("prefix").is_some();
            Shape { name: text(field, "wire").or(text(field, "prefix")).unwrap(), open, inner }
        };
        let fields = |record: &toml::Value| record["fields"].as_array().unwrap().iter().map(shape).collect();
        Self(records.map(|record| (text(record, "name").unwrap(), fields(record))).collect())
    }

    /// Notes each field of a record that has a value, and those of the records in it.
    pub(crate) fn see(&self, record: &str, value: &Value, seen: &mut BTreeSet<(String, String)>) {
        let Some(members) = value.as_object() else { return };
        let filled = |value: &Value| value.is_number() || value.as_str().is_some_and(|text| !text.is_empty());
        for shape in &self.0[record] {
            match &shape.inner {
                None if shape.open => {
                    let named = |name: &str| self.0[record].iter().any(|other| !other.open && other.name == name);
                    let own = |name: &str| name.starts_with(&shape.name) && !named(name);
                    if members.iter().any(|(name, value)| own(name) && filled(value)) {
                        seen.insert((record.to_owned(), shape.name.clone()));
                    }
                }
                None => {
                    if members.get(&shape.name).is_some_and(filled) {
                        seen.insert((record.to_owned(), shape.name.clone()));
                    }
                }
                Some((inner, kind)) => {
                    let Some(value) = members.get(&shape.name) else { continue };
                    match (kind, value) {
                        (Inner::Record, value) => self.see(inner, value, seen),
                        (_, Value::Array(items)) => items.iter().for_each(|item| self.see(inner, item, seen)),
                        (Inner::List | Inner::Map, Value::Object(items)) => {
                            items.values().for_each(|item| self.see(inner, item, seen));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Every field that holds a value itself.
    pub(crate) fn all(&self) -> BTreeSet<(String, String)> {
        let leaves = |(record, shapes): (&String, &Vec<Shape>)| -> Vec<(String, String)> {
            let own = shapes.iter().filter(|shape| shape.inner.is_none());
            own.map(|shape| (record.clone(), shape.name.clone())).collect()
        };
        self.0.iter().flat_map(leaves).collect()
    }
}
