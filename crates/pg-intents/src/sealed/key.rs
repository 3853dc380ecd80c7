//! Keys with which intents are sealed.

use std::{
    fmt::{self, Write as _},
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha512;
use zeroize::Zeroizing;

const KEY: usize = 32;
/// More bytes than a file with a key has.
const LONGEST_FILE: usize = 4096;
/// The number of bytes of a fingerprint.
const FINGERPRINT: usize = 8;

/// A key of 32 bytes with which intents are sealed, such as the output of `openssl rand -hex 32`.
///
/// It is wiped from memory when it is dropped, and no output contains it. Its [`fingerprint`](Self::fingerprint) is stored with
/// each intent and identifies the key that opens it.
pub struct SealKey {
    /// On the heap, where a move copies nothing. Each use has its own key, which is derived from the given key.
    cipher: Box<Zeroizing<[u8; KEY]>>,
    nonces: Box<Zeroizing<[u8; KEY]>>,
    fingerprint: String,
}

impl SealKey {
    /// Creates a key from these bytes, which must be random.
    #[must_use]
    pub fn from_bytes(key: &[u8; KEY]) -> Self {
        let mut fingerprint = String::with_capacity(2 * FINGERPRINT);
        for byte in &derived(key, b"pg-intents fingerprint")[..FINGERPRINT] {
            // Writing into a string cannot fail.
            let _ = write!(fingerprint, "{byte:02x}");
        }
        Self {
            cipher: Box::new(derived(key, b"pg-intents seal")),
            nonces: Box::new(derived(key, b"pg-intents nonce")),
            fingerprint,
        }
    }

    /// Reads a key of 64 hexadecimal digits, with optional white space around them.
    ///
    /// # Errors
    /// [`SealKeyError::NotHex`], which does not repeat the text.
    pub fn from_hex(digits: &str) -> Result<Self, SealKeyError> {
        let digits = digits.trim().as_bytes();
        if digits.len() != 2 * KEY {
            return Err(SealKeyError::NotHex);
        }
        let mut key = Zeroizing::new([0; KEY]);
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16).ok_or(SealKeyError::NotHex);
            *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).map_err(|_| SealKeyError::NotHex)?;
        }
        Ok(Self::from_bytes(&key))
    }

    /// Reads the key in a file that only its owner can read.
    ///
    /// # Errors
    /// If the file cannot be read, other users can read it, or it does not contain 64 hexadecimal digits.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, SealKeyError> {
        let path = path.as_ref();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidData => SealKeyError::NotHexFile(path.to_owned()),
            _ => SealKeyError::Io(path.to_owned(), error.to_string()),
        };
        let file = fs::File::open(path).map_err(failed)?;
        refuse_shared(path).map_err(failed)?.then_some(()).ok_or_else(|| SealKeyError::Shared(path.to_owned()))?;
        // Another file may be long, or have no end. A longer text than a key is none, so the rest is not read.
        let mut text = Zeroizing::new(String::with_capacity(LONGEST_FILE));
        file.take(LONGEST_FILE as u64 - 1).read_to_string(&mut text).map_err(failed)?;
        Self::from_hex(&text).map_err(|_| SealKeyError::NotHexFile(path.to_owned()))
    }

    /// Returns 16 hexadecimal digits that identify the key and reveal nothing about it.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    pub(super) fn cipher(&self) -> &[u8; KEY] {
        &self.cipher
    }

    pub(super) fn nonces(&self) -> &[u8; KEY] {
        &self.nonces
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey([redacted])")
    }
}

/// Whether only its owner can read it.
#[cfg(unix)]
fn refuse_shared(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(path)?.permissions().mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn refuse_shared(_path: &Path) -> io::Result<bool> {
    Ok(true)
}

fn derived(key: &[u8; KEY], purpose: &[u8]) -> Zeroizing<[u8; KEY]> {
    let mac = keyed(key).chain_update(purpose);
    let mut bytes = Zeroizing::new([0; KEY]);
    bytes.copy_from_slice(&Zeroizing::new(<[u8; 64]>::from(mac.finalize().into_bytes()))[..KEY]);
    bytes
}

pub(super) fn keyed(key: &[u8; KEY]) -> Hmac<Sha512> {
    Hmac::new_from_slice(key).expect("HMAC accepts keys of any length")
}

/// Why a key cannot be used. It does not repeat the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealKeyError {
    /// The text is not 64 hexadecimal digits.
    #[error("a key for intents has 64 hexadecimal digits (openssl rand -hex 32)")]
    NotHex,
    /// The file cannot be read.
    #[error("cannot read the key file {path}: {problem}", path = .0.display(), problem = .1)]
    Io(PathBuf, String),
    /// Its content is not 64 hexadecimal digits.
    #[error("the key file {path} does not contain 64 hexadecimal digits", path = .0.display())]
    NotHexFile(PathBuf),
    /// Other users can read or write it.
    #[error("the key file is accessible to other users; run: chmod 600 {path}", path = .0.display())]
    Shared(PathBuf),
}

/// The keys that seal and open intents.
///
/// ```
/// use pg_intents::{SealKey, Sealing};
///
/// # fn keys(new: &str, old: &str) -> Result<Sealing, pg_intents::SealKeyError> {
/// let sealing = Sealing::new(SealKey::from_hex(new)?).older(SealKey::from_hex(old)?);
/// # Ok(sealing)
/// # }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Sealing {
    /// The newest first; never empty.
    pub(super) keys: Vec<SealKey>,
    pub(super) accepts_clear: bool,
}

impl Sealing {
    /// Seals and opens with this key.
    pub fn new(newest: SealKey) -> Self {
        Self { keys: vec![newest], accepts_clear: false }
    }

    /// Opens with this key too. The key seals nothing new.
    pub fn older(mut self, key: SealKey) -> Self {
        self.keys.push(key);
        self
    }

    /// Also accepts intents that were stored unencrypted, before the store was sealed. Use it only until
    /// [`SealedStore::reseal`](crate::SealedStore::reseal) has sealed them: meanwhile a program with write access to
    /// the database could replace a sealed intent with an unencrypted one.
    pub fn accept_clear(mut self) -> Self {
        self.accepts_clear = true;
        self
    }

    pub(super) fn newest(&self) -> &SealKey {
        self.keys.first().expect("the constructor takes a key")
    }

    pub(super) fn key(&self, fingerprint: &str) -> Option<&SealKey> {
        self.keys.iter().find(|key| key.fingerprint() == fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_nothing_of_itself() {
        let digits = "0123456789abcdef".repeat(4);
        let key = SealKey::from_hex(&format!(" {digits}\n")).unwrap();
        let sealing = Sealing::new(key).older(SealKey::from_bytes(&[7; 32]));
        let shown = format!("{sealing:?} {}", sealing.newest().fingerprint());
        assert!(!shown.contains("0123") && !shown.contains("7, 7"), "{shown}");
        assert_eq!(sealing.newest().fingerprint().len(), 16);
        assert_ne!(sealing.newest().fingerprint(), sealing.keys[1].fingerprint());
        for wrong in [&digits[1..], &"g".repeat(64), "", &"ü".repeat(32)] {
            let error = SealKey::from_hex(wrong).unwrap_err();
            assert_eq!(error, SealKeyError::NotHex, "{wrong}");
            assert!(wrong.is_empty() || !error.to_string().contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_key_file_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("intents.key");
        assert!(matches!(SealKey::from_file(&path), Err(SealKeyError::Io(..))));
        fs::write(&path, format!("{}\n", "ab".repeat(32))).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            let shared = SealKey::from_file(&path).unwrap_err();
            assert!(shared.to_string().contains("chmod 600"), "{shared}");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        assert_eq!(SealKey::from_file(&path).unwrap().fingerprint(), SealKey::from_bytes(&[0xab; 32]).fingerprint());
        for content in [&b"short"[..], b"\xff\xfe", &b"ab".repeat(1 << 20)] {
            fs::write(&path, content).unwrap();
            assert_eq!(SealKey::from_file(&path).unwrap_err(), SealKeyError::NotHexFile(path.clone()));
        }
    }
}
