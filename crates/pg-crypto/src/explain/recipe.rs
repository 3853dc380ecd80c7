//! Ways to build a pre-image: the correct one, and the usual wrong ones.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

use sha2::{Digest, Sha512};
use zeroize::Zeroizing;

use super::values::Values;
use crate::sign::{SIGNATURE_NAME, ShaKey, Signature, compare};

/// How the pre-image is built. The default is correct (spec 1 §5).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recipe {
    pub(super) order: Order,
    pub(super) values: Values,
    pub(super) keeps_empty: bool,
    pub(super) keeps_signature: bool,
    pub(super) key_text: KeyText,
    pub(super) key_place: KeyPlace,
    pub(super) pair: Pair,
    /// Text between two parameters.
    pub(super) separator: &'static str,
    /// The position of a parameter that is left out.
    pub(super) without: Option<usize>,
}

/// How names are ordered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Order {
    #[default]
    IgnoringCase,
    ByBytes,
    Natural,
    AsGiven,
}

/// Changes of the key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum KeyText {
    #[default]
    AsIs,
    Trimmed,
    /// With text before and after it.
    Within(&'static str, &'static str),
}

/// Where the key goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum KeyPlace {
    #[default]
    AfterEach,
    BeforeEach,
    OnceAtEnd,
    OnceAtStart,
    Nowhere,
}

/// How a parameter is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Pair {
    #[default]
    NameEqualsValue,
    NameValue,
    Value,
}

impl Recipe {
    /// Returns the signature of this recipe.
    pub(super) fn sign(&self, parameters: &[(&str, &str)], key: &ShaKey) -> Signature {
        let key = self.key_text.apply(key.expose());
        let mut hasher = Sha512::new();
        if matches!(self.key_place, KeyPlace::OnceAtStart) {
            hasher.update(&*key);
        }
        for (at, (name, value)) in self.ordered(parameters).into_iter().enumerate() {
            if at > 0 {
                hasher.update(self.separator);
            }
            if matches!(self.key_place, KeyPlace::BeforeEach) {
                hasher.update(&*key);
            }
            match self.pair {
                Pair::NameEqualsValue => hasher.update([name, "="].concat()),
                Pair::NameValue => hasher.update(name),
                Pair::Value => {}
            }
            hasher.update(&*self.values.apply(value));
            if matches!(self.key_place, KeyPlace::AfterEach) {
                hasher.update(&*key);
            }
        }
        if matches!(self.key_place, KeyPlace::OnceAtEnd) {
            hasher.update(&*key);
        }
        Signature::from_bytes(hasher.finalize().into())
    }

    /// Whether it replaces some characters by three.
    pub(super) const fn encodes(&self) -> bool {
        matches!(self.values, Values::Encoded(_))
    }

    fn ordered<'a>(&self, parameters: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let mut kept: Vec<_> = parameters
            .iter()
            .enumerate()
            .filter(|(at, (name, value))| {
                self.without != Some(*at)
                    && (self.keeps_empty || !value.is_empty())
                    && (self.keeps_signature || *name != SIGNATURE_NAME)
            })
            .map(|(_, parameter)| *parameter)
            .collect();
        match self.order {
            Order::IgnoringCase => kept.sort_by(|a, b| compare(a.0, b.0)),
            Order::ByBytes => kept.sort_by_key(|(name, _)| *name),
            Order::Natural => kept.sort_by(|a, b| natural(a.0, b.0).then_with(|| compare(a.0, b.0))),
            Order::AsGiven => {}
        }
        kept
    }
}

impl KeyText {
    fn apply(self, key: &str) -> Zeroizing<String> {
        Zeroizing::new(match self {
            Self::AsIs => String::from(key),
            Self::Trimmed => String::from(key.trim()),
            Self::Within(before, after) => [before, key, after].concat(),
        })
    }
}

/// Compares case-insensitively, and runs of digits by value: `item2` before `item10`.
fn natural(mut a: &str, mut b: &str) -> Ordering {
    while let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) {
        let order = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (number, other) = (leading_number(&mut a), leading_number(&mut b));
            number.len().cmp(&other.len()).then(number.cmp(other))
        } else {
            (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
            x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase())
        };
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// Takes the digits from the start of `text`, and returns them without leading zeros.
fn leading_number<'a>(text: &mut &'a str) -> &'a str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    digits.trim_start_matches('0')
}

#[cfg(test)]
mod tests {
    use core::cmp::Ordering;

    use super::{Recipe, natural};
    use crate::{ShaKey, sign};

    #[test]
    fn the_default_is_the_right_way() {
        let parameters = [("b", "2"), ("A", "1"), ("shaSignature", "x"), ("c", "")];
        let key = ShaKey::new("secret");
        assert_eq!(Recipe::default().sign(&parameters, &key), sign(&parameters, &key));
    }

    #[test]
    fn natural_order_counts() {
        for (smaller, larger) in [("item2", "ITEM10"), ("a", "B"), ("a1b2", "a01b10"), ("a", "a1"), ("é1", "é2")] {
            assert_eq!(natural(smaller, larger), Ordering::Less, "{smaller} {larger}");
            assert_eq!(natural(larger, smaller), Ordering::Greater, "{larger} {smaller}");
        }
        assert_eq!(natural("a01", "A1"), Ordering::Equal);
    }
}
