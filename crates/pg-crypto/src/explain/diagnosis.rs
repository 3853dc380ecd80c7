//! Why a signature differs.

use alloc::vec::Vec;
use core::fmt;

use super::masking;
use super::mistake::{CHANGES, Change, Mistake};
use super::recipe::Recipe;
use crate::sign::{ShaKey, Signature, SignatureFormatError, is_signed, sign};

/// Maximum number of bytes to hash: enough for all usual mistakes with thousands of card keys, or for two at once with
/// a usual request. Hashing them takes some milliseconds.
const MOST_HASHED: usize = 5 << 20;
/// Cost of a parameter in addition to its bytes, in bytes.
const EACH: usize = 192;

/// Up to this many bytes and parameters, missing parameters and two mistakes at once are tried.
const THOROUGH_BYTES: usize = 16 << 10;
const THOROUGH_PARAMETERS: usize = 64;

/// Looks for the usual mistake, or the combination of two, that produces the signature `given`.
///
/// The search computes a few dozen signatures, and a few hundred for requests of up to 16 KiB and 64 parameters. Use it
/// in development, not for every request. For requests above 200 KiB the function tries only the most likely mistakes,
/// so that it takes milliseconds for any input.
///
/// ```
/// use pg_crypto::{Diagnosis, Mistake, ShaKey, diagnose, sign};
///
/// let key = ShaKey::new("secret");
/// let theirs = sign(&[("itemName0", "Tea%20for%20two")], &key);
/// let diagnosis = diagnose(&[("itemName0", "Tea for two")], &key, &theirs.to_string());
/// assert_eq!(diagnosis, Diagnosis::Mistakes(vec![Mistake::PercentEncodedValues]));
/// ```
#[must_use]
pub fn diagnose(parameters: &[(&str, &str)], key: &ShaKey, given: &str) -> Diagnosis {
    let (theirs, mut mistakes) = match read_leniently(given) {
        Ok(read) => read,
        Err(error) => return Diagnosis::NotASignature(error),
    };
    if theirs == sign(parameters, key) {
        return if mistakes.is_empty() { Diagnosis::Valid } else { Diagnosis::Mistakes(mistakes) };
    }
    match search(parameters, key, theirs) {
        Some(found) => {
            mistakes.splice(0..0, found);
            Diagnosis::Mistakes(mistakes)
        }
        None => Diagnosis::Unexplained,
    }
}

/// The result of [`diagnose`]. `Display` is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Diagnosis {
    /// The signature is correct.
    Valid,
    /// These mistakes together produce the signature.
    Mistakes(Vec<Mistake>),
    /// The text is not a signature.
    NotASignature(SignatureFormatError),
    /// No usual mistake produces the signature: the key or a value differs, or the mistake is unknown.
    Unexplained,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid => f.write_str("the signature is valid"),
            Self::Mistakes(mistakes) => {
                for (at, mistake) in mistakes.iter().enumerate() {
                    write!(f, "{}{mistake}", if at == 0 { "" } else { "; and " })?;
                }
                Ok(())
            }
            Self::NotASignature(error) => error.fmt(f),
            Self::Unexplained => f.write_str(
                "no usual mistake leads to this signature: compare the key (live and staging differ) and each value",
            ),
        }
    }
}

/// Reads a signature leniently; returns it with the mistakes in its spelling.
fn read_leniently(given: &str) -> Result<(Signature, Vec<Mistake>), SignatureFormatError> {
    let mut mistakes = Vec::new();
    let trimmed = given.trim();
    if trimmed != given {
        mistakes.push(Mistake::SignatureWhiteSpace);
    }
    match Signature::parse(trimmed) {
        Err(SignatureFormatError::UpperCase) => {
            mistakes.insert(0, Mistake::UpperCaseHex);
            Signature::parse(&trimmed.to_ascii_lowercase()).map(|signature| (signature, mistakes))
        }
        other => other.map(|signature| (signature, mistakes)),
    }
}

fn search(parameters: &[(&str, &str)], key: &ShaKey, theirs: Signature) -> Option<Vec<Mistake>> {
    let bytes: usize = parameters.iter().map(|(name, value)| name.len() + value.len() + key.expose().len() + 2).sum();
    let cost = bytes + EACH * parameters.len();
    let values = parameters.iter().flat_map(|(_, value)| value.bytes());
    let escaped = values.filter(|byte| !byte.is_ascii_alphanumeric()).count();
    let mut left = MOST_HASHED;
    let mut gives = |recipe: Recipe| {
        // Skip what would take too long.
        let Some(rest) = left.checked_sub(if recipe.encodes() { cost + 2 * escaped } else { cost }) else {
            return false;
        };
        left = rest;
        recipe.sign(parameters, key) == theirs
    };
    let thorough = bytes <= THOROUGH_BYTES && parameters.len() <= THOROUGH_PARAMETERS;
    if let Some(found) = one_mistake(&mut gives) {
        return Some(found);
    }
    thorough.then(|| missing_parameter(parameters, key, &mut gives).or_else(|| two_mistakes(&mut gives))).flatten()
}

fn one_mistake(mut gives: impl FnMut(Recipe) -> bool) -> Option<Vec<Mistake>> {
    let right = Recipe::default();
    let (mistake, _) = CHANGES.iter().find(|(_, change)| gives(change.apply(right)))?;
    Some([mistake.clone()].into())
}

fn missing_parameter(
    parameters: &[(&str, &str)],
    key: &ShaKey,
    mut gives: impl FnMut(Recipe) -> bool,
) -> Option<Vec<Mistake>> {
    let at = (0..parameters.len()).find(|at| {
        let (name, value) = parameters[*at];
        is_signed(name, value) && gives(Recipe { without: Some(*at), ..Recipe::default() })
    })?;
    let name = masking::text(parameters[at].0, key.expose().trim());
    Some([Mistake::ParameterMissing(name)].into())
}

fn two_mistakes(mut gives: impl FnMut(Recipe) -> bool) -> Option<Vec<Mistake>> {
    let right = Recipe::default();
    let pairs = CHANGES.iter().enumerate().flat_map(|(at, first)| {
        let others = CHANGES[at + 1..].iter();
        others.filter(|other| other.1.kind() != first.1.kind()).map(move |second| (first, second))
    });
    let mut gives_both = |one: Change, two: Change| gives(two.apply(one.apply(right)));
    let mut found = pairs.filter(|(first, second)| gives_both(first.1, second.1));
    found.next().map(|(first, second)| [first.0.clone(), second.0.clone()].into())
}
