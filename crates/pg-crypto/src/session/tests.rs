use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use aes::Block;
use aes::cipher::{BlockModeEncrypt, KeyIvInit};
use proptest::prelude::*;

use super::{
    DecryptError, DecryptProblem, EncryptError, IvFormat, KeyDerivation, MAX_DATA_BYTES, MAX_PLAINTEXT_BYTES, Padding,
    SessionCipher, TextEncoding,
};

const KEY: &str = "0123456789abcdef0123456789abcdef";
const IV: &str = "fedcba9876543210";

fn cipher() -> SessionCipher {
    SessionCipher::new(KEY).unwrap()
}

fn refused(cipher: &SessionCipher, data: &str, iv: &str) -> bool {
    matches!(cipher.decrypt(data, iv), Err(DecryptError(())))
}

/// Created with `openssl enc -aes-256-cbc -base64 -A`.
// spec: 2 §1.1
#[test]
fn agrees_with_openssl() {
    let plain = r#"{"cardNumber":"411111******1111","cardCV2":""}"#;
    let data = "ksU9Rco/wf930lSpKRDR41Ko//Hqdzui4T6qYj8CC+fZEJGy+qC6wkYToNIIq+hJ";
    assert_eq!(cipher().encrypt(plain, IV).unwrap(), data);
    assert_eq!(cipher().decrypt(data, IV).unwrap().as_str(), plain);
    let spelt_out = "66656463626139383736353433323130";
    assert_eq!(cipher().decrypt(data, spelt_out).unwrap().as_str(), plain);
}

#[test]
fn encrypting_needs_a_good_iv_and_a_bounded_text() {
    assert_eq!(cipher().encrypt("a", "short"), Err(EncryptError::Iv));
    let most = "a".repeat(if cfg!(miri) { 256 } else { MAX_PLAINTEXT_BYTES });
    let hex = cipher().encode_as(TextEncoding::Hex);
    let data = hex.encrypt(&most, IV).unwrap();
    assert!(data.len() <= MAX_DATA_BYTES);
    assert_eq!(cipher().decrypt(&data, IV).unwrap().as_str(), most);
    assert_eq!(cipher().encrypt(&"a".repeat(MAX_PLAINTEXT_BYTES + 1), IV), Err(EncryptError::TooLong));
    assert_eq!(cipher().padding(Padding::None).encrypt("a", IV), Err(EncryptError::NotWholeBlocks));
}

// spec: 2 §4.2, A35: The data is not authenticated: it proves no payment, and every decryption failure gives the same
//   error.
#[test]
fn every_failure_looks_the_same() {
    let good = cipher().encrypt("{}", IV).unwrap();
    assert!(cipher().decrypt(&good, IV).is_ok());
    for (data, iv) in [
        ("", IV),
        ("=", IV),
        ("AAAA", IV),
        (&*good, ""),
        (&*good, "0123"),
        (&good[..good.len() - 4], IV),
        (&*"A".repeat(MAX_DATA_BYTES + 4), IV),
    ] {
        assert!(refused(&cipher(), data, iv), "{iv}");
    }
    let wrong = SessionCipher::new("x".repeat(32)).unwrap();
    assert!(refused(&wrong, &good, IV));
}

/// Encrypts bytes without padding, so that they can be anything.
fn raw(plain: &[u8]) -> String {
    let mut bytes = plain.to_vec();
    let blocks = Block::cast_slice_from_core_mut(bytes.as_chunks_mut().0);
    cbc::Encryptor::<aes::Aes256>::new(KEY.as_bytes().try_into().unwrap(), IV.as_bytes().try_into().unwrap())
        .encrypt_blocks(blocks);
    TextEncoding::Base64.encode(&bytes)
}

#[test]
fn data_that_is_no_document_is_read_as_a_decoy_once() {
    for wrong in [
        &b"{\"a\":\"bcdefgh\"}\0"[..], // padding
        b"{\"a\":\"bcdefgh}\x01\x02",
        b"{\"a\":\"\xff\xff\xff\xff\xff\xff\xff\"}\x01", // not UTF-8
        b"plain text here\x01",
        b"{\"a\":\"bcdefghij\x01", // no end
    ] {
        let mut seen = Vec::new();
        let read = cipher().decrypt_and_read(&raw(wrong), IV, |text| {
            seen.push(text.to_vec());
            Some(())
        });
        assert_eq!(read, Err(DecryptError(())));
        assert_eq!(seen, [b"{              }"], "{wrong:?}");
    }
    let right = raw(b"{\"a\":\"bcdefgh\"}\x01");
    assert_eq!(cipher().decrypt_and_read(&right, IV, |text| Some(text.len())), Ok(15));
    assert_eq!(cipher().decrypt_and_read(&right, IV, |_| None::<()>), Err(DecryptError(())));
    // Errors of the text form are visible anyway, so nothing is read.
    assert_eq!(cipher().decrypt_and_read("AAAA", IV, |_| -> Option<()> { panic!() }), Err(DecryptError(())));
}

#[test]
fn developers_see_the_cause() {
    let good = cipher().encrypt("{}", IV).unwrap();
    assert_eq!(cipher().explain_locally(&good, IV), None);
    for (data, iv, problem) in [
        ("", IV, DecryptProblem::Empty),
        (&*"A".repeat(MAX_DATA_BYTES + 4), IV, DecryptProblem::TooLong),
        (&*good, "short", DecryptProblem::Iv),
        ("=", IV, DecryptProblem::TextForm),
        ("AAAA", IV, DecryptProblem::NotWholeBlocks { bytes: 3 }),
        (&*raw(b"0123456789abcde\0"), IV, DecryptProblem::Padding),
        (&*raw(b"01234\xff6789abcde\x01"), IV, DecryptProblem::NotUtf8 { at: 5 }),
    ] {
        assert_eq!(cipher().explain_locally(data, iv), Some(problem));
        assert_eq!(cipher().decrypt(data, iv).unwrap_err(), DecryptError(()));
        assert!(!problem.to_string().contains('\n'));
    }
}

#[test]
fn choices_can_be_narrowed() {
    let data = cipher().encrypt("{}", IV).unwrap();
    assert!(refused(&cipher().decode_only(TextEncoding::Hex), &data, IV));
    assert!(refused(&cipher().iv_format(IvFormat::Hex), &data, IV));
    let narrowed = cipher().decode_only(TextEncoding::Base64).iv_format(IvFormat::Text);
    assert_eq!(narrowed.decrypt(&data, IV).unwrap().as_str(), "{}");
    let derived = SessionCipher::from_key(*b"0123456789abcdef0123456789abcdef");
    assert_eq!(derived.decrypt(&data, IV).unwrap().as_str(), "{}");
}

#[test]
fn debug_and_display_show_no_secret() {
    assert!(!format!("{:?}", cipher()).contains("0123"));
    assert_eq!(DecryptError(()).to_string(), "session data cannot be read: wrong key, wrong iv, or damaged data");
}

fn choice() -> impl Strategy<Value = SessionCipher> {
    let derivation = prop_oneof![Just(KeyDerivation::Verbatim), Just(KeyDerivation::Sha256)];
    let encoding = prop_oneof![Just(TextEncoding::Base64), Just(TextEncoding::Base64Url), Just(TextEncoding::Hex),];
    let padding = prop_oneof![Just(Padding::Pkcs7), Just(Padding::Zero)];
    ("[ -~]{32}", derivation, encoding, padding).prop_map(|(key, derivation, encoding, padding)| {
        SessionCipher::with_derivation(key, derivation).unwrap().encode_as(encoding).padding(padding)
    })
}

proptest! {
    #[test]
    fn encrypted_data_is_decrypted_again(
        cipher in choice(), text in if cfg!(miri) { "[^\0]{0,20}" } else { "[^\0]{0,200}" }, iv in "[a-zA-Z0-9]{16}|[a-f0-9]{32}"
    ) {
        let data = cipher.encrypt(&text, &iv).unwrap();
        let plain = cipher.decrypt(&data, &iv).unwrap();
        prop_assert_eq!(plain.as_str(), &*text);
        // After careless decoding of a query string.
        let plain = cipher.decrypt(&data.replace('+', " "), &iv).unwrap();
        prop_assert_eq!(plain.as_str(), &*text);
    }

    #[test]
    fn any_text_is_decrypted_or_refused(data in crate::texts::any_text(), iv in crate::texts::any_text()) {
        let _ = cipher().decrypt(&data, &iv);
        let _ = cipher().decrypt(&data, IV);
    }
}
