//! The errors of a request: every broken rule at once, by wire name, with the rule and its source.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use crate::{
    field::{Field, Length},
    format::Format,
    mask,
};

/// All errors of one request. Empty means that it can be sent.
///
/// `Display` lists them in one line; values of sensitive parameters are never shown.
///
/// ```
/// use pg_model::{Auth, CardDetails, Currency, Item, ApiRequest, Order};
///
/// let order = Order::new(Currency::GBP).item(Item::new("", 499));
/// let wrong = Auth::new(CardDetails::new("4000000000001000", "13", "49"), order).check();
/// let names: Vec<&str> = wrong.iter().map(|violation| violation.name.as_str()).collect();
/// assert_eq!(names, ["cardExpiryMonth", "itemName0"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The parameter, by its name on the wire, such as `itemPrice3`; what looks like a card number in it is masked.
    pub name: String,
    /// The rule that it breaks.
    pub rule: Rule,
    /// The value found; for a sensitive parameter only its length.
    pub found: String,
    /// The source of the rule: document and section.
    pub source: &'static str,
}

/// A rule that a parameter can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The parameter is required.
    Required,
    /// The value has too few or too many characters.
    Length(Length),
    /// The value has the wrong format.
    Format(Format),
    /// The value is a number outside the allowed range.
    Range(i64, i64),
    /// The value is not one of the allowed values.
    OneOf(&'static [&'static str]),
    /// The method has no such parameter.
    Unknown,
    /// A rule for several parameters together; the text states it.
    Together(&'static str),
}

impl Rule {
    /// An item whose number follows a gap (assumption A14).
    pub const ITEM_AFTER_A_GAP: Self =
        Self::Together("belongs to an item whose number follows a gap; items are numbered from 0");
    /// A parameter of an item without a usable number (assumption A14).
    pub const MISNUMBERED_ITEM: Self = Self::Together(
        "has no number, or one with leading zeros or more than six digits, or another spelling; items are numbered from 0",
    );
    /// An amount, or its currency, under a misspelt name (assumption A170).
    pub const MISSPELT_AMOUNT: Self = Self::Together("is not spelt as in the documents");
    /// An amount, a number or a choice that is sent, but empty (assumption A09).
    pub const EMPTY_VALUE: Self = Self::Together(
        "must not be empty: leave the parameter out to use its default, which for transactionValue is the whole amount",
    );
    /// A list of more card keys than a request may have (assumption A70).
    pub const TOO_MANY_CARD_KEYS: Self = Self::Together("must contain at most 5,000 card keys");
    /// A list with the same card key twice.
    pub const DUPLICATE_CARD_KEY: Self = Self::Together("must not contain a card key twice");
}

/// The longest excerpt of a value in a violation, in characters.
const FOUND_LIMIT: usize = 40;
/// Number of characters after the excerpt that are searched too, so that a card number that starts within the limit is found, even
/// if it is escaped or has separators between its digits.
const MARGIN: usize = 256;

impl Violation {
    /// Creates a violation of a field's rule. The value is shortened, and hidden if the field is sensitive.
    #[must_use]
    pub fn new(field: &'static Field, name: &dyn fmt::Display, rule: Rule, value: &str) -> Self {
        Self { name: mask::text(&name.to_string()), rule, found: shown(value, field.sensitive), source: field.source }
    }

    /// Creates a violation of a rule without a field, such as a duplicate parameter. The found text is shown unchanged.
    #[must_use]
    pub fn of_request(name: impl Into<String>, rule: Rule, found: impl Into<String>) -> Self {
        Self { name: mask::text(&name.into()), rule, found: found.into(), source: "" }
    }
}

/// Returns a value as shown in an error.
fn shown(value: &str, sensitive: bool) -> String {
    if value.is_empty() {
        return "nothing".into();
    }
    let characters = value.chars().count();
    if sensitive {
        return format!("{} (hidden)", Characters(characters));
    }
    // Truncate first: a value may be as long as a body.
    let looked_at = value.char_indices().nth(FOUND_LIMIT + MARGIN).map_or(value.len(), |(at, _)| at);
    let masked = mask::text(&value[..looked_at]);
    let start: String = masked.chars().take(FOUND_LIMIT).collect();
    if characters > FOUND_LIMIT { format!("{start:?}… ({})", Characters(characters)) } else { format!("{start:?}") }
}

impl Violations {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a violation.
    pub fn push(&mut self, violation: Violation) {
        self.0.push(violation);
    }

    /// Adds a violation of a rule for several parameters together.
    pub fn together(&mut self, name: &str, rule: &'static str, source: &'static str) {
        self.push(Violation { name: name.into(), rule: Rule::Together(rule), found: "nothing".into(), source });
    }

    /// Whether there is no violation.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all violations, in the order of the tables.
    pub fn iter(&self) -> core::slice::Iter<'_, Violation> {
        self.0.iter()
    }

    /// Returns `Ok` if there is no violation.
    ///
    /// # Errors
    /// Returns all violations, if there are any.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl FromIterator<Violation> for Violations {
    fn from_iter<I: IntoIterator<Item = Violation>>(violations: I) -> Self {
        Self(violations.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = core::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, violation) in self.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            violation.fmt(f)?;
        }
        Ok(())
    }
}

impl core::error::Error for Violations {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.rule)?;
        // A missing value has no excerpt.
        if self.rule != Rule::Required {
            write!(f, ", found {}", self.found)?;
        }
        if self.source.is_empty() { Ok(()) } else { write!(f, " (spec {})", self.source) }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("is required"),
            Self::Length(length) => write!(f, "must have {length}"),
            Self::Format(format) => write!(f, "must be {format}"),
            Self::Range(least, most) => write!(f, "must be from {least} to {most}"),
            Self::OneOf(values) => write!(f, "must be one of {}", values.join(", ")),
            Self::Unknown => f.write_str("is not a parameter of this method"),
            Self::Together(rule) => f.write_str(rule),
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Any => f.write_str("any length"),
            Self::Between(0 | 1, most) => write!(f, "at most {}", Characters(most.into())),
            Self::Between(least, most) if least == most => write!(f, "exactly {}", Characters(most.into())),
            Self::Between(least, most) => write!(f, "{least} to {}", Characters(most.into())),
        }
    }
}

/// The length of a text, in words.
pub(crate) struct Characters(pub(crate) usize);

impl fmt::Display for Characters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { "character" } else { "characters" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Parameters, method::method};

    /// The violations of one parameter, as messages.
    fn told(path: &str, name: &str, value: &str) -> Vec<String> {
        let info = method(path).unwrap();
        let violations = info.check_parameters(&Parameters::from_iter([(name, value)]));
        violations.iter().filter(|violation| violation.name == name).map(ToString::to_string).collect()
    }

    #[test]
    fn one_character_is_reported_in_the_singular() {
        for (path, name, value, text) in [
            ("token/lookup", "x", "1", "x: is not a parameter of this method, found 1 character (spec 1 §4.2)"),
            ("token/lookup", "x", "ab", "x: is not a parameter of this method, found 2 characters (spec 1 §4.2)"),
            (
                "transaction/auth",
                "cardCV2",
                "9",
                "cardCV2: must have 3 to 4 characters, found 1 character (hidden) (spec 2 §4.3)",
            ),
            (
                "enterprise/gettoken",
                "auto_redirect",
                "10",
                "auto_redirect: must have at most 1 character, found \"10\" (spec 3 §4.1)",
            ),
        ] {
            assert!(told(path, name, value).iter().any(|told| told == text), "{:?}", told(path, name, value));
        }
    }

    #[test]
    fn a_card_number_in_a_name_is_masked() {
        for (path, prefix) in
            [("transaction/auth", "itemPrice"), ("transaction/auth", ""), ("session/postform", "collect")]
        {
            let name = format!("{prefix}4000000000001000");
            let value = "x".repeat(100_000);
            let violations = method(path).unwrap().check_parameters(&Parameters::from_iter([(&*name, &*value)]));
            assert!(!violations.to_string().contains(&name), "{violations}");
            assert!(violations.iter().all(|violation| violation.name != name), "{violations}");
        }
        let twice = Violation::of_request("itemPrice4000000000001000", Rule::Unknown, "2 values");
        assert_eq!(twice.name, "itemPrice400000******1000");
    }

    #[test]
    fn a_long_value_is_masked_as_far_as_it_is_shown() {
        let whole = |value: &str| mask::text(value).chars().take(FOUND_LIMIT).collect::<String>();
        for before in (0..=FOUND_LIMIT).step_by(if cfg!(miri) { 23 } else { 1 }) {
            for between in ["", " ", ".", "        ", "–"] {
                let number = ["4111", "1111", "1111", "1111"].join(between);
                let value = "x".repeat(before) + &number + &"y".repeat(200);
                assert!(shown(&value, false).starts_with(&format!("{:?}", whole(&value))), "{before} {between:?}");
            }
        }
    }

    #[test]
    fn a_missing_required_value_has_no_other_violation() {
        assert_eq!(told("enterprise/sms", "msisdn", ""), ["msisdn: is required (spec 3 §4.6)"]);
    }
}
