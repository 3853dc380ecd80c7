//! Compares signatures with those of a simple signer, and checks their explanations.

use pg_crypto::{Diagnosis, ShaKey, diagnose, explain, form_arrays, sign, verify};
use sha2::{Digest, Sha512};

use crate::{
    dice::Dice,
    secrets::{SHA_KEY, no_credentials},
};

/// Signs any parameters and explains a signature that was made with one of the usual mistakes.
pub fn signing(input: &[u8]) {
    let mut dice = Dice::new(input);
    let mut owned: Vec<(String, String)> = Vec::new();
    let (mistake, given) = (dice.below(8), dice.text(140));
    while !dice.is_used_up() && owned.len() < 40 {
        owned.push((dice.text(24), dice.text(48)));
    }
    let pairs: Vec<(&str, &str)> = owned.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let key = ShaKey::new(SHA_KEY);
    let signature = sign(&pairs, &key);
    let hex = signature.to_string();
    assert_eq!(hex, plainly_signed(&pairs, |name| name.to_ascii_lowercase(), |text| text.to_owned()));
    assert!(verify(&pairs, &key, &hex).is_ok());
    assert_eq!(verify(&pairs, &key, &given).is_ok(), given == hex);
    assert!(matches!(diagnose(&pairs, &key, &hex), Diagnosis::Valid));
    let explanation = explain(&pairs, &key);
    assert_eq!(explanation.signature(), signature);
    let wrong = match mistake {
        0 => given,
        1 => hex.to_ascii_uppercase(),
        2 => format!(" {hex}\n"),
        3 => plainly_signed(&pairs, str::to_owned, str::to_owned),
        4 => plainly_signed(&pairs, |name| name.to_ascii_lowercase(), |text| text.trim().to_owned()),
        _ => plainly_signed(&pairs, |name| name.to_ascii_lowercase(), encoded),
    };
    let diagnosis = diagnose(&pairs, &key, &wrong);
    assert_eq!(matches!(diagnosis, Diagnosis::Valid), wrong == hex, "{diagnosis:?}");
    if !owned.iter().any(|(name, value)| [name, value].iter().any(|text| text.contains("cAnArY"))) {
        no_credentials(&format!("{explanation} {explanation:?} {} {diagnosis}", explanation.pre_image()));
    }
    let arrays = form_arrays(&pairs);
    assert!(arrays.len() <= pairs.len());
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// The rule of the documents, word by word (spec 1 §5), with another order or other values to imitate a mistake.
fn plainly_signed(pairs: &[(&str, &str)], order: impl Fn(&str) -> String, value: impl Fn(&str) -> String) -> String {
    let mut kept: Vec<_> = pairs
        .iter()
        .filter(|(name, value)| *name != "shaSignature" && !value.is_empty())
        .map(|(name, text)| (order(name), *name, value(text)))
        .collect();
    // Names that differ only in case: by their bytes; equal names: as given (assumption A02).
    kept.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let text: String = kept.iter().map(|(_, name, value)| format!("{name}={value}{SHA_KEY}")).collect();
    Sha512::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
