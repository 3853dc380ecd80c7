//! Reads the fields of generated requests from parameters.

use alloc::{
    borrow::Cow,
    collections::BTreeSet,
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    field::{Field, around_number, initial},
    method::ApiRequest,
    parameters::{Named, Parameters},
    text::Text,
    violation::{Rule, Violation, Violations},
};

/// Reads fields one by one and collects all errors.
pub(crate) struct Reader<'a> {
    parameters: &'a Parameters,
    /// The first value of each name, ordered by name, so that requests with many items are read fast.
    values: Vec<(&'a str, &'a str)>,
    /// A bit for each name present: most fields of most methods are not sent.
    sent: u64,
    violations: Violations,
}

/// Returns the bit of a name; other names may share it.
fn bit(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let at = |place: usize| bytes.get(place).map_or(0, |byte| usize::from(*byte));
    1 << ((bytes.len() * 5 + at(4) + at(bytes.len().wrapping_sub(2)) * 3) % 64)
}

impl<'a> Reader<'a> {
    /// Reads a whole request with `read`.
    pub(crate) fn request<M: ApiRequest>(
        parameters: &'a Parameters,
        read: impl FnOnce(&mut Self) -> M,
    ) -> Result<M, Violations> {
        let mut reader = Self::new(parameters);
        let request = read(&mut reader);
        reader.finish(request)
    }

    fn new(parameters: &'a Parameters) -> Self {
        let mut values: Vec<_> = parameters.iter().collect();
        // A stable sort, so that the first value of a name comes first.
        values.sort_by_key(|(name, _)| *name);
        values.dedup_by_key(|(name, _)| *name);
        let sent = values.iter().fold(0, |sent, (name, _)| sent | bit(name));
        Self { parameters, values, sent, violations: Violations::new() }
    }

    /// Returns the request, or all errors. If there are errors, the readable fields are checked too, so that one call
    /// reports everything.
    fn finish<M: ApiRequest>(self, request: M) -> Result<M, Violations> {
        let items: Vec<&'static Field> = M::INFO.fields.iter().copied().filter(|field| field.is_numbered()).collect();
        let numbers = self.parameters.item_numbers(&items);
        // Version 5 defines no base, so 1 is as valid as 0 (assumption A14).
        let first = usize::from(M::INFO.service.version == 5 && numbers.first() == Some(&1));
        let stray = self.gap(&items, &numbers, first).or_else(|| self.misspelt_amount(M::INFO.fields));
        if self.violations.is_empty() && stray.is_none() && first == 0 {
            return Ok(request);
        }
        let mut all = request.check();
        if stray.is_some() || first > 0 {
            // The request renumbers its items; they are checked under their original names.
            all = all.iter().filter(|violation| !items.iter().any(|f| f.is_named(&violation.name))).cloned().collect();
            for (name, value) in &self.values {
                if let Some(field) = items.iter().find(|field| field.is_named(name)) {
                    field.check(name, value, &mut all);
                }
            }
            stray.into_iter().for_each(|stray| all.push(stray));
        }
        let known: BTreeSet<String> = all.iter().map(|violation| violation.name.clone()).collect();
        self.violations.iter().filter(|violation| !known.contains(&violation.name)).cloned().for_each(|v| all.push(v));
        if all.is_empty() { Ok(request) } else { Err(all) }
    }

    /// Items are numbered without gaps, in the usual notation (assumption A14). Skipping an item
    /// would change the amount.
    fn gap(&self, items: &[&'static Field], numbers: &[usize], first: usize) -> Option<Violation> {
        if let Some((_, &number)) = numbers.iter().enumerate().find(|(place, number)| place + first != **number) {
            let (field, value) = items.iter().find_map(|field| Some((*field, self.value(field, Some(number))?)))?;
            return Some(Violation::new(field, &item_name(field, number), Rule::ITEM_AFTER_A_GAP, value));
        }
        self.stray(items, Field::is_misnumbered, Rule::MISNUMBERED_ITEM)
    }

    /// Skipping an amount, or its currency, would change the charge (assumption A170).
    fn misspelt_amount(&self, fields: &[&'static Field]) -> Option<Violation> {
        let amounts: Vec<&'static Field> = fields.iter().copied().filter(|field| field.is_amount()).collect();
        self.stray(&amounts, Field::is_misspelt, Rule::MISSPELT_AMOUNT)
    }

    /// Returns the first parameter that `is_meant` recognises as a misspelling of one of `fields`.
    fn stray(
        &self,
        fields: &[&'static Field],
        is_meant: impl Fn(&Field, &str) -> bool,
        rule: Rule,
    ) -> Option<Violation> {
        let initials = fields.iter().fold(0, |initials, field| initials | field.initial());
        self.values.iter().filter(|(name, _)| initials & initial(name) != 0).find_map(|(name, value)| {
            let field = fields.iter().find(|field| is_meant(field, name))?;
            Some(Violation::new(field, name, rule, value))
        })
    }

    /// Returns a required text; a missing one is an error.
    pub(crate) fn text<T: Text + Default>(&mut self, field: &'static Field, item: Option<usize>) -> T {
        self.optional(field, item).unwrap_or_else(|| {
            self.note(field, item, Rule::Required, "");
            T::default()
        })
    }

    /// Returns an optional text.
    pub(crate) fn optional<T: Text + Default>(&mut self, field: &'static Field, item: Option<usize>) -> Option<T> {
        self.value(field, item).map(|value| {
            let mut text = T::default();
            text.set(Cow::Borrowed(value));
            text
        })
    }

    /// Returns a required number; a missing or invalid one is an error.
    pub(crate) fn number<T: core::str::FromStr + Default>(&mut self, field: &'static Field, item: Option<usize>) -> T {
        if self.value(field, item).is_none_or(str::is_empty) {
            self.note(field, item, Rule::Required, "");
            return T::default();
        }
        self.optional_number(field, item).unwrap_or_default()
    }

    /// Returns an optional number; an invalid one is an error, and so is an empty one.
    pub(crate) fn optional_number<T: core::str::FromStr>(
        &mut self,
        field: &'static Field,
        item: Option<usize>,
    ) -> Option<T> {
        let value = self.value(field, item)?;
        if value.is_empty() {
            self.note(field, item, Rule::EMPTY_VALUE, value);
            return None;
        }
        let plain = field.format.admits(value).then(|| value.parse().ok()).flatten();
        if plain.is_none() {
            self.note(field, item, Rule::Format(field.format), value);
        }
        plain
    }

    /// Returns a list joined by commas.
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

    /// Returns all parameters whose names begin as that of the field.
    pub(crate) fn named(&self, field: &Field) -> Named {
        self.parameters.with_prefix(field.wire.trim_end_matches('*'))
    }

    /// Returns the items, each read with its number.
    pub(crate) fn items<T>(&mut self, fields: &[&Field], read: fn(&mut Self, usize) -> T) -> Vec<T> {
        self.parameters.item_numbers(fields).into_iter().map(|number| read(self, number)).collect()
    }

    fn value(&self, field: &Field, item: Option<usize>) -> Option<&'a str> {
        let value = |name: &str| {
            if self.sent & bit(name) == 0 {
                return None;
            }
            let at = self.values.binary_search_by_key(&name, |(name, _)| *name).ok()?;
            self.values.get(at).map(|(_, value)| *value)
        };
        match item {
            Some(number) => value(&item_name(field, number)),
            None => core::iter::once(&field.wire).chain(field.aliases).find_map(|name| value(name)),
        }
    }

    fn note(&mut self, field: &'static Field, item: Option<usize>, rule: Rule, value: &str) {
        let name = item.map_or_else(|| field.wire.to_string(), |number| item_name(field, number));
        self.violations.push(Violation::new(field, &name, rule, value));
    }
}

/// Returns the wire name of item `number`'s field.
pub(crate) fn item_name(field: &Field, number: usize) -> String {
    let Some((before, after)) = around_number(field.wire) else { return field.wire.to_string() };
    let mut name = String::with_capacity(field.wire.len() + 4);
    name.push_str(before);
    name.push_str(itoa::Buffer::new().format(number));
    name.push_str(after);
    name
}
