//! Records: replies and their parts.

use super::{
    super::{
        place::allowed,
        tables::{Empty, Part, Record},
    },
    Checker,
    fields::{is_list, is_number},
};

impl Checker<'_> {
    pub(super) fn records(&mut self) {
        for record in &self.tables.records {
            self.record(record);
        }
    }

    fn record(&mut self, record: &Record) {
        self.filled(&record.places, &[("name", &record.name)]);
        self.source_and_doc(&record.places, &record.source, &record.doc);
        for part in &record.fields {
            self.part(part);
            self.beside(record, part);
        }
        self.part_names(&record.fields);
        self.part_wire_names(&record.fields);
        for essential in &record.essential {
            if !record.fields.iter().any(|part| part.wire == *essential) {
                let hint = allowed(essential, record.fields.iter().map(|part| part.wire.as_str()));
                self.problem(record.places.of("essential"), format!("essential {essential:?} is not a field{hint}"));
            }
        }
        if self.holds(record, &record.name, 0) {
            self.problem(record.places.row, "the record holds itself");
        }
    }

    fn part(&mut self, part: &Part) {
        let places = &part.places;
        self.source_and_doc(places, &part.source, &part.doc);
        let kinds = [&part.kind, &part.record, &part.list, &part.map, &part.prefix];
        if kinds.iter().filter(|kind| kind.is_some()).count() != 1 {
            self.problem(places.row, "the row needs exactly one of type, record, list, map and prefix");
        }
        if part.wire.is_empty() == part.prefix.is_none() {
            self.problem(places.row, "the row needs a wire name, or a prefix instead");
        }
        for (key, record) in [("record", &part.record), ("list", &part.list), ("map", &part.map)] {
            if let Some(record) = record {
                self.record_name(places.of(key), record);
            }
        }
        if let Some(kind) = &part.kind {
            self.type_name(places.of("type"), kind);
            if is_list(kind) || is_number(kind) {
                let what = format!(
                    "a field of a record is a text, of which {kind} is none: try String or a type of types.toml"
                );
                self.problem(places.of("type"), what);
            }
        }
        if part.aliases.iter().any(String::is_empty) {
            self.problem(places.of("aliases"), "an alias is empty");
        }
        if part.item.is_some() && part.list.is_none() {
            self.problem(places.of("item"), "item goes with list only");
        }
        let shapes: &[&str] = match (&part.kind, &part.list) {
            (Some(_), _) => &["number", "string"],
            (_, Some(_)) => &["indexed", "array"],
            _ => &[],
        };
        match part.json.as_deref() {
            None if part.list.is_some() => self.problem(places.row, "a list says json = \"indexed\" or \"array\""),
            Some(json) if !shapes.contains(&json) => {
                let hint = allowed(json, shapes.iter().copied());
                self.problem(places.of("json"), format!("json {json:?} does not go with this row{hint}"));
            }
            _ => {}
        }
        if let Some(number) = part.assumption {
            self.assumption(places.of("assumption"), number);
        }
    }

    /// A field is written beside another one if both are strings and no other rule applies.
    fn beside(&mut self, record: &Record, part: &Part) {
        let Some(other) = &part.beside else { return };
        let place = part.places.of("beside");
        if part.kind.is_none() || part.json.as_deref() == Some("number") {
            self.problem(place, "beside goes with a field that is one text");
        } else if part.empty.unwrap_or(record.empty) == Empty::Keep {
            self.problem(place, "the field is written without a value anyway: leave beside out");
        }
        let texts = record.fields.iter().filter(|field| field.kind.is_some() && field.wire != part.wire);
        if !texts.clone().any(|field| field.wire == *other) {
            let hint = allowed(other, texts.map(|field| field.wire.as_str()));
            self.problem(place, format!("beside {other:?} is no other field of one text{hint}"));
        }
    }

    /// Whether a record contains the named one, directly or in its records; lists and maps are allowed.
    fn holds(&self, record: &Record, name: &str, depth: usize) -> bool {
        record.fields.iter().filter_map(|part| part.record.as_deref()).any(|inner| {
            inner == name
                || (depth < self.tables.records.len()
                    && self.tables.record(inner).is_some_and(|inner| self.holds(inner, name, depth + 1)))
        })
    }
}
