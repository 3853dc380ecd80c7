//! AES-256-CBC over session data (spec 2 §4.2).

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit};
use aes::{Aes256, Block};
use zeroize::Zeroizing;

use super::derivation::KeyDerivation;
use super::error::{DecryptError, EncryptError, KeyError};
use super::iv::IvFormat;
use super::padding::Padding;
use super::plaintext::Plaintext;
use super::text::{self, TextEncoding};
use super::wiped::Wiped;
use crate::stack::wipe_dead_frames;

/// Bytes of an AES block.
pub(crate) const BLOCK: usize = 16;

/// Longest `data` that is decrypted, in bytes: 1 MiB, far more than any browser puts into a URL.
pub const MAX_DATA_BYTES: usize = 1 << 20;

/// Longest text that is encrypted, in bytes: 256 KiB, so that its hexadecimal form can be decrypted again.
pub const MAX_PLAINTEXT_BYTES: usize = 256 << 10;

/// Decrypts and encrypts the `data` that the client session service appends to a redirect (spec 2 §4.2).
///
/// AES-256 in CBC mode under the merchant's API key. What the documents leave open is a choice here, each with
/// a default (assumptions: key derivation, padding, text encoding):
///
/// | choice | default | other |
/// |---|---|---|
/// | key | the 32 bytes of a 32-character API key | [`with_derivation`](Self::with_derivation), [`from_key`](Self::from_key) |
/// | `iv` | 16 characters as they are, or 32 hexadecimal digits | [`iv_format`](Self::iv_format) |
/// | text form, reading | detected: hexadecimal, else Base64 of either alphabet, padded or not, blanks for `+` | [`decode_only`](Self::decode_only) |
/// | text form, writing | standard Base64, padded | [`encode_as`](Self::encode_as) |
/// | padding | PKCS#7 | [`padding`](Self::padding) |
///
/// The API key opens the account. This belongs on a server that the merchant runs, never into a customer's
/// browser.
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
    /// Not in the value itself, which is moved: each move would leave the round keys behind.
    aes: Box<Aes256>,
    iv_format: IvFormat,
    decode_only: Option<TextEncoding>,
    encode_as: TextEncoding,
    padding: Padding,
}

impl SessionCipher {
    /// A cipher whose key is the 32 bytes of a 32-character API key.
    ///
    /// # Errors
    /// [`KeyError::Length`] if it has another length.
    pub fn new(api_key: impl AsRef<str>) -> Result<Self, KeyError> {
        Self::with_derivation(api_key, KeyDerivation::default())
    }

    /// A cipher whose key comes from the API key in another way.
    ///
    /// # Errors
    /// [`KeyError`] if the API key does not have the form that the derivation needs.
    pub fn with_derivation(api_key: impl AsRef<str>, derivation: KeyDerivation) -> Result<Self, KeyError> {
        let mut key = Box::new(Zeroizing::new([0; 32]));
        let derived = derivation.derive(api_key.as_ref(), &mut key).map(|()| Self::keyed(&key));
        wipe_dead_frames();
        derived
    }

    /// A cipher with an AES-256 key that the caller derived.
    #[must_use]
    pub fn from_key(key: impl Into<Zeroizing<[u8; 32]>>) -> Self {
        let cipher = Self::keyed(&key.into());
        wipe_dead_frames();
        cipher
    }

    /// Leaves the key on the stack below its caller.
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

    /// Sets how the `iv` is spelt; it is detected otherwise.
    #[must_use]
    pub fn iv_format(mut self, format: IvFormat) -> Self {
        self.iv_format = format;
        self
    }

    /// Accepts ciphertext in one text form only; it is detected otherwise.
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

    /// Sets how the last block is filled.
    #[must_use]
    pub fn padding(mut self, padding: Padding) -> Self {
        self.padding = padding;
        self
    }

    /// Decrypts the `data` and `iv` parameters of a redirect, both with their percent-encoding removed.
    ///
    /// When the text form is detected, digits `0-9a-fA-F` alone, in a multiple of 32, are hexadecimal, though
    /// they could be Base64 too; everything else is Base64.
    ///
    /// # Errors
    /// [`DecryptError`], one for every reason: text form, length (more than [`MAX_DATA_BYTES`] too), `iv`,
    /// padding, or a plaintext that is no UTF-8. A wrong key or `iv` is not always noticed: without an
    /// authentication code it may also give other text.
    pub fn decrypt(&self, data: &str, iv: &str) -> Result<Plaintext, DecryptError> {
        self.try_decrypt(data, iv).ok_or(DecryptError(()))
    }

    /// Encrypts a text, as the service does; for tests and for standing in for the service.
    ///
    /// A fresh, random `iv` for every text is the caller's duty.
    ///
    /// # Errors
    /// [`EncryptError`] for a text that is too long or cannot be padded, and for a malformed `iv`.
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

    fn try_decrypt(&self, data: &str, iv: &str) -> Option<Plaintext> {
        if data.is_empty() || data.len() > MAX_DATA_BYTES {
            return None;
        }
        let iv = self.iv_format.decode(iv)?;
        let mut buffer = Wiped::new(match self.decode_only {
            None => text::detect(data)?,
            Some(encoding) => encoding.decode(data)?,
        });
        let blocks = whole_blocks(buffer.bytes_mut())?;
        cbc::Decryptor::inner_iv_init(&*self.aes, &iv.into()).decrypt_blocks(blocks);
        let len = self.padding.text_len(buffer.bytes())?;
        buffer.into_text(len).map(Plaintext::new)
    }
}

/// The bytes as AES blocks, if they are one or more whole ones.
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
