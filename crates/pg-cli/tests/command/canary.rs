//! Secrets that can be recognised, in every spelling in which a process or a file may hold them.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// A secret that is generated during the test, so that no program contains it as a constant.
#[derive(Clone)]
pub(crate) struct Canary {
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// A spelling of a canary, and the bytes to look for.
pub(crate) struct Form {
    pub(crate) canary: &'static str,
    pub(crate) spelling: &'static str,
    bytes: Vec<u8>,
}

/// How often each spelling of each canary was found, by its place.
pub(crate) type Found = BTreeMap<(&'static str, &'static str, String), usize>;

impl Canary {
    pub(crate) fn new(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, text: text.into() }
    }

    /// Letters and digits that no other canary has.
    pub(crate) fn letters(name: &'static str, seed: u64, length: usize) -> Self {
        const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789";
        let text = numbers(seed).map(|number| char::from(LETTERS[number % LETTERS.len()])).take(length);
        Self::new(name, text.collect::<String>())
    }

    /// A card number of a scheme, with its check digit.
    pub(crate) fn card_number(name: &'static str, seed: u64) -> Self {
        let digits = numbers(seed).map(|number| number % 10).take(11);
        let mut text: String = [4, 9, 2, 9].into_iter().chain(digits).map(|digit| digit.to_string()).collect();
        let doubled = text.bytes().rev().enumerate().map(|(at, digit)| match usize::from(digit - b'0') {
            digit if at % 2 == 0 => digit * 2 / 10 + digit * 2 % 10,
            digit => digit,
        });
        let check = (10 - doubled.sum::<usize>() % 10) % 10;
        text.push_str(&check.to_string());
        Self::new(name, text)
    }

    /// What to look for.
    pub(crate) fn forms(&self) -> Vec<Form> {
        let plain = self.text.as_bytes();
        let mut all: Vec<(&'static str, Vec<u8>)> = vec![
            ("plain", plain.to_vec()),
            ("reversed", plain.iter().rev().copied().collect()),
            ("percent-encoded", plain.iter().flat_map(|byte| format!("%{byte:02x}").into_bytes()).collect()),
            ("percent-encoded", plain.iter().flat_map(|byte| format!("%{byte:02X}").into_bytes()).collect()),
            ("hexadecimal", plain.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()),
            ("hexadecimal", plain.iter().flat_map(|byte| format!("{byte:02X}").into_bytes()).collect()),
            ("wide characters", plain.iter().flat_map(|byte| [*byte, 0]).collect()),
        ];
        all.extend((0..3).map(|shift| ("base64", base64_at(plain, shift))));
        all.extend((0..8).filter_map(|shift| Some(("hash words", hash_words(plain.get(shift..)?)?))));
        all.dedup();
        all.into_iter().map(|(spelling, bytes)| Form { canary: self.name, spelling, bytes }).collect()
    }

    /// Beside the spellings of the whole, parts of it that are more than a mask shows.
    pub(crate) fn forms_and_parts(&self) -> Vec<Form> {
        let mut forms = self.forms();
        let text = self.text.as_bytes();
        if text.len() >= 16 && text.iter().all(u8::is_ascii_alphanumeric) {
            for part in [&text[..10], &text[text.len() - 10..]] {
                forms.push(Form { canary: self.name, spelling: "in part", bytes: part.to_vec() });
            }
        }
        forms
    }
}

/// The Base64 form of the bytes after `shift` other bytes.
fn base64_at(bytes: &[u8], shift: usize) -> Vec<u8> {
    let padded = [&vec![0; shift][..], bytes].concat();
    let text = STANDARD.encode(&padded);
    // Letters that hold bits of a neighbour are not known.
    text.as_bytes()[(shift * 8).div_ceil(6)..padded.len() * 8 / 6].to_vec()
}

/// Words of 8 bytes as SHA-512 has them in the registers of a little-endian processor.
fn hash_words(bytes: &[u8]) -> Option<Vec<u8>> {
    let (words, _) = bytes.as_chunks::<8>();
    (!words.is_empty() && cfg!(target_endian = "little"))
        .then(|| words.iter().flat_map(|word| word.iter().rev().copied()).collect())
}

/// Tells of each form that is there, and where it begins.
pub(crate) fn search(forms: &[Form], bytes: &[u8], mut tell: impl FnMut(&Form, usize)) {
    let mut by_first: Vec<Vec<&Form>> = (0..256).map(|_| Vec::new()).collect();
    for form in forms {
        by_first[usize::from(form.bytes[0])].push(form);
    }
    for (at, first) in bytes.iter().enumerate() {
        for form in &by_first[usize::from(*first)] {
            if bytes.get(at + 1) == form.bytes.get(1) && bytes[at..].starts_with(&form.bytes) {
                tell(form, at);
            }
        }
    }
}

/// What must not be there: everything that was found in a file, an output or a reply.
pub(crate) fn leaks(canaries: &[Canary], place: &str, bytes: &[u8]) -> Found {
    let forms: Vec<Form> = canaries.iter().flat_map(Canary::forms_and_parts).collect();
    let mut found = Found::new();
    search(&forms, bytes, |form, _| *found.entry((form.canary, form.spelling, place.to_owned())).or_default() += 1);
    found
}

/// Numbers that only look random.
fn numbers(seed: u64) -> impl Iterator<Item = usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 40).unwrap_or_default()
    })
}

#[test]
fn every_spelling_is_found() {
    let canary = Canary::card_number("number", 7);
    let text = canary.text.as_bytes();
    let mut shifted = vec![b'x'];
    shifted.extend_from_slice(text);
    let mut spelled = vec![
        text.to_vec(),
        text.iter().rev().copied().collect(),
        format!("{:?}", STANDARD.encode(&shifted)).into_bytes(),
        text.iter().map(|byte| format!("{byte:02X}")).collect::<String>().into_bytes(),
        text.iter().map(|byte| format!("%{byte:02x}")).collect::<String>().into_bytes(),
        format!("…{}…", &canary.text[..12]).into_bytes(),
    ];
    let words = format!("Number={}", canary.text);
    spelled.push(words.as_bytes().as_chunks::<8>().0.iter().flat_map(|word| word.iter().rev().copied()).collect());
    for bytes in spelled {
        assert!(
            !leaks(std::slice::from_ref(&canary), "here", &bytes).is_empty(),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
    }
    let masked = pg_model::mask::card_number(&canary.text);
    assert!(leaks(&[canary], "here", masked.as_bytes()).is_empty(), "{masked}");
}
