//! Fields of requests: each for itself.

use super::{
    super::{
        formats::{self, Format, bounds, range_bounds},
        place::allowed,
        tables::Field,
    },
    CREDENTIALS, Checker,
    names::is_wire,
    secrets,
};

/// Longest wire name of a field, so that a numbered name fits its buffer.
const NAME_LIMIT: usize = 40;

impl Checker<'_> {
    pub(super) fn field(&mut self, field: &Field, repeated: bool) {
        let places = &field.places;
        self.filled(places, &[("type", &field.kind), ("format", &field.format)]);
        for (key, text) in [("rust", &field.rust), ("default", &field.default), ("spec", &field.spec)] {
            if text.as_ref().is_some_and(String::is_empty) {
                self.problem(places.of(key), format!("{key} is empty: leave it out"));
            }
        }
        self.source_and_doc(places, &field.source, &field.doc);
        self.wire_name(field, repeated);
        self.type_name(places.of("type"), &field.kind);
        match formats::find(&field.format) {
            Some(format) => self.format(field, format),
            None if field.format.is_empty() => {}
            None => {
                let hint = allowed(&field.format, formats::FORMATS.iter().map(|format| format.name));
                self.problem(places.of("format"), format!("format {:?} is not known{hint}", field.format));
            }
        }
        if field.required && field.default.is_some() {
            self.problem(places.of("default"), "a required field has no default");
        }
        if field.required && field.prefix.is_some() {
            self.problem(places.of("required"), "a prefix matches any number of parameters, including none");
        }
        if is_list(&field.kind) && !field.required {
            self.problem(places.of("type"), "a list needs required = true");
        }
        self.aliases(places, &field.wire, &field.aliases);
        self.range(field);
        self.stated(field);
        self.default_value(field);
    }

    fn wire_name(&mut self, field: &Field, repeated: bool) {
        let places = &field.places;
        if field.wire.is_empty() == field.prefix.as_ref().is_none_or(String::is_empty) {
            self.problem(places.row, "the row needs exactly one of wire and prefix (or a group)");
            return;
        }
        let place = places.of(if field.prefix.is_some() { "prefix" } else { "wire" });
        let name = field.prefix.as_deref().unwrap_or(&field.wire);
        if name.len() > NAME_LIMIT {
            self.problem(place, format!("{name:?} is longer than {NAME_LIMIT} characters"));
        }
        let plain = name.replace("{n}", "");
        if !is_wire(&plain) {
            self.problem(place, format!("{name:?} holds more than letters, digits, _, [ and ]"));
        }
        if CREDENTIALS.contains(&name.to_ascii_lowercase().as_str()) {
            self.problem(place, format!("{name:?} is a credential, which every request gets by itself"));
        }
        match (repeated, field.wire.matches("{n}").count()) {
            (true, 1) | (false, 0) => {}
            (true, _) => self.problem(place, format!("{name:?} repeats, so it needs {{n}} once for its number")),
            (false, _) => self.problem(place, format!("{name:?} has a number {{n}}, but its group does not repeat")),
        }
    }

    fn format(&mut self, field: &Field, format: &Format) {
        let places = &field.places;
        let kind = field.kind.as_str();
        let wants_another = !format.types.is_empty() && !format.types.contains(&kind);
        let wanted_by_type = formats::FORMATS.iter().any(|other| other.types.contains(&kind));
        if wants_another {
            let types = format.types.join(" or ");
            self.problem(places.of("type"), format!("format {:?} needs type {types}", format.name));
        } else if wanted_by_type && format.types.is_empty() && field.format != "one-of" {
            self.problem(places.of("format"), format!("format {:?} does not go with type {kind}", format.name));
        }
        if matches!(format.name, "card-number" | "cv2") && !field.sensitive {
            self.problem(places.row, format!("format {:?} needs sensitive = true", format.name));
        } else if !field.sensitive && (kind == "Secret" || is_secret(&field.name())) {
            self.problem(places.row, "the type or the name is that of a secret, so the row needs sensitive = true");
        }
        if let Some(length) = field.length.as_deref() {
            self.length(field, format, length);
        }
        self.values(field);
    }

    fn length(&mut self, field: &Field, format: &Format, length: &str) {
        let place = field.places.of("length");
        let Some((least, most)) = bounds(length) else {
            return self.problem(place, format!("length {length:?} is not of the form \"32\", \"..50\" or \"3..4\""));
        };
        if most == 0 || least > most {
            self.problem(place, format!("no value can have the length {length:?}"));
        } else if !format.lengths.is_empty() && !format.lengths.iter().any(|one| (least..=most).contains(one)) {
            let lengths: Vec<String> = format.lengths.iter().map(u16::to_string).collect();
            let what = format!("a value of format {:?} has {} characters", format.name, lengths.join(" or "));
            self.problem(place, format!("length {length:?} is impossible: {what}"));
        }
        if is_number(&field.kind) || is_list(&field.kind) {
            self.problem(place, "length is for texts; a number has a range");
        }
        for value in &field.values {
            if !(usize::from(least)..=usize::from(most)).contains(&value.chars().count()) {
                self.problem(field.places.of("values"), format!("value {value:?} breaks the length {length:?}"));
            }
        }
    }

    fn values(&mut self, field: &Field) {
        let place = field.places.of("values");
        if (field.format == "one-of") == field.values.is_empty() {
            self.problem(place, "values go with format one-of, and only with it");
        }
        for (at, value) in field.values.iter().enumerate() {
            if value.is_empty() || field.values[..at].contains(value) {
                self.problem(place, format!("value {value:?} is empty or stands twice"));
            }
        }
        let Some(table) = self.tables.code_table(&field.kind) else { return };
        for value in &field.values {
            if !table.codes.iter().any(|code| code.code == *value) {
                let hint = allowed(value, table.codes.iter().map(|code| code.code.as_str()));
                self.problem(place, format!("value {value:?} is not a code of {}{hint}", table.name));
            }
        }
    }

    fn range(&mut self, field: &Field) {
        let Some(range) = field.range.as_deref() else { return };
        let place = field.places.of("range");
        match (range_bounds(range), field.kind.as_str()) {
            (None, _) => self.problem(place, format!("range {range:?} is not of the form \"-1..127\"")),
            (Some((least, most)), _) if least > most => {
                self.problem(place, format!("no number lies in the range {range:?}"));
            }
            (Some((least, _)), "u64") if least < 0 => self.problem(place, "a u64 cannot be below 0"),
            (Some(_), "u64" | "i64") => {}
            (Some(_), kind) => self.problem(place, format!("range is for u64 and i64, not for {kind}")),
        }
    }

    /// A default of one word is a value, which the row has to admit. More words describe it.
    fn default_value(&mut self, field: &Field) {
        let Some(default) = field.default.as_deref().filter(|default| !default.contains(' ')) else { return };
        let admitted = if !field.values.is_empty() {
            field.values.iter().any(|value| value == default)
        } else if is_number(&field.kind) {
            let (least, most) = field.range.as_deref().and_then(range_bounds).unwrap_or((i64::MIN, i64::MAX));
            let least = if field.kind == "u64" { least.max(0) } else { least };
            formats::number(default).is_some_and(|number: i64| (least..=most).contains(&number))
        } else {
            let length = field.length.as_deref().and_then(bounds);
            let characters = default.chars().count();
            length.is_none_or(|(least, most)| (usize::from(least)..=usize::from(most)).contains(&characters))
                && formats::find(&field.format).is_none_or(|format| format.admits(default))
                && self
                    .tables
                    .code_table(&field.kind)
                    .is_none_or(|table| table.codes.iter().any(|one| one.code == default))
        };
        if !admitted && !default.is_empty() {
            self.problem(field.places.of("default"), format!("default {default:?} is no value that the row allows"));
        }
    }
}

/// Whether the name of a field contains that of a secret, as `pg_model::mask` reads it.
fn is_secret(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    secrets::CV2.iter().chain(&secrets::OTHER).any(|word| name.contains(word))
}

pub(super) fn is_number(kind: &str) -> bool {
    matches!(kind, "u64" | "i64")
}

pub(super) fn is_list(kind: &str) -> bool {
    kind.starts_with("Vec<")
}
