//! The secret for signatures.

use alloc::string::String;
use core::fmt;

use zeroize::Zeroizing;

/// The secret `shaKey` that signs an account's requests (spec 1 §5).
///
/// It is used exactly as given and not trimmed: a line break from a file makes every signature invalid
/// ([`diagnose`](crate::diagnose) detects that). It is wiped from memory on drop, and `Debug` does not show it. A
/// string passed by value is wiped too. A borrowed string is copied, and the caller remains responsible for the
/// original.
#[derive(Clone)]
pub struct ShaKey(Zeroizing<String>);

impl ShaKey {
    /// Creates a key from text of any length.
    pub fn new(key: impl Into<String>) -> Self {
        Self(Zeroizing::new(key.into()))
    }

    #[inline]
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ShaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShaKey(****)")
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::ShaKey;

    #[test]
    fn debug_shows_nothing_of_the_key() {
        assert_eq!(format!("{:?}", ShaKey::new("canary-key")), "ShaKey(****)");
    }
}
