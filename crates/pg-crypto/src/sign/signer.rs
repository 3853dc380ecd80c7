//! Signing and verifying (spec 1 §5).

use core::fmt;

use subtle::ConstantTimeEq;

use super::feed::Feed;
use super::key::ShaKey;
use super::order;
use super::signature::Signature;

/// The parameter with the signature. It is never signed itself.
pub(crate) const SIGNATURE_NAME: &str = "shaSignature";

/// Signs request parameters, given in any order as names and raw (not URL-encoded) values.
///
/// It leaves out `shaSignature` and parameters without a value. It sorts the others by name, ignoring ASCII case, and
/// hashes `name=value` + key of each with SHA-512 (spec 1 §5). Names that differ only in case are sorted by their bytes,
/// and equal names keep their order: the documents do not show this (assumption A02).
///
/// It allocates nothing for up to 64 parameters.
///
/// ```
/// use pg_crypto::{ShaKey, sign};
///
/// let key = ShaKey::new("secret");
/// let one = sign(&[("currency", "GBP"), ("apiKey", "k"), ("formId", "")], &key);
/// let two = sign(&[("apiKey", "k"), ("currency", "GBP")], &key);
/// assert_eq!(one, two);
/// assert_eq!(one.hex().as_str().len(), 128);
/// ```
#[must_use]
pub fn sign(parameters: &[(&str, &str)], key: &ShaKey) -> Signature {
    let mut signer = OrderedSigner::new(key);
    order::in_order(parameters, is_signed, |name, value| {
        signer.parameter(name, value);
    });
    signer.finish()
}

/// Verifies the signature of a request in constant time.
///
/// # Errors
///
/// [`SignatureMismatch`] if `given` differs from the signature of `parameters`: 128 lower-case hexadecimal digits. The
/// service reports this as error 123. [`diagnose`](crate::diagnose) looks for the reason.
/// ```
/// use pg_crypto::{ShaKey, sign, verify};
///
/// let key = ShaKey::new("secret");
/// let came = sign(&[("apiKey", "k")], &key).hex();
/// assert!(verify(&[("apiKey", "k")], &key, came.as_str()).is_ok());
/// assert!(verify(&[("apiKey", "other")], &key, came.as_str()).is_err());
/// ```
pub fn verify(parameters: &[(&str, &str)], key: &ShaKey, given: &str) -> Result<(), SignatureMismatch> {
    let expected = sign(parameters, key).hex();
    if expected.as_bytes().ct_eq(given.as_bytes()).into() { Ok(()) } else { Err(SignatureMismatch(())) }
}

/// The signature does not belong to these parameters and this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureMismatch(());

impl fmt::Display for SignatureMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the signature does not match the parameters and the key")
    }
}

impl core::error::Error for SignatureMismatch {}

/// Whether a parameter is signed.
#[inline]
pub(crate) fn is_signed(name: &str, value: &str) -> bool {
    !value.is_empty() && name != SIGNATURE_NAME
}

/// Signs parameters that are already in signing order, one by one, without allocating.
///
/// The caller must pass them in order and leave `shaSignature` out; debug builds check both.
///
/// It contains the key and the signed text until it is finished, and is then wiped. Moving it earlier leaves an unwiped
/// copy behind: create and finish it in one place.
///
/// ```
/// use pg_crypto::{OrderedSigner, ShaKey, sign};
///
/// let key = ShaKey::new("secret");
/// let mut signer = OrderedSigner::new(&key);
/// signer.parameter("apiKey", "k");
/// let mut keys = signer.begin("cardKeys");
/// keys.piece("a1");
/// keys.piece(",b2");
/// keys.end();
/// assert_eq!(signer.finish(), sign(&[("cardKeys", "a1,b2"), ("apiKey", "k")], &key));
/// ```
pub struct OrderedSigner<'key> {
    key: &'key [u8],
    feed: Feed,
    #[cfg(debug_assertions)]
    previous: order::NameStart,
}

impl<'key> OrderedSigner<'key> {
    /// Starts a signature.
    #[must_use]
    #[inline]
    pub fn new(key: &'key ShaKey) -> Self {
        Self {
            key: key.expose().as_bytes(),
            feed: Feed::new(),
            #[cfg(debug_assertions)]
            previous: order::NameStart::default(),
        }
    }

    /// Adds the next parameter. It is left out if it has no value.
    #[inline]
    pub fn parameter(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        self.check_order(name);
        self.feed.put(name.as_bytes());
        self.feed.put(b"=");
        self.feed.put(value.as_bytes());
        self.feed.put(self.key);
    }

    /// Begins the next parameter, whose value follows in pieces. It is left out if all pieces are empty.
    #[must_use]
    #[inline]
    pub fn begin<'a>(&'a mut self, name: &'a str) -> PiecewiseValue<'a, 'key> {
        PiecewiseValue { signer: self, name, begun: false }
    }

    /// Returns the signature. Afterwards the signer is empty, and can sign again with the same key.
    #[must_use]
    #[inline]
    pub fn finish(&mut self) -> Signature {
        #[cfg(debug_assertions)]
        {
            self.previous = order::NameStart::default();
        }
        Signature::from_bytes(self.feed.finish())
    }

    #[cfg(debug_assertions)]
    fn check_order(&mut self, name: &str) {
        assert!(self.previous.may_precede(name), "{name} has to be signed before {}", self.previous);
        assert_ne!(name, SIGNATURE_NAME, "the signature itself is never signed");
        self.previous = order::NameStart::new(name);
    }

    #[cfg(not(debug_assertions))]
    #[inline]
    fn check_order(&mut self, _: &str) {}
}

impl fmt::Debug for OrderedSigner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OrderedSigner(****)")
    }
}

/// A value that is added to an [`OrderedSigner`] in pieces. It ends with [`end`](Self::end) or on drop.
#[derive(Debug)]
pub struct PiecewiseValue<'a, 'key> {
    signer: &'a mut OrderedSigner<'key>,
    name: &'a str,
    begun: bool,
}

impl PiecewiseValue<'_, '_> {
    /// Adds the next piece unchanged.
    #[inline]
    pub fn piece(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if !self.begun {
            self.begun = true;
            self.signer.check_order(self.name);
            self.signer.feed.put(self.name.as_bytes());
            self.signer.feed.put(b"=");
        }
        self.signer.feed.put(piece.as_bytes());
    }

    /// Ends the value.
    #[inline]
    pub fn end(self) {}
}

impl Drop for PiecewiseValue<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if self.begun {
            self.signer.feed.put(self.signer.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use proptest::prelude::*;
    use sha2::{Digest, Sha512};

    use super::{OrderedSigner, sign, verify};
    use crate::ShaKey;

    /// The rule in its plain form, with every string built.
    fn plain(parameters: &[(&str, &str)], key: &str) -> String {
        let mut kept: Vec<_> =
            parameters.iter().filter(|(name, value)| *name != "shaSignature" && !value.is_empty()).collect();
        kept.sort_by_key(|(name, _)| (name.to_ascii_lowercase(), name.to_string()));
        let text: String = kept.iter().map(|(name, value)| format!("{name}={value}{key}")).collect();
        Sha512::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn parameters() -> impl Strategy<Value = Vec<(String, String)>> {
        let name = prop_oneof![
            "[A-Ca-c]{1,2}",
            "item(Name|Price)[0-9]{1,2}",
            "[a-zA-Z]{1,30}",
            Just("shaSignature".to_string()),
        ];
        let long = if cfg!(miri) { "[a-f0-9,-]{90,250}" } else { "[a-f0-9,-]{900,2500}" };
        let value = prop_oneof!["", "[ -~]{1,40}", crate::texts::any_text(), long];
        prop::collection::vec((name, value), 0..if cfg!(miri) { 4 } else { 90 })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn signs_as_the_plain_rule_says(parameters in parameters(), key in ".{0,40}") {
            let pairs: Vec<_> =
                parameters.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            let expected = plain(&pairs, &key);
            let key = ShaKey::new(key);
            prop_assert_eq!(sign(&pairs, &key).to_string(), &*expected);
            prop_assert!(verify(&pairs, &key, &expected).is_ok());
        }

        #[test]
        fn verifies_nothing_else(parameters in parameters(), at in 0usize..128) {
            let pairs: Vec<_> =
                parameters.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            let key = ShaKey::new("secret");
            let mut other = sign(&pairs, &key).to_string().into_bytes();
            other[at] = if other[at] == b'0' { b'1' } else { b'0' };
            let other = String::from_utf8(other).unwrap();
            prop_assert!(verify(&pairs, &key, &other).is_err());
            prop_assert!(verify(&pairs, &key, &other[..at]).is_err());
        }

        #[test]
        fn pieces_make_the_same_value(
            pieces in prop::collection::vec("[a-f0-9,]{0,50}", 0..if cfg!(miri) { 4 } else { 80 }),
            name in if cfg!(miri) { "[a-z]{1,110}" } else { "[a-z]{1,1100}" }
        ) {
            let key = ShaKey::new("secret");
            let mut signer = OrderedSigner::new(&key);
            let mut value = signer.begin(&name);
            pieces.iter().for_each(|piece| value.piece(piece));
            value.end();
            prop_assert_eq!(signer.finish(), sign(&[(&*name, &*pieces.concat())], &key));
        }
    }

    // spec: 1 §5, A27
    #[test]
    fn upper_case_digits_do_not_verify() {
        let key = ShaKey::new("secret");
        let given = sign(&[("a", "1")], &key).to_string();
        assert!(verify(&[("a", "1")], &key, &given).is_ok());
        assert!(verify(&[("a", "1")], &key, &given.to_uppercase()).is_err());
        assert!(verify(&[("a", "1")], &key, "").is_err());
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "a has to be signed before B")]
    fn debug_builds_check_the_order() {
        let key = ShaKey::new("secret");
        let mut signer = OrderedSigner::new(&key);
        signer.parameter("B", "1");
        signer.parameter("a", "1");
    }

    #[test]
    fn debug_shows_nothing() {
        let key = ShaKey::new("canary");
        let mut signer = OrderedSigner::new(&key);
        signer.parameter("a", "canary");
        assert!(!format!("{signer:?}").contains("canary"));
        assert!(!format!("{:?}", signer.begin("b")).contains("canary"));
    }
}
