//! How a value is checked by the rule of its field, and how generated requests check theirs.

use core::fmt;

use crate::{
    field::{Field, Length},
    format::Format,
    parameters::Named,
    text::Text,
    violation::{Rule, Violation, Violations},
};

impl Field {
    /// Checks one value; broken rules are added to `violations` under `name`.
    ///
    /// An empty value counts as not given: it is an error only if the field is required.
    #[inline]
    pub fn check(&'static self, name: &dyn fmt::Display, value: &str, violations: &mut Violations) {
        if let Some(rule) = self.broken_rule(value) {
            violations.push(Violation::new(self, name, rule, value));
        }
    }

    /// The first rule that a value breaks: required, then length, then format.
    #[must_use]
    pub fn broken_rule(&'static self, value: &str) -> Option<Rule> {
        if value.is_empty() {
            return self.required.then_some(Rule::Required);
        }
        if self.length != Length::Any {
            // Counting is only needed if there are more bytes than characters.
            let characters = if value.is_ascii() { value.len() } else { value.chars().count() };
            if !self.length.admits(characters) {
                return Some(Rule::Length(self.length));
            }
        }
        match self.format {
            Format::OneOf if !self.has_value(value) => Some(Rule::OneOf(self.values)),
            format if !format.admits(value) => Some(Rule::Format(format)),
            _ => self.range.filter(|&range| !in_range(value, range)).map(|(least, most)| Rule::Range(least, most)),
        }
    }

    /// Whether a value is one of the allowed values, in any letter case (assumption A143).
    fn has_value(&self, value: &str) -> bool {
        self.values.iter().any(|known| known.eq_ignore_ascii_case(value))
    }
}

fn in_range(value: &str, (least, most): (i64, i64)) -> bool {
    value.parse::<i64>().is_ok_and(|number| (least..=most).contains(&number))
}

/// A required text; for an item, with its number.
#[inline]
pub(crate) fn text(field: &'static Field, item: Option<usize>, value: &impl Text, violations: &mut Violations) {
    field.check(&Name(field, item), value.text(), violations);
}

/// An optional text.
#[inline]
pub(crate) fn optional(
    field: &'static Field,
    item: Option<usize>,
    value: &Option<impl Text>,
    violations: &mut Violations,
) {
    if let Some(value) = value {
        text(field, item, value, violations);
    }
}

/// An optional whole number.
pub(crate) fn optional_number(
    field: &'static Field,
    item: Option<usize>,
    value: Option<impl itoa::Integer>,
    violations: &mut Violations,
) {
    if let Some(value) = value {
        field.check(&Name(field, item), itoa::Buffer::new().format(value), violations);
    }
}

/// The name of a field on the wire, with the number of its item.
struct Name(&'static Field, Option<usize>);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.1, self.0.wire.split_once("{n}")) {
            (Some(number), Some((before, after))) => write!(f, "{before}{number}{after}"),
            _ => f.write_str(self.0.wire),
        }
    }
}

/// A list joined by commas: not empty if required, without empty elements, duplicates and commas within elements.
pub(crate) fn list<T: Text>(field: &'static Field, values: &[T], violations: &mut Violations) {
    let mut note = |rule, found: &str| violations.push(Violation::new(field, &field.wire, rule, found));
    if values.is_empty() {
        if field.required {
            note(Rule::Required, "");
        }
        return;
    }
    if values.len() > crate::format::MAX_CARD_KEYS {
        note(Rule::TOO_MANY_CARD_KEYS, itoa::Buffer::new().format(values.len()));
    }
    // Without an early exit, the loop compares many bytes at once.
    let has_comma = |text: &str| text.bytes().fold(false, |found, byte| found | (byte == b','));
    if let Some(bad) = values.iter().find(|value| value.text().is_empty() || has_comma(value.text())) {
        note(Rule::Together("must contain non-empty card keys without commas"), bad.text());
    }
    if let Some(twice) = crate::twice::find(values) {
        note(Rule::DUPLICATE_CARD_KEY, twice);
    }
}

/// Parameters that share a prefix: each must have the prefix, and a value that fits the field.
pub(crate) fn named(field: &'static Field, values: &Named, violations: &mut Violations) {
    for (name, value) in values.iter() {
        if !field.is_named(name) {
            violations.push(Violation::new(field, &name, Rule::Unknown, value));
        }
        field.check(&name, value, violations);
    }
}
