//! Tests whether the response time reveals why a redirect was rejected. They take minutes and need an idle machine, so
//! they run on request:
//!
//! ```console
//! $ cargo test --release -p pg-proto --lib redirect::timing -- --ignored --nocapture
//! ```
//!
//! The measured differences are a quarter of a nanosecond, so both kinds of input are prepared in the same way. Each
//! sample has its own ciphertext, since the time of Base64 depends slightly on the ciphertext, which an attacker has
//! anyway. With only a few ciphertexts of each kind, the test would find that difference. Both kinds are encrypted each
//! time and one is chosen without a branch, so that caches and predictors are in the same state.

use std::{
    hint::black_box,
    sync::{Mutex, MutexGuard, PoisonError},
};

use aes::{
    Aes256,
    cipher::{BlockModeEncrypt, InnerIvInit, KeyInit},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use pg_crypto::SessionCipher;
use pg_measure::leak;
use pg_model::{RedirectData, decode_into};

use super::Redirect;

const KEY: &str = "0123456789abcdef0123456789abcdef";
const IV: &str = "fedcba9876543210";
const SAMPLES: usize = 1_000_000;
/// Above this value, two kinds of input can be distinguished.
const TOLD_APART: f64 = 4.5;

/// Data of 0.6 KB as the service sends it, with enough spaces for all padding.
fn document() -> Vec<u8> {
    let member = r#""collectField":"alphanumeric and symbols","cardNumber":"411111******1111","#;
    let mut text = format!("{{{}\"cardCV2\":\"\"}}", member.repeat(8)).into_bytes();
    text.resize(text.len().next_multiple_of(16), b' ');
    // Padding of one byte.
    text.truncate(text.len() - 1);
    text.push(1);
    text
}

/// The same with some of it changed.
fn changed(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = document();
    change(&mut bytes);
    bytes
}

/// Everything that can be wrong although the key is right, each with its name. All other kinds are compared with the
/// first.
fn refusals() -> Vec<(&'static str, Vec<u8>)> {
    let end = document().len();
    vec![
        ("padding of no bytes", changed(|bytes| bytes[end - 1] = 0)),
        ("padding of 17 bytes", changed(|bytes| bytes[end - 17..].fill(17))),
        ("padding of two bytes, one of them wrong", changed(|bytes| bytes[end - 1] = 2)),
        ("not UTF-8 at the beginning", changed(|bytes| bytes[0] = 0xff)),
        ("not UTF-8 in the middle", changed(|bytes| bytes[end / 2] = 0xc3)),
        ("not UTF-8 at the end", changed(|bytes| bytes[end - 2] = 0xe0)),
        ("neither XML nor JSON", changed(|bytes| bytes[0] = b'x')),
        ("cut short", changed(|bytes| bytes[end - 20..end - 1].fill(b'x'))),
        (
            "a damaged block",
            changed(|bytes| {
                bytes[end / 2..][..16].copy_from_slice(b"\x01\x9c\xe1zA\xf0\x7f\x80Qq\x00\xff\x13\xd2\x88~")
            }),
        ),
        (
            "a damaged block and wrong padding",
            changed(|bytes| {
                bytes[end - 32..][..16].copy_from_slice(b"\x01\x9c\xe1zA\xf0\x7f\x80Qq\x00\xff\x13\xd2\x88~");
                bytes[end - 1] = 200;
            }),
        ),
    ]
}

fn encrypted(plain: &[u8]) -> String {
    let mut text = String::new();
    Sealed::new(plain).encrypt(&key(), &mut text);
    text
}

fn key() -> Aes256 {
    Aes256::new_from_slice(KEY.as_bytes()).expect("32 bytes")
}

/// A plaintext, and the buffer into which it is encrypted.
struct Sealed {
    plain: Vec<u8>,
    room: Vec<u8>,
}

impl Sealed {
    fn new(plain: &[u8]) -> Self {
        Self { plain: plain.to_vec(), room: plain.to_vec() }
    }

    /// Writes digits into the first name, where no rejected input was changed. In CBC this changes all later blocks.
    fn begin(&mut self, number: u32) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for (at, byte) in self.plain[2..10].iter_mut().enumerate() {
            *byte = DIGITS[(number >> (4 * at)) as usize & 15];
        }
    }

    fn encrypt(&mut self, key: &Aes256, text: &mut String) {
        self.room.copy_from_slice(&self.plain);
        let blocks = aes::Block::cast_slice_from_core_mut(self.room.as_chunks_mut().0);
        cbc::Encryptor::inner_iv_slice_init(key, IV.as_bytes()).expect("16 bytes").encrypt_blocks(blocks);
        text.clear();
        STANDARD.encode_string(&self.room, text);
    }
}

fn cipher() -> SessionCipher {
    SessionCipher::new(KEY).expect("32 characters")
}

fn redirect(data: &str) -> Redirect {
    Redirect { form_id: String::new(), data: data.to_owned(), iv: IV.to_owned() }
}

/// An opened redirect, and how to make the next one.
struct Turns {
    redirect: Redirect,
    key: Aes256,
    kinds: [(Sealed, String); 2],
    number: u32,
}

impl Turns {
    /// Encrypts both kinds in the same memory, and chooses one of them.
    fn take(&mut self, second: bool) {
        self.number = self.number.wrapping_add(0x9E37_79B9);
        for (sealed, text) in &mut self.kinds {
            sealed.begin(self.number);
            sealed.encrypt(&self.key, text);
        }
        let mask = black_box(u8::from(second).wrapping_neg());
        let [one, other] = self.kinds.each_ref().map(|(_, text)| text.as_bytes());
        let mut taken = std::mem::take(&mut self.redirect.data).into_bytes();
        for ((to, one), other) in taken.iter_mut().zip(one).zip(other) {
            *to = (one & !mask) | (other & mask);
        }
        self.redirect.data = String::from_utf8(taken).expect("Base64");
    }
}

/// Returns the largest t of two plaintexts when opened by `open`.
fn t(one: &[u8], other: &[u8], open: impl Fn(&Redirect) -> bool) -> f64 {
    let kinds = [one, other].map(|plain| (Sealed::new(plain), String::new()));
    let mut state = Turns { redirect: redirect(&encrypted(one)), key: key(), kinds, number: 0 };
    leak(SAMPLES, &mut state, Turns::take, |state| assert!(!open(black_box(&state.redirect)), "it is refused"))
}

/// The same for two that must not be distinguishable. A positive result is measured again with other ciphertexts, since
/// chance does not repeat it.
fn t_of_alike(name: &str, measure: impl Fn() -> f64) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..2 {
        let t = measure();
        println!("t = {t:6.2}  {name}");
        least = least.min(t);
        if least < TOLD_APART {
            break;
        }
    }
    least
}

/// One measurement at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn every_refusal_is_one_error() {
    assert!(redirect(&encrypted(&document())).open(&cipher()).is_ok());
    let errors = refusals().into_iter().map(|(_, plain)| redirect(&encrypted(&plain)).open(&cipher()).unwrap_err());
    let mut texts: Vec<_> = errors.map(|error| format!("{error} {error:?}")).collect();
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
}

#[test]
#[ignore = "takes a minute and a quiet machine"]
fn timing_does_not_reveal_why_a_redirect_was_not_opened() {
    let _alone = alone();
    let cipher = cipher();
    let refusals = refusals();
    let (_, reference) = &refusals[0];
    let told_apart = refusals[1..].iter().map(|(name, plain)| {
        t_of_alike(&format!("open: {name}"), || t(reference, plain, |redirect| redirect.open(&cipher).is_ok()))
    });
    let worst = told_apart.fold(0.0, f64::max);
    // Known to be distinguishable: valid padding, UTF-8, first and last character, but no valid JSON.
    let late = changed(|bytes| bytes[bytes.len() / 2] = b'"');
    let remains = t(reference, &late, |redirect| redirect.open(&cipher).is_ok());
    println!("t = {remains:6.2}  what remains: JSON with a mistake in it");
    assert!(worst < TOLD_APART, "t = {worst}");
}

#[test]
#[ignore = "takes a minute and a quiet machine"]
fn timing_does_not_reveal_why_a_redirect_was_not_decrypted() {
    let _alone = alone();
    let cipher = cipher();
    let refusals = refusals();
    let (_, reference) = &refusals[0];
    let no_text = refusals.iter().filter(|(_, plain)| plain.last() != Some(&1) || std::str::from_utf8(plain).is_err());
    let told_apart = no_text.skip(1).map(|(name, plain)| {
        t_of_alike(&format!("decrypt: {name}"), || t(reference, plain, |redirect| redirect.decrypt(&cipher).is_ok()))
    });
    let worst = told_apart.fold(0.0, f64::max);
    assert!(worst < TOLD_APART, "t = {worst}");
}

/// Checks that the measurement works: an implementation that stops at the first mistake is detected.
#[test]
#[ignore = "takes a minute and a quiet machine"]
fn timing_reveals_a_decoder_that_stops_at_the_first_mistake() {
    let _alone = alone();
    let cipher = cipher();
    let refusals = refusals();
    let stops_early = |redirect: &Redirect| {
        let Ok(text) = redirect.decrypt(&cipher) else { return false };
        decode_into(text.as_str().as_bytes(), &mut RedirectData::default()).is_ok()
    };
    let ((_, reference), (_, no_json)) = (&refusals[0], &refusals[6]);
    let found = t(reference, no_json, stops_early);
    println!("t = {found:6.2}  control: decrypt, then decode what was decrypted");
    // The same work for both, and then a reading of some hundred bytes for the one with valid padding.
    let looks_again = |redirect: &Redirect| {
        let opened = redirect.open(&cipher).is_ok();
        black_box(cipher.explain_locally(&redirect.data, &redirect.iv));
        opened
    };
    let little = t(reference, no_json, looks_again);
    println!("t = {little:6.2}  control: open, and a look at the text where the padding is right");
    let compared = comparison();
    println!("t = {compared:6.2}  control: 16 bytes compared one after the other");
    let least = found.min(little).min(compared);
    assert!(least > TOLD_APART, "a control is not found: t = {least}");
}

/// Compares 16 bytes that differ in the first or in the last one.
fn comparison() -> f64 {
    let right = [7_u8; 16];
    let prepare = |given: &mut [u8; 16], last: bool| {
        *given = [7; 16];
        given[if last { 15 } else { 0 }] = 0;
    };
    leak(SAMPLES, &mut [7; 16], prepare, |given| {
        let differs = given.iter().zip(black_box(&right).iter()).position(|(a, b)| black_box(a) != b);
        black_box(differs);
    })
}
