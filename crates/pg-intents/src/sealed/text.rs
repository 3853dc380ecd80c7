//! One sealed text: encrypted with XChaCha20-Poly1305, and authenticated with its place in the database.
//!
//! The nonce is an HMAC-SHA-512 over the place and the text (a synthetic nonce, as in SIV mode). So no random bytes are needed, two
//! texts share a nonce only if place and text are the same, and a store still notices that an outcome is the same as before.

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use hmac::Mac as _;

use super::key::{SealKey, Sealing, keyed};

const NONCE: usize = 24;
/// The beginning of every sealed text. The fingerprint of its key, a colon and the Base64 of nonce and ciphertext
/// follow. No unencrypted text begins with this: those are JSON or hexadecimal digits.
const MARK: &str = "sealed:";

/// A text of a row.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) account: &'a str,
    pub(super) reference: &'a str,
    /// The kind of the row, for a text that is written once together with the kind. If the kind was altered, the text
    /// cannot be opened.
    pub(super) kind: &'a str,
    pub(super) column: &'static str,
}

/// Why a text cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unopened {
    /// The text needs a key that was not given.
    MissingKey(String),
    /// The text was altered, or copied from another place.
    Altered(&'static str),
    /// The text is not sealed.
    Clear,
}

impl Place<'_> {
    /// Returns the parts of the place with their lengths, so that no two places give the same bytes.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"pg-intents 1".to_vec();
        for part in [self.account, self.reference, self.kind, self.column] {
            bytes.extend_from_slice(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

/// Returns the fingerprint of the key with which a text is sealed.
pub(super) fn fingerprint(text: &str) -> Option<&str> {
    text.strip_prefix(MARK)?.split_once(':').map(|(fingerprint, _)| fingerprint)
}

pub(super) fn seal(key: &SealKey, place: Place<'_>, text: &str) -> String {
    let place = place.bytes();
    let mac = keyed(key.nonces()).chain_update(&place).chain_update(text).finalize().into_bytes();
    let mut sealed = mac[..NONCE].to_vec();
    let mut nonce = [0; NONCE];
    nonce.copy_from_slice(&sealed);
    let payload = Payload { msg: text.as_bytes(), aad: &place };
    let cipher = XChaCha20Poly1305::new(key.cipher().into());
    let encrypted = cipher.encrypt(&XNonce::from(nonce), payload);
    sealed.extend(encrypted.expect("the cipher only refuses texts of more than 256 GiB"));
    format!("{MARK}{}:{}", key.fingerprint(), STANDARD_NO_PAD.encode(sealed))
}

pub(super) fn open(sealing: &Sealing, place: Place<'_>, text: &str) -> Result<String, Unopened> {
    let Some((fingerprint, sealed)) = text.strip_prefix(MARK).and_then(|text| text.split_once(':')) else {
        return Err(Unopened::Clear);
    };
    let Some(key) = sealing.key(fingerprint) else {
        // The error repeats nothing else from the database.
        let is_one = fingerprint.len() == 16 && fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit());
        let altered = Unopened::Altered(place.column);
        return Err(if is_one { Unopened::MissingKey(fingerprint.to_owned()) } else { altered });
    };
    let opened = || {
        let bytes = STANDARD_NO_PAD.decode(sealed).ok()?;
        let (nonce, encrypted) = bytes.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: encrypted, aad: &place.bytes() };
        let cipher = XChaCha20Poly1305::new(key.cipher().into());
        String::from_utf8(cipher.decrypt(&XNonce::from(*nonce), payload).ok()?).ok()
    };
    opened().ok_or(Unopened::Altered(place.column))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(account: &'a str, reference: &'a str, kind: &'a str, column: &'static str) -> Place<'a> {
        Place { account, reference, kind, column }
    }

    #[test]
    fn a_text_opens_where_it_was_sealed_and_nowhere_else() {
        let sealing = Sealing::new(SealKey::from_bytes(&[1; 32]));
        let here = at("a", "r", "k", "state");
        let sealed = seal(sealing.newest(), here, "{\"amount\":\"499\"}");
        assert!(!sealed.contains("499") && !sealed.contains("amount"), "{sealed}");
        assert_eq!(open(&sealing, here, &sealed).unwrap(), "{\"amount\":\"499\"}");
        for elsewhere in [
            at("b", "r", "k", "state"),
            at("a", "s", "k", "state"),
            at("a", "r", "l", "state"),
            at("a", "r", "k", "request"),
            at("ar", "", "k", "state"),
        ] {
            let column = elsewhere.column;
            assert_eq!(open(&sealing, elsewhere, &sealed), Err(Unopened::Altered(column)));
        }
        assert_eq!(open(&sealing, here, "{}"), Err(Unopened::Clear));
    }

    #[test]
    fn every_altered_character_is_noticed() {
        let sealing = Sealing::new(SealKey::from_bytes(&[1; 32]));
        let here = at("a", "r", "", "outcome");
        let sealed = seal(sealing.newest(), here, "paid");
        for position in 0..sealed.len() {
            let mut altered = sealed.clone().into_bytes();
            altered[position] = if altered[position] == b'b' { b'c' } else { b'b' };
            let altered = String::from_utf8(altered).unwrap();
            assert!(open(&sealing, here, &altered).is_err(), "{position}");
            assert!(open(&sealing, here, &sealed[..position]).is_err(), "{position}");
        }
    }

    #[test]
    fn an_older_key_still_opens_and_an_unknown_one_is_named() {
        let (old, new) = (SealKey::from_bytes(&[1; 32]), SealKey::from_bytes(&[2; 32]));
        let here = at("a", "r", "", "state");
        let sealed = seal(&old, here, "text");
        let name = old.fingerprint().to_owned();
        assert_eq!(open(&Sealing::new(new).older(old), here, &sealed).unwrap(), "text");
        let other = Sealing::new(SealKey::from_bytes(&[3; 32]));
        assert_eq!(open(&other, here, &sealed), Err(Unopened::MissingKey(name)));
    }

    #[test]
    fn the_same_text_at_the_same_place_is_sealed_alike_and_elsewhere_otherwise() {
        let key = SealKey::from_bytes(&[1; 32]);
        let here = at("a", "r", "", "outcome");
        let body = |sealed: String| sealed.rsplit(':').next().unwrap().to_owned();
        assert_eq!(seal(&key, here, "unknown"), seal(&key, here, "unknown"));
        assert_ne!(body(seal(&key, here, "unknown")), body(seal(&key, here, "unknowN")));
        assert_ne!(body(seal(&key, here, "unknown")), body(seal(&key, at("a", "s", "", "outcome"), "unknown")));
    }
}
