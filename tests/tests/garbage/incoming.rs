//! Input from browsers and unknown clients: redirect URLs, callbacks, replies.

use bytes::Bytes;
use http::{Request, Response};
use pg_crypto::{KeyDerivation, Padding, SessionCipher};
use pg_model::{AuthSessionKey, GetToken, RetrieveAccountUpdater, TransactionLookup};
use pg_proto::{Account, BaseUrl, CardFormResult, Credentials, Redirect, UpdaterHint};
use proptest::prelude::*;

const KEY: &str = "0123456789abcdef0123456789abcdef";
const IV: &str = "fedcba9876543210";
const SAID: &str =
    r#"{"cardholderName":"Zoë","cardNumber":"411111******1111","errors":{"cardCV2":{"errorCode":"110"}}}"#;
const BATCH: &str = r#"{"batchKey":"0123456789abcdef0123456789abcdef","createdOn":"2026-05-04T10:00:00+00:00","cardKeyDetails":[{"oldCardKey":"k1","response":"706"}]}"#;

fn account() -> Account {
    Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new(KEY, "password", "sha key"))
}

fn address(said: &str) -> String {
    let data = SessionCipher::new(KEY).unwrap().encrypt(said, IV).unwrap();
    let query =
        form_urlencoded::Serializer::new(String::new()).append_pair("data", &data).append_pair("iv", IV).finish();
    format!("https://shop.example/review?order=7&{query}")
}

#[test]
fn a_redirect_that_was_cut_or_damaged_at_any_byte_is_read_or_refused() {
    let whole = address(SAID);
    assert!(matches!(account().redirect(&whole), Ok(CardFormResult::Invalid(_))));
    for at in 0..whole.len() {
        assert!(account().redirect(&whole[..at]).is_err(), "cut at {at}");
        for other in ["%", "&", "=", "#", "?", "+", "é", "%FF", "%00", ""] {
            let damaged = format!("{}{other}{}", &whole[..at], &whole[at + 1..]);
            let read = account().redirect(&damaged);
            assert!(!format!("{read:?}").contains(KEY), "{damaged}");
        }
    }
}

/// An attacker can alter a redirect, so every decryption failure gives the same error.
#[test]
fn data_with_any_bit_turned_is_read_or_refused() {
    let plain = SessionCipher::new(KEY).unwrap().encode_as(pg_crypto::TextEncoding::Hex);
    let data = plain.encrypt(SAID, IV).unwrap();
    for at in 0..data.len() {
        for digit in ["0", "7", "f"] {
            let turned = format!("{}{digit}{}", &data[..at], &data[at + 1..]);
            drop(account().redirect(&format!("data={turned}&iv={IV}")));
        }
    }
    for text in ["[".repeat(50_000), "{\"a\":".repeat(20_000), "<a>".repeat(50_000)] {
        assert!(account().redirect(&address(&text)).is_err());
    }
}

#[test]
fn a_callback_that_was_cut_or_damaged_at_any_byte_is_read_or_refused() {
    let read = |body: &[u8]| UpdaterHint::read(&Request::post("/updated").body(Bytes::copy_from_slice(body)).unwrap());
    assert!(read(BATCH.as_bytes()).is_ok());
    for at in 0..BATCH.len() {
        assert!(read(&BATCH.as_bytes()[..at]).is_err(), "cut at {at}");
        for other in [&b"\""[..], b"{", b"}", b"[", b",", b"9", b"\\", b"\xff", b"\0", b""] {
            drop(read(&[&BATCH.as_bytes()[..at], other, &BATCH.as_bytes()[at + 1..]].concat()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_address_is_read_or_refused(address in "\\PC{0,60}|[?&=#%a-f0-9+ dativ]{0,60}") {
        prop_assert!(account().redirect(&address).is_err());
        drop(Redirect::parse(&address));
        drop(BaseUrl::parse(&address));
    }

    #[test]
    fn any_data_of_whole_blocks_is_decrypted_or_refused(
        blocks in proptest::collection::vec(any::<[u8; 16]>(), 0..5),
        zero_padded in any::<bool>(),
        hashed in any::<bool>(),
    ) {
        let data: String = blocks.concat().iter().map(|byte| format!("{byte:02x}")).collect();
        let derivation = if hashed { KeyDerivation::Sha256 } else { KeyDerivation::Verbatim };
        let cipher = SessionCipher::with_derivation(KEY, derivation).unwrap();
        let cipher = if zero_padded { cipher.padding(Padding::Zero) } else { cipher };
        drop(cipher.decrypt(&data, IV));
    }

    #[test]
    fn any_reply_is_an_answer_or_an_error_of_one_line(
        status in 200_u16..600,
        body in "\\PC{0,60}|[{}\\[\\]\":,a-e0-9]{0,60}|<serviceResponse>[<>/a-c&;]{0,40}</serviceResponse>",
    ) {
        let reply = || Response::builder().status(status).body(Bytes::from(body.clone())).unwrap();
        let account = account();
        let errors = [
            account.reply::<AuthSessionKey>(reply()).err().map(|error| error.to_string()),
            account.reply::<TransactionLookup>(reply()).err().map(|error| error.to_string()),
            account.reply::<RetrieveAccountUpdater>(reply()).err().map(|error| error.to_string()),
            account.reply::<GetToken>(reply()).err().map(|error| error.to_string()),
        ];
        for error in errors.into_iter().flatten() {
            prop_assert!(!error.contains('\n'), "{error}");
        }
    }
}
