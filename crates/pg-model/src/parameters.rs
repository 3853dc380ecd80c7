//! Parameters by name: the form of a request on the wire.

use alloc::{string::String, vec::Vec};

use crate::{
    field::{Field, around_number, number_between},
    mask,
};

/// Receives the parameters of a request one by one, in signing order: by name, ignoring ASCII case (spec 1 §5).
pub trait ParameterSink {
    /// The account's credentials are inserted here in the order of names.
    fn credentials(&mut self);

    /// Receives one parameter. `name` is the field's wire name, with the item's number filled in.
    fn parameter(&mut self, field: &'static Field, name: &str, value: &str);

    /// Receives one parameter whose value is a list, joined by commas.
    fn list(&mut self, field: &'static Field, name: &str, values: &mut dyn Iterator<Item = &str>);

    /// Whether the numbers of items are filled in to their names; without them, every item has the field's wire name.
    #[doc(hidden)]
    fn reads_item_names(&self) -> bool {
        true
    }
}

/// Names and values in their original order.
///
/// The values are raw: neither URL-encoded nor checked. A name may occur more than once. `Debug` shows only names.
///
/// ```
/// let parameters: pg_model::Parameters = [("currency", "GBP"), ("itemName0", "Tea")].into_iter().collect();
/// assert_eq!(parameters.get("itemName0"), Some("Tea"));
/// assert_eq!(parameters.len(), 2);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    /// All names and values concatenated: two allocations for any number of parameters.
    text: String,
    /// The end of each name and each value.
    ends: Vec<(usize, usize)>,
}

impl Parameters {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { text: String::new(), ends: Vec::new() }
    }

    /// Creates an empty list with room for this many parameters and bytes of names and values.
    #[must_use]
    pub fn with_capacity(parameters: usize, bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ends: Vec::with_capacity(parameters) }
    }

    /// Appends a parameter.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.add(&name.into(), &value.into());
    }

    /// Appends a parameter from borrowed texts.
    pub fn add(&mut self, name: &str, value: &str) {
        self.text.push_str(name);
        let name_ends = self.text.len();
        self.text.push_str(value);
        self.ends.push((name_ends, self.text.len()));
    }

    /// Returns the value of the first parameter with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Returns all parameters.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> + Clone {
        let mut rest = self.text.as_str();
        let mut start = 0;
        self.ends.iter().map(move |&(name_ends, value_ends)| {
            let (name, after) = rest.split_at(name_ends - start);
            let (value, after) = after.split_at(value_ends - name_ends);
            (rest, start) = (after, value_ends);
            (name, value)
        })
    }

    /// Returns the number of parameters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the value of a field under its name or one of its other spellings.
    #[must_use]
    pub fn of(&self, field: &Field) -> Option<&str> {
        core::iter::once(&field.wire).chain(field.aliases).find_map(|name| self.get(name))
    }

    /// Returns the numbers of all items that have at least one of these fields, in ascending order.
    #[must_use]
    pub fn item_numbers(&self, fields: &[&Field]) -> Vec<usize> {
        let wanted: Vec<_> = fields.iter().filter_map(|field| around_number(field.wire)).collect();
        // The first letter tells nearly all names apart.
        let is_near = |before: &str, name: &str| before.as_bytes().first() == name.as_bytes().first();
        let near = |name| wanted.iter().filter(move |(before, _)| is_near(before, name));
        let number_in = |name| near(name).find_map(|around| number_between(*around, name));
        let mut numbers: Vec<usize> = self.iter().filter_map(|(name, _)| number_in(name)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Returns all parameters whose name begins with a prefix.
    #[must_use]
    pub fn with_prefix(&self, prefix: &str) -> Named {
        let mut named = Named::default();
        for (name, value) in self.iter().filter(|(name, _)| name.starts_with(prefix)) {
            named.push(name, value);
        }
        named
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut parameters = Self::new();
        pairs.into_iter().for_each(|(name, value)| parameters.push(name, value));
        parameters
    }
}

impl core::fmt::Debug for Parameters {
    /// Shows only names: values of unknown fields may be secret.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| mask::masked(name))).finish()
    }
}

/// Parameters that share a prefix, such as `bank…` or `collect…`: full names and texts, in order.
///
/// ```
/// use pg_model::Named;
/// let bank = Named::from_iter([("bankAuthCode", "77")]);
/// for (name, value) in &bank {
///     assert_eq!((name, value), ("bankAuthCode", "77"));
/// }
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Named(Vec<NamedText>);

/// A name followed by its value in one text: half the allocations.
#[derive(Clone, PartialEq, Eq)]
struct NamedText {
    text: String,
    name_length: usize,
}

impl Named {
    /// Adds a parameter; `name` includes the prefix.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.add(&name.into(), &value.into());
    }

    /// Adds a parameter from borrowed texts.
    pub fn add(&mut self, name: &str, value: &str) {
        let mut text = String::with_capacity(name.len() + value.len());
        text.push_str(name);
        text.push_str(value);
        self.0.push(NamedText { text, name_length: name.len() });
    }

    /// Returns the value of the first parameter with this full name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Returns all parameters.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|named| named.text.split_at_checked(named.name_length).unwrap_or((&named.text, "")))
    }

    /// Whether there are no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for &'a Named {
    type Item = (&'a str, &'a str);
    type IntoIter = NamedIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        NamedIter(self.0.iter())
    }
}

/// The names and values of [`Named`] parameters.
#[derive(Clone)]
pub struct NamedIter<'a>(core::slice::Iter<'a, NamedText>);

impl<'a> Iterator for NamedIter<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|named| named.text.split_at(named.name_length))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for NamedIter<'_> {}

impl core::fmt::Debug for NamedIter<'_> {
    /// Masks likely card numbers, and hides values whose names mark them as secrets.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let shown = self.clone().map(|(name, value)| (mask::masked(name), mask::named(name, value)));
        f.debug_map().entries(shown).finish()
    }
}

impl core::fmt::Debug for Named {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.into_iter().fmt(f)
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Named {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut named = Self::default();
        for (name, value) in pairs {
            named.push(name, value);
        }
        named
    }
}
