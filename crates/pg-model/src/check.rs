//! Checks values against the rules of their fields, for single fields and for whole requests.

use alloc::vec::Vec;
use core::fmt;

use crate::{
    field::{Field, Length, around_number, number_between},
    format::Format,
    parameters::ParameterSink,
    text::Text,
    violation::{Rule, Violation, Violations},
};

impl Field {
    /// Checks one value; broken rules are added to `violations` under `name`.
    ///
    /// An empty value breaks a rule if the field is required, an amount, a number or a choice (assumption A09).
    #[inline]
    pub fn check(&'static self, name: &dyn fmt::Display, value: &str, violations: &mut Violations) {
        if let Some(rule) = self.broken_rule(value) {
            violations.push(Violation::new(self, name, rule, value));
        }
    }

    /// Returns the first rule that a value breaks: required, then length, then format.
    #[must_use]
    pub fn broken_rule(&'static self, value: &str) -> Option<Rule> {
        if value.is_empty() {
            let not_empty = || (!self.format.may_be_empty()).then_some(Rule::EMPTY_VALUE);
            return if self.required { Some(Rule::Required) } else { not_empty() };
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

/// Checks each field that a request visits, except lists. Violations are in the order of the tables, those of items item by
/// item.
pub(crate) fn each_field(fields: &'static [&'static Field], visit: impl Fn(&mut dyn ParameterSink)) -> Violations {
    let mut checker = Checker { is_broken: false };
    visit(&mut checker);
    if checker.is_broken { every_violation(fields, &visit) } else { Violations::default() }
}

/// Not generic: it would be compiled for every method.
#[cold]
fn every_violation(fields: &'static [&'static Field], visit: &dyn Fn(&mut dyn ParameterSink)) -> Violations {
    let mut collector = Collector { fields, broken: Vec::new() };
    visit(&mut collector);
    collector.broken.sort_by_key(|(place, _)| *place);
    collector.broken.into_iter().map(|(_, violation)| violation).collect()
}

/// Returns the rule that the name of a parameter breaks. Parameters that share a prefix each have a name of their own.
fn broken_name(field: &'static Field, name: &str) -> Option<Rule> {
    (field.wire.ends_with('*') && !field.is_named(name)).then_some(Rule::Unknown)
}

/// Finds whether a request breaks a rule. Nearly every request breaks none, and building the names of items takes
/// longer than checking them.
struct Checker {
    is_broken: bool,
}

impl ParameterSink for Checker {
    fn credentials(&mut self) {}

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        self.is_broken |= broken_name(field, name).is_some() || field.broken_rule(value).is_some();
    }

    /// [`list`] checks a list as a whole.
    fn list(&mut self, _: &'static Field, _: &str, _: &mut dyn Iterator<Item = &str>) {}

    fn reads_item_names(&self) -> bool {
        false
    }
}

/// Collects the violations of a request.
struct Collector {
    fields: &'static [&'static Field],
    broken: Vec<([usize; 3], Violation)>,
}

impl Collector {
    fn note(&mut self, field: &'static Field, name: &str, rule: Rule, value: &str) {
        let at = self.fields.iter().position(|known| core::ptr::eq(*known, field)).unwrap_or_default();
        let place = match around_number(field.wire).and_then(|around| number_between(around, name)) {
            Some(number) => {
                let first = self.fields.iter().position(|known| known.is_numbered()).unwrap_or_default();
                [first, number, at]
            }
            None => [at, 0, 0],
        };
        self.broken.push((place, Violation::new(field, &name, rule, value)));
    }
}

impl ParameterSink for Collector {
    fn credentials(&mut self) {}

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        for rule in broken_name(field, name).into_iter().chain(field.broken_rule(value)) {
            self.note(field, name, rule, value);
        }
    }

    fn list(&mut self, _: &'static Field, _: &str, _: &mut dyn Iterator<Item = &str>) {}
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

#[cfg(test)]
mod tests {
    use alloc::{
        string::{String, ToString},
        vec::Vec,
    };

    use crate::{ApiRequest as _, GetToken, Parameters, Refund, UpdateCardKeyDetails, method::method};

    fn told(path: &str, pairs: &[(&str, &str)]) -> Vec<String> {
        let parameters = pairs.iter().copied().collect::<Parameters>();
        (method(path).unwrap().check)(&parameters).iter().map(ToString::to_string).collect()
    }

    // spec: 2 §3.2, §4.4, 1 §5, A09: A service that drops empty values would refund, capture or release everything.
    #[test]
    fn an_amount_that_is_empty_is_not_the_whole_amount() {
        let key = ("transactionKey", "0123456789abcdef0123456789ABCDEF");
        for path in ["transaction/refund", "transaction/capturepreauth", "transaction/cancelpreauth"] {
            assert_eq!(told(path, &[key]), [""; 0], "{path}");
            let told = told(path, &[key, ("transactionValue", "")]);
            assert!(told[0].starts_with("transactionValue: must not be empty: leave the parameter out"), "{told:?}");
            assert_eq!(told.len(), 1, "{told:?}");
        }
        let empty = [key, ("transactionValue", "")].into_iter().collect();
        assert!(Refund::from_parameters(&empty).is_err());
    }

    // spec: 2 §4.3, 3 §4.1, A09
    #[test]
    fn a_number_or_a_choice_that_is_empty_is_not_its_default() {
        let item = [("item_name[0]", "Tea"), ("item_price[0]", "4.99")];
        for name in ["currency", "trans_type", "token_uses", "token_expiry", "3D_secure", "item_quantity[0]"] {
            let told = told("enterprise/gettoken", &[&item[..], &[(name, "")]].concat());
            assert!(told.len() == 1 && told[0].starts_with(&(name.to_string() + ": must not be empty")), "{told:?}");
        }
        let order = [("sessionKey", "s"), ("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
        let told = told("transaction/authSessionKey", &[&order[..], &[("itemQuantity0", "")]].concat());
        assert!(told.len() == 1 && told[0].starts_with("itemQuantity0: must not be empty"), "{told:?}");
        let typed = GetToken { currency: Some("".into()), ..GetToken::default() };
        assert_eq!(typed.check().iter().count(), 1);
    }

    // spec: 1 §4.6, A09
    #[test]
    fn an_empty_value_may_erase_what_is_stored() {
        let all = UpdateCardKeyDetails::INFO.fields.iter().map(|field| (field.wire, ""));
        let pairs: Vec<_> = all.map(|(name, value)| (name, if name == "cardKey" { "k" } else { value })).collect();
        assert_eq!(told("token/updateCardKeyDetails", &pairs), [""; 0]);
        // An optional text is free everywhere: an empty one says nothing else than a missing one.
        let order = [("sessionKey", "s"), ("currency", "GBP"), ("merchantReference", ""), ("mccSurname", "")];
        assert_eq!(told("transaction/authSessionKey", &order), [""; 0]);
    }
}
