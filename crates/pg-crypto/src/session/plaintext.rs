//! The result of decryption.

use alloc::string::String;
use core::fmt;
use core::mem;

use super::wiped::Wiped;

/// Decrypted session data: **unauthenticated** XML or JSON (spec 2 §2.2).
///
/// The data has no authentication code. An attacker who can alter a redirect can partly alter this text without
/// detection. Show it to the customer who entered it. Never use it as proof of a payment or to decide what to ship: ask
/// the gateway instead.
///
/// The text is wiped from memory on drop. `Debug` shows only its length.
pub struct Plaintext(String);

impl Plaintext {
    pub(crate) const fn new(text: String) -> Self {
        Self(text)
    }

    /// Returns the unauthenticated text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the length of the text in bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the text is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl AsRef<str> for Plaintext {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plaintext({} bytes, unauthenticated)", self.len())
    }
}

impl Drop for Plaintext {
    fn drop(&mut self) {
        drop(Wiped::new(mem::take(&mut self.0).into_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::Plaintext;

    #[test]
    fn debug_shows_only_the_length() {
        let text = Plaintext::new("4111111111111111".into());
        assert_eq!(format!("{text:?}"), "Plaintext(16 bytes, unauthenticated)");
        assert_eq!(text.as_ref(), text.as_str());
        assert!(!text.is_empty());
    }
}
