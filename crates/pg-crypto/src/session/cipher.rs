//! AES-256-CBC over session data (spec 2 §4.2).

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit};
use aes::{Aes256, Block};
use zeroize::Zeroizing;

use super::derivation::KeyDerivation;
use super::error::{DecryptError, EncryptError, KeyError};
use super::gate;
use super::iv::IvFormat;
use super::padding::{BLOCK, Padding};
use super::plaintext::Plaintext;
use super::problem::{DecryptProblem, MAX_DATA_BYTES};
use super::text::{self, TextEncoding};
use super::wiped::Wiped;
use crate::stack::{CIPHERS, wipe_dead_frames};

/// Maximum length of a text to encrypt, in bytes: 256 KiB, so that its hexadecimal form can be decrypted.
pub const MAX_PLAINTEXT_BYTES: usize = 256 << 10;

/// Decrypts and encrypts the `data` that the client session service appends to a redirect (spec 2 §4.2).
///
/// AES-256 in CBC mode under the merchant's API key. What the documents leave open is a choice here, each with
/// a default (assumptions: key derivation, padding, text encoding):
///
/// | choice | default | other |
/// |---|---|---|
/// | key | the 32 bytes of a 32-character API key | [`with_derivation`](Self::with_derivation), [`from_key`](Self::from_key) |
/// | `iv` | 16 characters, or 32 hexadecimal digits | [`iv_format`](Self::iv_format) |
/// | text form, reading | detected: hexadecimal, else Base64 of either alphabet, padded or not, spaces for `+` | [`decode_only`](Self::decode_only) |
/// | text form, writing | standard Base64, padded | [`encode_as`](Self::encode_as) |
/// | padding | PKCS#7 | [`padding`](Self::padding) |
///
/// The API key opens the account. Decrypt on a server that the merchant runs, never in a customer's browser.
///
/// ```
/// use pg_crypto::SessionCipher;
///
/// let cipher = SessionCipher::new("0123456789abcdef0123456789abcdef")?;
/// let data = cipher.encrypt("{\"cardCV2\":\"\"}", "initialisationv.").unwrap();
/// let plain = cipher.decrypt(&data, "initialisationv.").unwrap();
/// assert_eq!(plain.as_str(), "{\"cardCV2\":\"\"}");
/// # Ok::<(), pg_crypto::KeyError>(())
/// ```
#[derive(Clone)]
pub struct SessionCipher {
    /// In a box, because each move of the value would leave a copy of the round keys behind.
    aes: Box<Aes256>,
    iv_format: IvFormat,
    decode_only: Option<TextEncoding>,
    encode_as: TextEncoding,
    padding: Padding,
}

impl SessionCipher {
    /// Creates a cipher whose key is the 32 bytes of a 32-character API key.
    ///
    /// # Errors
    ///
    /// [`KeyError::Length`] if the API key has another length.
    pub fn new(api_key: impl AsRef<str>) -> Result<Self, KeyError> {
        Self::with_derivation(api_key, KeyDerivation::default())
    }

    /// Creates a cipher whose key is derived from the API key in another way.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the API key does not fit the derivation.
    pub fn with_derivation(api_key: impl AsRef<str>, derivation: KeyDerivation) -> Result<Self, KeyError> {
        let mut key = Box::new(Zeroizing::new([0; 32]));
        let derived = derivation.derive(api_key.as_ref(), &mut key).map(|()| Self::keyed(&key));
        wipe_dead_frames::<CIPHERS>();
        derived
    }

    /// Creates a cipher with an AES-256 key that the caller derived.
    #[must_use]
    pub fn from_key(key: impl Into<Zeroizing<[u8; 32]>>) -> Self {
        let cipher = Self::keyed(&key.into());
        wipe_dead_frames::<CIPHERS>();
        cipher
    }

    /// Creates the cipher. A copy of the key remains on the stack below the caller.
    #[inline(never)]
    fn keyed(key: &[u8; 32]) -> Self {
        Self {
            aes: Box::new(Aes256::new(key.into())),
            iv_format: IvFormat::default(),
            decode_only: None,
            encode_as: TextEncoding::default(),
            padding: Padding::default(),
        }
    }

    /// Sets the form of the `iv`. Default: detected.
    #[must_use]
    pub fn iv_format(mut self, format: IvFormat) -> Self {
        self.iv_format = format;
        self
    }

    /// Accepts ciphertext in one text form only. Default: detected.
    #[must_use]
    pub fn decode_only(mut self, encoding: TextEncoding) -> Self {
        self.decode_only = Some(encoding);
        self
    }

    /// Sets the text form that [`encrypt`](Self::encrypt) writes.
    #[must_use]
    pub fn encode_as(mut self, encoding: TextEncoding) -> Self {
        self.encode_as = encoding;
        self
    }

    /// Sets the padding of the last block.
    #[must_use]
    pub fn padding(mut self, padding: Padding) -> Self {
        self.padding = padding;
        self
    }

    /// Decrypts the `data` and `iv` parameters of a redirect, after percent-decoding.
    ///
    /// If the text form is detected, a text of only `0-9a-fA-F` whose length is a multiple of 32 is hexadecimal,
    /// although it could be Base64. Any other text is Base64.
    ///
    /// Rejecting decrypted bytes takes the same work whether the padding or the text is invalid. The rejection itself
    /// is visible, and so is the caller's work on an accepted text: [`decrypt_and_read`](Self::decrypt_and_read) makes
    /// a rejection as expensive as reading.
    ///
    /// # Errors
    ///
    /// The same [`DecryptError`] for every reason: text form, length (also above [`MAX_DATA_BYTES`]), `iv`, padding, or
    /// a plaintext that is not UTF-8. A wrong key or `iv` is not always detected: without an authentication code it may
    /// decrypt to another text.
    pub fn decrypt(&self, data: &str, iv: &str) -> Result<Plaintext, DecryptError> {
        let buffer = self.decrypted(data, iv).map_err(DecryptError::new)?;
        let padding = self.padding.verdict(buffer.bytes());
        if !gate::is_text(buffer.bytes(), padding) {
            return Err(DecryptError(()));
        }
        let len = self.padding.text_len(buffer.bytes(), padding);
        buffer.into_text(len).map(Plaintext::new).ok_or(DecryptError(()))
    }

    /// Decrypts `data` and reads the XML or JSON in it. A rejection reveals as little as possible.
    ///
    /// `read` receives the UTF-8 text and is called once. It receives a decoy of about the same length if the padding is invalid,
    /// or if the bytes are not UTF-8, or if they neither begin and end like XML nor like JSON. Its result is then
    /// dropped. All these rejections take the same work, about as much as reading. So `read` must have no side effects.
    ///
    /// What remains visible: a text that passes all three checks and that `read` rejects takes as long as `read`. To
    /// get that far, an attacker needs valid padding, UTF-8, first and last character at the same time; none of them
    /// alone is visible. An accepted text also differs from a rejection: without an authentication code, no reader can
    /// hide that.
    ///
    /// ```
    /// use pg_crypto::SessionCipher;
    ///
    /// let cipher = SessionCipher::new("0123456789abcdef0123456789abcdef")?;
    /// let data = cipher.encrypt("{\"cardCV2\":\"\"}", "initialisationv.").unwrap();
    /// let length = cipher.decrypt_and_read(&data, "initialisationv.", |text| Some(text.len()));
    /// assert_eq!(length, Ok(14));
    /// # Ok::<(), pg_crypto::KeyError>(())
    /// ```
    ///
    /// # Errors
    /// The same [`DecryptError`] for every reason, and also if `read` returns `None`.
    pub fn decrypt_and_read<T>(
        &self,
        data: &str,
        iv: &str,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, DecryptError> {
        let mut buffer = self.decrypted(data, iv).map_err(DecryptError::new)?;
        let padding = self.padding.verdict(buffer.bytes());
        let sound = gate::is_document(buffer.bytes(), padding);
        let len = if sound {
            self.padding.text_len(buffer.bytes(), padding)
        } else {
            gate::fill_with_decoy(buffer.bytes_mut());
            buffer.bytes().len()
        };
        let text = buffer.bytes().get(..len).unwrap_or_default();
        read(text).filter(|_| sound).ok_or(DecryptError(()))
    }

    /// Returns the reason why the data cannot be decrypted; `None` if it can.
    ///
    /// **This is a padding oracle** for use on a developer's own machine. An attacker who learns these answers, or
    /// their timing, can decrypt any data of the account. Never call it for a request from outside, and never log its
    /// result for data from outside.
    ///
    /// ```
    /// use pg_crypto::{DecryptProblem, SessionCipher};
    ///
    /// let cipher = SessionCipher::new("0123456789abcdef0123456789abcdef")?;
    /// assert_eq!(cipher.explain_locally("AAAA", "initialisationv."), Some(DecryptProblem::NotWholeBlocks { bytes: 3 }));
    /// # Ok::<(), pg_crypto::KeyError>(())
    /// ```
    #[must_use]
    pub fn explain_locally(&self, data: &str, iv: &str) -> Option<DecryptProblem> {
        let buffer = match self.decrypted(data, iv) {
            Ok(buffer) => buffer,
            Err(problem) => return Some(problem),
        };
        let padding = self.padding.verdict(buffer.bytes());
        if padding.wrong != 0 {
            return Some(DecryptProblem::Padding);
        }
        let len = self.padding.text_len(buffer.bytes(), padding);
        let text = buffer.bytes().get(..len).unwrap_or_default();
        core::str::from_utf8(text).err().map(|error| DecryptProblem::NotUtf8 { at: error.valid_up_to() })
    }

    /// Encrypts a text as the service does, for tests and simulations.
    ///
    /// The caller must use a fresh, random `iv` for every text.
    ///
    /// # Errors
    ///
    /// [`EncryptError`] if the text is too long or cannot be padded, or if `iv` is malformed.
    pub fn encrypt(&self, plain: &str, iv: &str) -> Result<String, EncryptError> {
        if plain.len() > MAX_PLAINTEXT_BYTES {
            return Err(EncryptError::TooLong);
        }
        let iv = self.iv_format.decode(iv).ok_or(EncryptError::Iv)?;
        let padded = self.padding.pad(plain.as_bytes());
        let mut buffer = Wiped::new(padded.ok_or(EncryptError::NotWholeBlocks)?);
        let blocks = whole_blocks(buffer.bytes_mut()).ok_or(EncryptError::NotWholeBlocks)?;
        cbc::Encryptor::inner_iv_init(&*self.aes, &iv.into()).encrypt_blocks(blocks);
        Ok(self.encode_as.encode(buffer.bytes()))
    }

    /// Returns the plaintext with its padding. Mistakes found here are visible in the attacker's own input.
    fn decrypted(&self, data: &str, iv: &str) -> Result<Wiped, DecryptProblem> {
        if data.is_empty() {
            return Err(DecryptProblem::Empty);
        }
        if data.len() > MAX_DATA_BYTES {
            return Err(DecryptProblem::TooLong);
        }
        let iv = self.iv_format.decode(iv).ok_or(DecryptProblem::Iv)?;
        let bytes = match self.decode_only {
            None => text::detect(data),
            Some(encoding) => encoding.decode(data),
        };
        let mut buffer = Wiped::new(bytes.ok_or(DecryptProblem::TextForm)?);
        let bytes = buffer.bytes().len();
        let blocks = whole_blocks(buffer.bytes_mut()).ok_or(DecryptProblem::NotWholeBlocks { bytes })?;
        cbc::Decryptor::inner_iv_init(&*self.aes, &iv.into()).decrypt_blocks(blocks);
        Ok(buffer)
    }
}

/// Returns the bytes as AES blocks, if they fill one or more.
fn whole_blocks(bytes: &mut [u8]) -> Option<&mut [Block]> {
    let (blocks, rest) = bytes.as_chunks_mut::<BLOCK>();
    (rest.is_empty() && !blocks.is_empty()).then(|| Block::cast_slice_from_core_mut(blocks))
}

impl fmt::Debug for SessionCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionCipher")
            .field("key", &"****")
            .field("iv_format", &self.iv_format)
            .field("decode_only", &self.decode_only)
            .field("encode_as", &self.encode_as)
            .field("padding", &self.padding)
            .finish()
    }
}
