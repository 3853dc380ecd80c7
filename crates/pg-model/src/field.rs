//! The facts about one parameter, and the rules for its values.

use crate::format::Format;

/// One parameter of a method, as in its row of the tables.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Name on the wire; `{n}` stands for the number of a repeated item.
    pub wire: &'static str,
    /// Name in Rust.
    pub rust: &'static str,
    /// The format of a value.
    pub format: Format,
    /// The number of characters.
    pub length: Length,
    /// The smallest and the largest value of a number.
    pub range: Option<(i64, i64)>,
    /// Whether the parameter is required.
    pub required: bool,
    /// Whether the value must never be shown.
    pub sensitive: bool,
    /// The service's default if the parameter is not sent.
    pub default: Option<&'static str>,
    /// The allowed values of a [`Format::OneOf`].
    pub values: &'static [&'static str],
    /// Other spellings that readers accept.
    pub aliases: &'static [&'static str],
    /// The format in the words of the documents, abbreviated; empty if they name no format.
    pub spec: &'static str,
    /// Document and section, such as `2 §4.3`.
    pub source: &'static str,
    /// The purpose of the parameter, in one sentence.
    pub doc: &'static str,
}

/// Joins lists of fields that have `N` fields in all.
pub(crate) const fn joined<const N: usize>(lists: &[&[&'static Field]]) -> [&'static Field; N] {
    let mut all = [lists[0][0]; N];
    let (mut count, mut list) = (0, 0);
    while list < lists.len() {
        let mut place = 0;
        while place < lists[list].len() {
            all[count] = lists[list][place];
            (count, place) = (count + 1, place + 1);
        }
        list += 1;
    }
    assert!(count == N);
    all
}

/// The number of characters (not bytes) that a value may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// The documents give no limit.
    Any,
    /// From a minimum to a maximum; the two are equal for an exact length.
    Between(u16, u16),
}

impl Length {
    /// Whether a text of this many characters fits.
    #[must_use]
    pub fn admits(self, characters: usize) -> bool {
        match self {
            Self::Any => true,
            Self::Between(least, most) => (usize::from(least)..=usize::from(most)).contains(&characters),
        }
    }
}

impl Field {
    pub(crate) const fn optional(wire: &'static str, rust: &'static str) -> Self {
        Self {
            wire,
            rust,
            format: Format::Text,
            length: Length::Any,
            range: None,
            required: false,
            sensitive: false,
            default: None,
            values: &[],
            aliases: &[],
            spec: "",
            source: "",
            doc: "",
        }
    }

    pub(crate) const fn required(wire: &'static str, rust: &'static str) -> Self {
        Self { required: true, ..Self::optional(wire, rust) }
    }

    pub(crate) const fn format(self, format: Format, length: Length) -> Self {
        Self { format, length, ..self }
    }

    pub(crate) const fn doc(self, source: &'static str, spec: &'static str, doc: &'static str) -> Self {
        Self { source, spec, doc, ..self }
    }

    pub(crate) const fn range(self, least: i64, greatest: i64) -> Self {
        Self { range: Some((least, greatest)), ..self }
    }

    pub(crate) const fn sensitive(self) -> Self {
        Self { sensitive: true, ..self }
    }

    pub(crate) const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    pub(crate) const fn values(self, values: &'static [&'static str]) -> Self {
        Self { values, ..self }
    }

    pub(crate) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Whether the parameter occurs once per item, with the item's number in its name.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        self.wire.bytes().any(|byte| byte == b'{')
    }

    /// Whether a wire name, or one of its other spellings, belongs to this field.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        // The first letter tells nearly all names apart, and parsing a wire name takes far longer.
        let initial = name.as_bytes().first();
        let mut spellings =
            core::iter::once(&self.wire).chain(self.aliases).filter(|wire| wire.as_bytes().first() == initial);
        spellings.any(|wire| match around_number(wire) {
            None => wire.strip_suffix('*').map_or(*wire == name, |prefix| name.starts_with(prefix)),
            Some(around) => number_between(around, name).is_some(),
        })
    }

    /// Whether a name is that of a numbered field apart from its number or spelling: `itemName`, `itemName01`,
    /// `itemname0`, `item_name[]`, `item_name[a]` (assumption A14).
    pub(crate) fn is_misnumbered(&self, name: &str) -> bool {
        let Some((before, _)) = around_number(self.wire) else { return false };
        let Some(rest) = after_spelling(before.trim_end_matches('['), name) else { return false };
        // With more letters it is another name, such as itemNameOfMaker.
        let is_number = rest.len() < 2 || !rest.starts_with(|letter: char| letter.is_ascii_alphabetic());
        is_number && !self.is_named(name)
    }

    /// Returns the first letter of its name, as a bit; see [`initial`].
    pub(crate) fn initial(&self) -> u32 {
        initial(self.wire)
    }

    /// Whether the parameter is an amount or a currency of the whole request.
    pub(crate) fn is_amount(&self) -> bool {
        matches!(self.format, Format::Minor | Format::Decimal | Format::Currency) && !self.is_numbered()
    }

    /// Whether a name differs from this field's only in letter case and underscores, such as `transactionvalue`
    /// (assumption A170).
    pub(crate) fn is_misspelt(&self, name: &str) -> bool {
        after_spelling(self.wire, name).is_some_and(str::is_empty) && !self.is_named(name)
    }
}

/// Returns the first letter of a name, as a bit that its misspellings share: other letter case, or underscores.
pub(crate) fn initial(name: &str) -> u32 {
    name.bytes().find(|byte| *byte != b'_').map_or(0, |byte| 1 << (byte & 31))
}

/// Returns the rest of a name that is spelt with other letter case or underscores.
fn after_spelling<'n>(wire: &str, name: &'n str) -> Option<&'n str> {
    // Bytes, since this is asked about every name of a request, and decoding characters would take several times as long.
    let mut rest = without_underscores(name.as_bytes());
    for letter in wire.bytes().filter(|byte| *byte != b'_') {
        let (first, behind) = rest.split_first()?;
        if !first.eq_ignore_ascii_case(&letter) {
            return None;
        }
        rest = without_underscores(behind);
    }
    name.get(name.len() - rest.len()..)
}

fn without_underscores(name: &[u8]) -> &[u8] {
    let first = name.iter().position(|byte| *byte != b'_').unwrap_or(name.len());
    &name[first..]
}

/// Returns the parts before and after the number in a numbered field's wire name. Every request asks this of every
/// field, and a search for one character is many times faster than a search for three.
pub(crate) fn around_number(wire: &str) -> Option<(&str, &str)> {
    let (before, rest) = wire.split_once('{')?;
    Some((before, rest.strip_prefix("n}")?))
}

/// Returns the number of an item whose name has these two parts around it.
pub(crate) fn number_between((before, after): (&str, &str), name: &str) -> Option<usize> {
    item_number(name.strip_prefix(before)?.strip_suffix(after)?)
}

/// Returns the number of an item in a parameter's name: digits without leading zeros, at most six.
#[must_use]
pub fn item_number(digits: &str) -> Option<usize> {
    let plain = digits == "0" || !digits.starts_with('0');
    (plain && (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}
