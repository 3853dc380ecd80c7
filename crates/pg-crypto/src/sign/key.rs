//! The secret that turns a hash into a signature.

use alloc::string::String;
use core::fmt;

use zeroize::Zeroizing;

/// The secret `shaKey` that an account signs its requests with (spec 1 §5).
///
/// Taken exactly as given: nothing is trimmed, so a line break that came along from a file makes every
/// signature wrong ([`diagnose`](crate::diagnose) tells). Wiped from memory on drop, never shown by `Debug`.
/// A string handed over by value is wiped too; of a borrowed one a copy is made, and the original stays
/// the caller's business.
#[derive(Clone)]
pub struct ShaKey(Zeroizing<String>);

impl ShaKey {
    /// Takes the key as text, of any length.
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
