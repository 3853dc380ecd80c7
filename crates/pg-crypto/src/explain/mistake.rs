//! The usual mistakes, and how each changes the recipe.

use alloc::string::String;
use core::fmt;
use core::mem::{Discriminant, discriminant};

use super::masking::Printable;
use super::recipe::{KeyPlace, KeyText, Order, Pair, Recipe};
use super::values::{UrlEncoding, Values};

/// How a signature deviates from spec 1 §5. `Display` says how to correct it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// Names were sorted case-sensitively.
    CaseSensitiveOrder,
    /// Numbers in names were sorted by their value.
    NaturalOrder,
    /// Parameters were not sorted.
    Unordered,
    /// Values were URL-encoded, with `%20` for a space.
    PercentEncodedValues,
    /// Values were URL-encoded, with `+` for a space.
    FormEncodedValues,
    /// Values were URL-decoded once more than they were encoded.
    DecodedValues,
    /// White space around values was removed.
    TrimmedValues,
    /// Values were hashed in ISO 8859-1.
    Latin1Values,
    /// Parameters without a value were signed.
    EmptyValuesKept,
    /// `shaSignature` was signed.
    SignatureKept,
    /// One of the keys has white space around it.
    KeyWhiteSpace,
    /// The key was put in front of each parameter.
    KeyBeforeEach,
    /// The key was added once, at the end.
    KeyOnceAtEnd,
    /// The key was added once, at the start.
    KeyOnceAtStart,
    /// The key was not added.
    KeyMissing,
    /// Parameters were joined with `&`.
    Ampersands,
    /// Names and values were joined without `=`.
    EqualsSignMissing,
    /// Values were signed without their names.
    NamesMissing,
    /// This parameter was not signed: it may have been added or set afterwards.
    ParameterMissing(String),
    /// The digits were written in upper case.
    UpperCaseHex,
    /// The signature has white space around it.
    SignatureWhiteSpace,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CaseSensitiveOrder => "names were ordered case-sensitively; ignore case",
            Self::NaturalOrder => "numbers in names were ordered as numbers; order them as text, 10 before 2",
            Self::Unordered => "the parameters were not ordered; order them by name",
            Self::PercentEncodedValues => {
                "values were URL-encoded (%20 for a space) before signing; sign them unencoded"
            }
            Self::FormEncodedValues => "values were URL-encoded (+ for a space) before signing; sign them unencoded",
            Self::DecodedValues => "values were URL-decoded before signing; sign them unencoded",
            Self::TrimmedValues => "white space around values was removed before signing, but not before sending",
            Self::Latin1Values => "values were hashed in ISO 8859-1; use UTF-8",
            Self::EmptyValuesKept => "parameters without a value were signed; leave them out",
            Self::SignatureKept => "shaSignature was signed too; leave it out",
            Self::KeyWhiteSpace => "the key has white space around it on one side only; check its source",
            Self::KeyBeforeEach => "the key was added before each parameter; add it after each",
            Self::KeyOnceAtEnd => "the key was added once, at the end; add it after each parameter",
            Self::KeyOnceAtStart => "the key was added once, at the start; add it after each parameter",
            Self::KeyMissing => "the key was not added; add it after each parameter",
            Self::Ampersands => "parameters were joined with &; join them without a separator",
            Self::EqualsSignMissing => "the = between name and value is missing",
            Self::NamesMissing => "only values were signed; sign name=value",
            Self::ParameterMissing(name) => {
                return write!(f, "{} was not signed; sign everything that is sent", Printable(name));
            }
            Self::UpperCaseHex => "the signature is in upper case; write it in lower case",
            Self::SignatureWhiteSpace => "the signature has white space around it; remove it",
        })
    }
}

/// One change of the correct recipe.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Order(Order),
    Values(Values),
    Empty,
    Signature,
    KeyText(KeyText),
    KeyPlace(KeyPlace),
    Separator(&'static str),
    Pair(Pair),
}

impl Change {
    pub(super) fn apply(self, mut recipe: Recipe) -> Recipe {
        match self {
            Self::Order(order) => recipe.order = order,
            Self::Values(values) => recipe.values = values,
            Self::Empty => recipe.keeps_empty = true,
            Self::Signature => recipe.keeps_signature = true,
            Self::KeyText(text) => recipe.key_text = text,
            Self::KeyPlace(place) => recipe.key_place = place,
            Self::Separator(separator) => recipe.separator = separator,
            Self::Pair(pair) => recipe.pair = pair,
        }
        recipe
    }

    /// Returns the kind of a change. Two changes of one kind exclude each other.
    pub(super) fn kind(self) -> Discriminant<Self> {
        discriminant(&self)
    }
}

const fn encoded(kept: &'static [u8], blank_as_plus: bool, lower_case: bool) -> Change {
    Change::Values(Values::Encoded(UrlEncoding { kept, blank_as_plus, lower_case }))
}

const fn key_within(before: &'static str, after: &'static str) -> Change {
    Change::KeyText(KeyText::Within(before, after))
}

/// All single changes. Where languages differ (RFC 3986, JavaScript's `encodeURIComponent`, HTML forms, PHP's
/// `urlencode`, .NET's lower-case escapes), one mistake has several.
pub(super) const CHANGES: &[(Mistake, Change)] = &[
    (Mistake::CaseSensitiveOrder, Change::Order(Order::ByBytes)),
    (Mistake::NaturalOrder, Change::Order(Order::Natural)),
    (Mistake::Unordered, Change::Order(Order::AsGiven)),
    (Mistake::PercentEncodedValues, encoded(b"-._~", false, false)),
    (Mistake::PercentEncodedValues, encoded(b"-._~", false, true)),
    (Mistake::PercentEncodedValues, encoded(b"-._~!'()*", false, false)),
    (Mistake::FormEncodedValues, encoded(b"-._", true, false)),
    (Mistake::FormEncodedValues, encoded(b"-._*", true, false)),
    (Mistake::FormEncodedValues, encoded(b"-._~", true, false)),
    (Mistake::FormEncodedValues, encoded(b"-._!*()", true, true)),
    (Mistake::DecodedValues, Change::Values(Values::Decoded)),
    (Mistake::TrimmedValues, Change::Values(Values::Trimmed)),
    (Mistake::Latin1Values, Change::Values(Values::Latin1)),
    (Mistake::EmptyValuesKept, Change::Empty),
    (Mistake::SignatureKept, Change::Signature),
    (Mistake::KeyWhiteSpace, Change::KeyText(KeyText::Trimmed)),
    (Mistake::KeyWhiteSpace, key_within("", "\n")),
    (Mistake::KeyWhiteSpace, key_within("", "\r\n")),
    (Mistake::KeyWhiteSpace, key_within("", " ")),
    (Mistake::KeyWhiteSpace, key_within(" ", "")),
    (Mistake::KeyWhiteSpace, key_within(" ", " ")),
    (Mistake::KeyWhiteSpace, key_within("", "\t")),
    (Mistake::KeyBeforeEach, Change::KeyPlace(KeyPlace::BeforeEach)),
    (Mistake::KeyOnceAtEnd, Change::KeyPlace(KeyPlace::OnceAtEnd)),
    (Mistake::KeyOnceAtStart, Change::KeyPlace(KeyPlace::OnceAtStart)),
    (Mistake::KeyMissing, Change::KeyPlace(KeyPlace::Nowhere)),
    (Mistake::Ampersands, Change::Separator("&")),
    (Mistake::EqualsSignMissing, Change::Pair(Pair::NameValue)),
    (Mistake::NamesMissing, Change::Pair(Pair::Value)),
];
