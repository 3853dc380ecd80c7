//! How generated requests take their fields back from parameters.

use alloc::{borrow::Cow, string::ToString, vec::Vec};

use crate::{
    field::Field,
    parameters::Parameters,
    text::Text,
    violation::{Rule, Violation, Violations},
};

/// Reads fields one by one and remembers everything that is wrong.
pub(crate) struct Reader<'a> {
    parameters: &'a Parameters,
    violations: Violations,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(parameters: &'a Parameters) -> Self {
        Self { parameters, violations: Violations::new() }
    }

    pub(crate) const fn parameters(&self) -> &'a Parameters {
        self.parameters
    }

    /// `value`, unless something was wrong.
    pub(crate) fn finish<T>(self, value: T) -> Result<T, Violations> {
        self.violations.into_result().map(|()| value)
    }

    /// A required text; a missing one is noted.
    pub(crate) fn text<T: Text + Default>(&mut self, field: &'static Field, item: Option<usize>) -> T {
        self.optional(field, item).unwrap_or_else(|| {
            self.note(field, item, Rule::Required, "");
            T::default()
        })
    }

    /// An optional text.
    pub(crate) fn optional<T: Text + Default>(&mut self, field: &'static Field, item: Option<usize>) -> Option<T> {
        self.value(field, item).map(|value| {
            let mut text = T::default();
            text.set(Cow::Borrowed(value));
            text
        })
    }

    /// A required number; a missing one, or one that is no number, is noted.
    pub(crate) fn number<T: core::str::FromStr + Default>(&mut self, field: &'static Field, item: Option<usize>) -> T {
        if self.value(field, item).is_none_or(str::is_empty) {
            self.note(field, item, Rule::Required, "");
        }
        self.optional_number(field, item).unwrap_or_default()
    }

    /// An optional number; one that is no number is noted. An empty value is none.
    pub(crate) fn optional_number<T: core::str::FromStr>(
        &mut self,
        field: &'static Field,
        item: Option<usize>,
    ) -> Option<T> {
        let value = self.value(field, item).filter(|value| !value.is_empty())?;
        let plain = field.format.admits(value).then(|| value.parse().ok()).flatten();
        if plain.is_none() {
            self.note(field, item, Rule::Format(field.format), value);
        }
        plain
    }

    /// A list joined by commas.
    pub(crate) fn list<T: Text + Default>(&mut self, field: &'static Field) -> Vec<T> {
        let Some(value) = self.value(field, None).filter(|value| !value.is_empty()) else {
            if field.required {
                self.note(field, None, Rule::Required, "");
            }
            return Vec::new();
        };
        value
            .split(',')
            .map(|part| {
                let mut text = T::default();
                text.set(Cow::Borrowed(part));
                text
            })
            .collect()
    }

    fn value(&self, field: &Field, item: Option<usize>) -> Option<&'a str> {
        item.map_or_else(|| self.parameters.of(field), |number| self.parameters.of_item(field, number))
    }

    fn note(&mut self, field: &'static Field, item: Option<usize>, rule: Rule, value: &str) {
        let name = item.map_or_else(|| field.wire.to_string(), |number| item_name(field, number));
        self.violations.push(Violation::new(field, &name, rule, value));
    }
}

/// The wire name of item `number`'s field.
pub(crate) fn item_name(field: &Field, number: usize) -> alloc::string::String {
    field.wire.replace("{n}", &number.to_string())
}
