//! Whether time tells why a redirect was refused. Takes minutes and a machine of one's own, so it runs when it is asked for:
//!
//! ```console
//! $ cargo test --release -p pg-proto --lib redirect::timing -- --ignored --nocapture
//! ```

use std::{cell::Cell, hint::black_box};

use aes::cipher::{BlockModeEncrypt, KeyIvInit};
use base64::{Engine, engine::general_purpose::STANDARD};
use pg_crypto::SessionCipher;
use pg_measure::leak;
use pg_model::{RedirectData, decode_into};

use super::Redirect;

const KEY: &str = "0123456789abcdef0123456789abcdef";
const IV: &str = "fedcba9876543210";
const SAMPLES: usize = 1_000_000;
/// Beginnings of each plaintext.
const VARIANTS: u32 = 64;
/// Above it, two kinds of input can be told apart.
const TOLD_APART: f64 = 4.5;

/// Data of 0.6 KB as the service sends it, with a space for every byte of padding.
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

/// What can be wrong behind the right key, each with its name; the first is what the others are compared with.
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
    let mut bytes = plain.to_vec();
    let blocks = aes::Block::cast_slice_from_core_mut(bytes.as_chunks_mut().0);
    let (key, iv) = (KEY.as_bytes().try_into(), IV.as_bytes().try_into());
    cbc::Encryptor::<aes::Aes256>::new(key.expect("32 bytes"), iv.expect("16 bytes")).encrypt_blocks(blocks);
    STANDARD.encode(bytes)
}

fn cipher() -> SessionCipher {
    SessionCipher::new(KEY).expect("32 characters")
}

fn redirect(data: &str) -> Redirect {
    Redirect { form_id: String::new(), data: data.to_owned(), iv: IV.to_owned() }
}

/// A state whose redirect is opened, and which of its variants come next.
struct Turns {
    redirect: Redirect,
    next: Cell<usize>,
}

/// The largest t of two plaintexts under one way to open them.
///
/// How long Base64 and copying take may depend a little on the ciphertext, which an attacker has anyway. So each plaintext is
/// encrypted behind many different beginnings, and what they have in common is compared.
fn t(one: &[u8], other: &[u8], open: impl Fn(&Redirect) -> bool) -> f64 {
    let variants = |plain: &[u8]| -> Vec<String> {
        (0..VARIANTS)
            .map(|number| {
                let mut plain = plain.to_vec();
                // Within the first name, and no place that a refusal has changed.
                plain[2..10].copy_from_slice(format!("{:08x}", number.wrapping_mul(0x9E37_79B9)).as_bytes());
                encrypted(&plain)
            })
            .collect()
    };
    let data = [variants(one), variants(other)];
    let mut state = Turns { redirect: redirect(&data[0][0]), next: Cell::new(0) };
    // Always the same memory.
    let prepare = |state: &mut Turns, kind: bool| {
        state.next.set((state.next.get() + 1) % data[0].len());
        state.redirect.data.clear();
        state.redirect.data.push_str(&data[usize::from(kind)][state.next.get()]);
    };
    leak(SAMPLES, &mut state, prepare, |state| assert!(!open(black_box(&state.redirect)), "it is refused"))
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
#[ignore = "takes minutes and a quiet machine"]
fn time_does_not_tell_why_a_redirect_was_refused() {
    let cipher = cipher();
    let refusals = refusals();
    let (_, reference) = &refusals[0];
    let mut worst = 0.0_f64;
    for (name, plain) in &refusals[1..] {
        let opened = t(reference, plain, |redirect| redirect.open(&cipher).is_ok());
        println!("open     t = {opened:6.2}  {name}");
        worst = worst.max(opened);
    }
    let text = refusals.iter().filter(|(_, plain)| plain.last() != Some(&1) || std::str::from_utf8(plain).is_err());
    for (name, plain) in text.skip(1) {
        let decrypted = t(reference, plain, |redirect| redirect.decrypt(&cipher).is_ok());
        println!("decrypt  t = {decrypted:6.2}  {name}");
        worst = worst.max(decrypted);
    }
    // What is known to be told: right padding, a text, first and last sign right, and no JSON between.
    let late = changed(|bytes| bytes[bytes.len() / 2] = b'"');
    println!(
        "remains  t = {:6.2}  JSON with a mistake in it",
        t(reference, &late, |redirect| redirect.open(&cipher).is_ok())
    );

    // The control: what stops at the first thing that is wrong is found out.
    let stops_early = |redirect: &Redirect| {
        let Ok(text) = redirect.decrypt(&cipher) else { return false };
        decode_into(text.as_str().as_bytes(), &mut RedirectData::default()).is_ok()
    };
    let (_, no_json) = &refusals[6];
    let found = t(reference, no_json, stops_early);
    println!("control  t = {found:6.2}  decrypt, then decode what was decrypted");
    let compared = comparison();
    println!("control  t = {compared:6.2}  16 bytes compared one after the other");
    assert!(worst < TOLD_APART, "t = {worst}");
    assert!(found > TOLD_APART && compared > TOLD_APART, "the control is not found: t = {found}, {compared}");
}

/// Compares 16 bytes that differ in the first one, or in the last.
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
