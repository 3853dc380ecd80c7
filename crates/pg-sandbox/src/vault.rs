//! Card numbers are sealed before they are stored; CV2s are never stored.
//!
//! A card number is sealed with XChaCha20-Poly1305 under a key in a separate file beside the store, and is bound to its
//! record: a sealed number that is moved to another record cannot be opened. A CV2 is only in memory, by session key,
//! until the first authorisation takes it or the session ends. A restart drops it.

use std::collections::HashMap;

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use hmac::{Hmac, Mac as _, digest::FixedOutput as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::{Zeroize as _, Zeroizing};

use crate::{
    key::{RandomSource, SeededRandom},
    secret::Secret,
    timestamp::Timestamp,
};

mod key_file;

#[cfg(feature = "postgres")]
pub(crate) use key_file::parse_key;
pub use key_file::{KeyFile, KeyFileError, Stage, key_path, load_key};
pub(crate) use key_file::{create_key, mark_sealed};

const NONCE_LENGTH: usize = 24;
/// The length of the id of an account created at run time.
pub(crate) const ACCOUNT_ID: usize = 16;

/// A sealed card number: Base64 of nonce and ciphertext.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sealed(String);

impl std::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[sealed]")
    }
}

/// Seals and opens card numbers.
pub struct Vault {
    sealing: Box<Zeroizing<[u8; 32]>>,
    identifiers: Hmac<Sha256>,
}

impl Vault {
    /// Creates a vault with a key of 32 bytes.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        // Each use has its own key, so that one cannot weaken the other.
        let identifying = derived(key, b"pg-sandbox card identifier");
        Self { sealing: derived(key, b"pg-sandbox seal"), identifiers: keyed(&**identifying) }
    }

    /// Returns a cipher that wipes its copy of the key when it is dropped.
    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&**self.sealing).into())
    }

    /// Returns the `cardUniqueIdentifier` of a card (spec 1 §2.1): 15 digits, the same for every token of one card at
    /// one merchant. It reveals nothing about the card's number.
    #[must_use]
    pub fn card_identifier(&self, merchant: &str, number: &str) -> u64 {
        let mut mac = self.identifiers.clone();
        mac.update(merchant.as_bytes());
        mac.update(&[0]);
        mac.update(number.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        let (head, _) = digest.split_at(8);
        let value = head.iter().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
        100_000_000_000_000 + value % 900_000_000_000_000
    }

    /// Returns the id of the account with this name: 16 lower-case letters and digits, the same in every process with
    /// this key.
    #[must_use]
    pub fn account_id(&self, name: &str) -> String {
        let digits = b"0123456789abcdefghijklmnopqrstuvwxyz";
        let mac = self.identifiers.clone().chain_update(b"\x01account\0").chain_update(name.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        digest.iter().take(ACCOUNT_ID).map(|byte| char::from(digits[usize::from(byte % 36)])).collect()
    }

    /// Seals a text for the record with the key `owner`.
    pub fn seal(&self, dice: &mut dyn RandomSource, owner: &str, text: &str) -> Sealed {
        let mut nonce = [0_u8; NONCE_LENGTH];
        dice.fill(&mut nonce);
        let payload = Payload { msg: text.as_bytes(), aad: owner.as_bytes() };
        let sealed = self
            .cipher()
            .encrypt(&XNonce::from(nonce), payload)
            .expect("the cipher only refuses texts of more than 256 GiB");
        let mut bytes = nonce.to_vec();
        bytes.extend_from_slice(&sealed);
        Sealed(STANDARD_NO_PAD.encode(bytes))
    }

    /// Opens a text that was sealed for the record with the key `owner`.
    ///
    /// # Errors
    ///
    /// If the text was altered, belongs to another record, or was sealed under another key.
    pub fn open(&self, owner: &str, sealed: &Sealed) -> Result<Secret, NotOurs> {
        let bytes = STANDARD_NO_PAD.decode(&sealed.0).map_err(|_| NotOurs)?;
        let (nonce, text) = bytes.split_first_chunk::<NONCE_LENGTH>().ok_or(NotOurs)?;
        let payload = Payload { msg: text, aad: owner.as_bytes() };
        let opened = self.cipher().decrypt(&XNonce::from(*nonce), payload).map_err(|_| NotOurs)?;
        String::from_utf8(opened).map(Secret::new).map_err(|_| NotOurs)
    }
}

pub(crate) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC accepts keys of any length")
}

/// Returns a key for one purpose. It is written where it stays, on the heap, where a move copies no key.
pub(crate) fn derived(key: &[u8; 32], purpose: &[u8]) -> Box<Zeroizing<[u8; 32]>> {
    let mut derived = Box::new(Zeroizing::new([0; 32]));
    keyed(key).chain_update(purpose).finalize_into((&mut **derived).into());
    derived
}

/// Splits a seed, and wipes it: returns the key of a new store, and a generator that stays in memory. The key cannot be computed
/// from the state of the generator.
pub(crate) fn split(seed: &mut [u8; 32]) -> (Box<Zeroizing<[u8; 32]>>, Box<SeededRandom>) {
    let key = derived(seed, b"pg-sandbox new key");
    let dice = Box::new(SeededRandom::new(**derived(seed, b"pg-sandbox dice")));
    seed.zeroize();
    (key, dice)
}

/// The text was altered, or sealed for another record or under another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sealed text was altered, or sealed for another record or under another key")]
pub struct NotOurs;

/// The CV2 of sessions, in memory only.
#[derive(Default)]
pub(crate) struct Cv2Memory {
    held: HashMap<String, (Secret, Timestamp)>,
    /// The CV2s that the requests of the current group have taken.
    taken: Vec<(String, Secret, Timestamp)>,
}

impl Cv2Memory {
    /// Keeps the CV2 that was posted to a session until the session ends.
    pub(crate) fn keep(&mut self, session_key: &str, cv2: Secret, until: Timestamp) {
        self.held.insert(session_key.to_owned(), (cv2, until));
    }

    /// Takes the CV2. A second authorisation gets none.
    pub(crate) fn take(&mut self, session_key: &str) -> Option<Secret> {
        let (cv2, until) = self.held.remove(session_key)?;
        self.taken.push((session_key.to_owned(), cv2.clone(), until));
        Some(cv2)
    }

    /// Drops taken CV2s for good.
    pub(crate) fn settle(&mut self) {
        self.taken.clear();
    }

    /// Restores taken CV2s after the group was rolled back.
    pub(crate) fn restore(&mut self) {
        for (session_key, cv2, until) in self.taken.drain(..).rev() {
            self.held.entry(session_key).or_insert((cv2, until));
        }
    }

    /// Drops the CV2s of sessions that have ended.
    pub(crate) fn forget_ended(&mut self, now: Timestamp) {
        self.held.retain(|_, (_, until)| now < *until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::SeededRandom;

    const PAN: &str = "4111111111111111";

    fn dice() -> SeededRandom {
        SeededRandom::new([1; 32])
    }

    #[test]
    fn opens_only_what_it_sealed_for_that_record() {
        let vault = Vault::new(&[9; 32]);
        let sealed = vault.seal(&mut dice(), "card-1", PAN);
        assert_eq!(vault.open("card-1", &sealed).unwrap().expose(), PAN);
        assert_eq!(vault.open("card-2", &sealed).err(), Some(NotOurs));
        assert_eq!(Vault::new(&[8; 32]).open("card-1", &sealed).err(), Some(NotOurs));
        assert_eq!(format!("{sealed:?}"), "[sealed]");
        assert!(!serde_json::to_string(&sealed).unwrap().contains(PAN));
    }

    #[test]
    fn altered_text_is_refused() {
        let vault = Vault::new(&[9; 32]);
        let sealed = vault.seal(&mut dice(), "card-1", PAN);
        for position in 0..sealed.0.len() {
            let mut bytes = sealed.0.clone().into_bytes();
            bytes[position] = if bytes[position] == b'A' { b'B' } else { b'A' };
            let altered = Sealed(String::from_utf8(bytes).unwrap());
            assert!(vault.open("card-1", &altered).is_err(), "{position}");
        }
        for text in ["", "A", "not base64!", "AAAA"] {
            assert!(vault.open("card-1", &Sealed(text.to_owned())).is_err());
        }
    }

    #[test]
    fn two_seals_of_one_number_differ() {
        let (vault, mut dice) = (Vault::new(&[9; 32]), dice());
        assert_ne!(vault.seal(&mut dice, "a", PAN), vault.seal(&mut dice, "a", PAN));
    }

    // spec: 1 §2.1, A66, A131
    #[test]
    fn a_card_has_one_identifier_at_each_merchant() {
        let vault = Vault::new(&[9; 32]);
        let identifier = vault.card_identifier("main", PAN);
        assert_eq!(identifier, vault.card_identifier("main", PAN));
        assert_ne!(identifier, vault.card_identifier("other", PAN));
        assert_ne!(identifier, vault.card_identifier("main", "4111111111111129"));
        assert_eq!(identifier.to_string().len(), 15);
    }

    // spec: 2 §1.1, A101
    #[test]
    fn a_cv2_is_handed_out_once_and_forgotten_with_its_session() {
        let now = Timestamp::from_millis(1000);
        let mut memory = Cv2Memory::default();
        memory.keep("s1", Secret::new("123"), Timestamp::from_millis(2000));
        memory.keep("s2", Secret::new("456"), Timestamp::from_millis(1000));
        memory.forget_ended(now);
        assert!(memory.take("s2").is_none());
        assert!(memory.take("s1").is_some());
        memory.restore();
        assert_eq!(memory.take("s1").unwrap().expose(), "123");
        memory.settle();
        memory.restore();
        assert!(memory.take("s1").is_none());
    }
}
