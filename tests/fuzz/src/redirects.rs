//! Round trips of session data, and the redirects that contain it.

use pg_crypto::{IvFormat, KeyDerivation, Padding, SessionCipher, TextEncoding};
use pg_model::RedirectData;
use pg_proto::{CardFormResult, Redirect};

use crate::{
    dice::Dice,
    replies::account,
    secrets::{API_KEY, no_credentials},
};

/// Encrypted data is decrypted under every setting; all other data is refused with the same error.
pub fn session_data(input: &[u8]) {
    let mut dice = Dice::new(input);
    let derivation = dice.one_of(&[KeyDerivation::Verbatim, KeyDerivation::Sha256]);
    let padding = dice.one_of(&[Padding::Pkcs7, Padding::Zero, Padding::None]);
    let encoding = dice.one_of(&[TextEncoding::Base64, TextEncoding::Base64Url, TextEncoding::Hex]);
    let strict = dice.flag();
    let form = dice.one_of(&[IvFormat::Detect, IvFormat::Text, IvFormat::Hex]);
    let mut cipher = SessionCipher::with_derivation(API_KEY, derivation).unwrap();
    cipher = cipher.padding(padding).encode_as(encoding).iv_format(form);
    if strict {
        cipher = cipher.decode_only(encoding);
    }
    let iv = match dice.below(3) {
        0 => dice.text(40),
        1 => "fedcba9876543210".to_owned(),
        _ => "00112233445566778899aabbccddeeff".to_owned(),
    };
    let text = String::from_utf8_lossy(dice.rest()).into_owned();
    let (first, again) = (cipher.decrypt(&text, &iv), cipher.decrypt(&text, &iv));
    assert_eq!(first.as_ref().map(|plain| plain.as_str()), again.as_ref().map(|plain| plain.as_str()));
    if let (Err(error), Err(other)) = (&first, cipher.decrypt("", "")) {
        assert_eq!((error.to_string(), format!("{error:?}")), (other.to_string(), format!("{other:?}")));
    }
    let Ok(data) = cipher.encrypt(&text, &iv) else { return };
    let plain = cipher.decrypt(&data, &iv).unwrap();
    let expected = if padding == Padding::Zero { text.trim_end_matches('\0') } else { &text };
    assert_eq!(plain.as_str(), expected);
    // A query decodes `+` as a space.
    if encoding == TextEncoding::Base64 {
        assert_eq!(cipher.decrypt(&data.replace('+', " "), &iv).unwrap().as_str(), expected);
    }
    // The cipher knows nothing of the text, and the text shows nothing but its length. A search for the text in both would find a text
    // that is a part of these words.
    assert_eq!(format!("{plain:?}"), format!("Plaintext({} bytes, unauthenticated)", plain.as_str().len()));
    no_credentials(&format!("{cipher:?}"));
}

/// Every URL is read or refused, and encrypted data is decrypted.
pub fn redirect(input: &[u8]) {
    let mut dice = Dice::new(input);
    let (made, order, hex) = (dice.flag(), dice.below(4), dice.flag());
    let text = String::from_utf8_lossy(dice.rest()).into_owned();
    if made { carried(&text, order, hex) } else { read(&text) }
}

fn read(address: &str) {
    let account = account();
    let (first, again) = (account.redirect(address), account.redirect(address));
    assert_eq!(format!("{first:?}"), format!("{again:?}"));
    let parsed = Redirect::parse(address);
    assert!(parsed.is_ok() || first.is_err());
    if !address.contains("cAnArY") {
        no_credentials(&format!("{first:?} {parsed:?}"));
    }
}

fn carried(plain: &str, order: usize, hex: bool) {
    const IV: &str = "fedcba9876543210";
    let encoding = if hex { TextEncoding::Hex } else { TextEncoding::Base64 };
    let Ok(data) = SessionCipher::new(API_KEY).unwrap().encode_as(encoding).encrypt(plain, IV) else { return };
    let mut pairs = vec![("data", data.as_str()), ("iv", IV), ("formId", "card"), ("order", "7")];
    pairs.rotate_left(order);
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
    for address in [format!("https://shop.example/review?{query}#top"), query] {
        let opened = account().redirect(&address);
        let mut expected = RedirectData::default();
        let read = pg_model::decode_into(plain.as_bytes(), &mut expected);
        assert_eq!(opened.is_ok(), read.is_ok(), "{opened:?} is not {expected:?}");
        match opened {
            Ok(CardFormResult::Accepted(data) | CardFormResult::Invalid(data)) => assert_eq!(*data.get(), expected),
            Ok(CardFormResult::Failed(error)) => assert_eq!(error.get().error_code, expected.error_code),
            Err(_) => {}
        }
    }
}
