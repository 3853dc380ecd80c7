//! Checks that every mistake, made by hand with strings, is found.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use sha2::{Digest, Sha512};

use super::{Diagnosis, Mistake, diagnose, explain};
use crate::{ShaKey, SignatureFormatError, sign, texts::any_text};

/// In signing order, with a target for every mistake.
const PARAMETERS: &[(&str, &str)] = &[
    ("apiKey", "0123456789abcdef"),
    ("itemName10", "Café (très) ~ 1+1"),
    ("itemName2", " a b&c=d "),
    ("Zone", "%41"),
    ("cardCV2", ""),
    ("shaSignature", "abcdef"),
];
const KEY: &str = "secret";

fn hashed(pre_image: &str) -> String {
    hashed_bytes(pre_image.as_bytes())
}

fn hashed_bytes(pre_image: &[u8]) -> String {
    Sha512::digest(pre_image).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Joins the pre-image from these parts.
fn joined(parts: &[(&str, &str)], key: &str) -> String {
    parts.iter().map(|(name, value)| format!("{name}={value}{key}")).collect()
}

fn found(pre_image: &str) -> Diagnosis {
    diagnose(PARAMETERS, &ShaKey::new(KEY), &hashed(pre_image))
}

fn one(mistake: Mistake) -> Diagnosis {
    Diagnosis::Mistakes(vec![mistake])
}

const A: (&str, &str) = PARAMETERS[0];
const I10: (&str, &str) = PARAMETERS[1];
const I2: (&str, &str) = PARAMETERS[2];
const Z: (&str, &str) = PARAMETERS[3];

#[test]
fn the_right_signature_is_valid() {
    assert_eq!(found(&joined(&[A, I10, I2, Z], KEY)), Diagnosis::Valid);
}

#[test]
fn wrong_orders() {
    assert_eq!(found(&joined(&[Z, A, I10, I2], KEY)), one(Mistake::CaseSensitiveOrder));
    assert_eq!(found(&joined(&[A, I2, I10, Z], KEY)), one(Mistake::NaturalOrder));
    let shuffled = [Z, I2, A, I10];
    let theirs = hashed(&joined(&shuffled, KEY));
    assert_eq!(diagnose(&shuffled, &ShaKey::new(KEY), &theirs), one(Mistake::Unordered));
}

#[test]
fn wrong_values() {
    let with = |i10, i2, z| joined(&[A, ("itemName10", i10), ("itemName2", i2), ("Zone", z)], KEY);
    for (i10, i2) in [
        ("Caf%C3%A9%20%28tr%C3%A8s%29%20~%201%2B1", "%20a%20b%26c%3Dd%20"),
        ("Caf%c3%a9%20%28tr%c3%a8s%29%20~%201%2b1", "%20a%20b%26c%3dd%20"),
        ("Caf%C3%A9%20(tr%C3%A8s)%20~%201%2B1", "%20a%20b%26c%3Dd%20"),
    ] {
        assert_eq!(found(&with(i10, i2, "%2541")), one(Mistake::PercentEncodedValues), "{i10}");
    }
    for (i10, i2) in [
        ("Caf%C3%A9+%28tr%C3%A8s%29+%7E+1%2B1", "+a+b%26c%3Dd+"),
        ("Caf%C3%A9+%28tr%C3%A8s%29+~+1%2B1", "+a+b%26c%3Dd+"),
        ("Caf%c3%a9+(tr%c3%a8s)+%7e+1%2b1", "+a+b%26c%3dd+"),
    ] {
        assert_eq!(found(&with(i10, i2, "%2541")), one(Mistake::FormEncodedValues), "{i10}");
    }
    assert_eq!(found(&with("Café (très) ~ 1 1", I2.1, "A")), one(Mistake::DecodedValues));
    assert_eq!(found(&with(I10.1, "a b&c=d", "%41")), one(Mistake::TrimmedValues));

    let utf8 = joined(&[A, I10, I2, Z], KEY);
    let latin1: Vec<u8> = utf8.chars().map(|c| u8::try_from(c).unwrap()).collect();
    let diagnosis = diagnose(PARAMETERS, &ShaKey::new(KEY), &hashed_bytes(&latin1));
    assert_eq!(diagnosis, one(Mistake::Latin1Values));
}

#[test]
fn too_much_or_too_little_signed() {
    let kept = joined(&[A, ("cardCV2", ""), I10, I2, Z], KEY);
    assert_eq!(found(&kept), one(Mistake::EmptyValuesKept));
    let kept = joined(&[A, I10, I2, ("shaSignature", "abcdef"), Z], KEY);
    assert_eq!(found(&kept), one(Mistake::SignatureKept));
    assert_eq!(found(&joined(&[A, I10, Z], KEY)), one(Mistake::ParameterMissing("itemName2".to_owned())));
}

#[test]
fn wrong_keys() {
    for key in ["secret\n", "secret\r\n", "secret ", " secret", " secret ", "secret\t"] {
        assert_eq!(found(&joined(&[A, I10, I2, Z], key)), one(Mistake::KeyWhiteSpace), "{key:?}");
    }
    // Our key may be the one with white space.
    let theirs = hashed(&joined(&[A, I10, I2, Z], KEY));
    let diagnosis = diagnose(PARAMETERS, &ShaKey::new("\tsecret \n"), &theirs);
    assert_eq!(diagnosis, one(Mistake::KeyWhiteSpace));

    let bare = joined(&[A, I10, I2, Z], "");
    assert_eq!(found(&bare), one(Mistake::KeyMissing));
    assert_eq!(found(&format!("{bare}{KEY}")), one(Mistake::KeyOnceAtEnd));
    assert_eq!(found(&format!("{KEY}{bare}")), one(Mistake::KeyOnceAtStart));
    let before: String = [A, I10, I2, Z].iter().map(|(name, value)| format!("{KEY}{name}={value}")).collect();
    assert_eq!(found(&before), one(Mistake::KeyBeforeEach));
}

#[test]
fn wrong_joints() {
    let parts = [A, I10, I2, Z].map(|(name, value)| format!("{name}={value}{KEY}"));
    assert_eq!(found(&parts.join("&")), one(Mistake::Ampersands));
    let parts = [A, I10, I2, Z].map(|(name, value)| format!("{name}{value}{KEY}"));
    assert_eq!(found(&parts.concat()), one(Mistake::EqualsSignMissing));
    let parts = [A, I10, I2, Z].map(|(_, value)| format!("{value}{KEY}"));
    assert_eq!(found(&parts.concat()), one(Mistake::NamesMissing));
}

#[test]
fn wrong_spellings_of_the_right_signature() {
    let key = ShaKey::new(KEY);
    let right = sign(PARAMETERS, &key).to_string();
    let both = vec![Mistake::UpperCaseHex, Mistake::SignatureWhiteSpace];
    assert_eq!(diagnose(PARAMETERS, &key, &right.to_uppercase()), one(Mistake::UpperCaseHex));
    assert_eq!(diagnose(PARAMETERS, &key, &format!("{right}\n")), one(Mistake::SignatureWhiteSpace));
    assert_eq!(diagnose(PARAMETERS, &key, &format!(" {}", right.to_uppercase())), Diagnosis::Mistakes(both));
}

#[test]
fn two_mistakes_at_once() {
    let joined = [A, I10, I2, Z].map(|(name, value)| format!("{name}={value}")).join("&");
    let once = format!("{joined}{KEY}");
    let mistakes = [Mistake::KeyOnceAtEnd, Mistake::Ampersands];
    assert_eq!(found(&once), Diagnosis::Mistakes(mistakes.to_vec()));
    assert_eq!(
        found(&once).to_string(),
        "the key was added once, at the end; add it after each parameter; and \
         parameters were joined with &; join them without a separator"
    );
    let upper = hashed(&once).to_uppercase();
    let diagnosis = diagnose(PARAMETERS, &ShaKey::new(KEY), &upper);
    assert_eq!(diagnosis, Diagnosis::Mistakes([&mistakes[..], &[Mistake::UpperCaseHex]].concat()));
}

#[test]
fn malformed_signatures_and_unknown_mistakes() {
    let key = ShaKey::new(KEY);
    assert_eq!(diagnose(PARAMETERS, &key, "abc"), Diagnosis::NotASignature(SignatureFormatError::Length { found: 3 }));
    assert_eq!(diagnose(PARAMETERS, &key, &"0".repeat(128)), Diagnosis::Unexplained);
    // Miri would hash this for hours.
    let long = "x".repeat(if cfg!(miri) { 2 << 8 } else { 2 << 20 });
    assert_eq!(diagnose(&[("a", &long)], &key, &"0".repeat(128)), Diagnosis::Unexplained);
}

#[test]
fn nothing_secret_is_shown() {
    let name = "canary4111111111111111";
    let key = ShaKey::new("canary");
    let diagnosis = diagnose(&[(name, "1"), ("b", "2")], &key, &sign(&[("b", "2")], &key).to_string());
    assert_eq!(diagnosis, one(Mistake::ParameterMissing("‹shaKey›411111******1111".to_owned())));
}

proptest! {
    #[test]
    fn any_parameters_are_explained_and_any_signature_is_diagnosed(
        parameters in proptest::collection::vec((any_text(), any_text()), 0..if cfg!(miri) { 2 } else { 6 }),
        key in any_text(),
        other in "\\PC{0,130}|[0-9a-fA-F]{128}",
    ) {
        let pairs: Vec<(&str, &str)> = parameters.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let key = ShaKey::new(key);
        drop(format!("{} {:?}", explain(&pairs, &key).pre_image(), explain(&pairs, &key)));
        drop(diagnose(&pairs, &key, &other).to_string());
        let own = sign(&pairs, &key).to_string();
        prop_assert!(matches!(diagnose(&pairs, &key, &own), Diagnosis::Valid));
    }
}
