//! Text that is never displayed.

use std::fmt;

use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// A credential or a CV2: no `Debug`, no `Display`, no `Serialize`; wiped when dropped.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Returns the text itself, for its single use.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the given text is equal, in time that depends only on its length.
    #[must_use]
    pub fn matches(&self, other: &str) -> bool {
        self.0.as_bytes().ct_eq(other.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_only_itself_and_shows_nothing() {
        let secret = Secret::new("canary");
        assert!(secret.matches("canary"));
        assert!(!secret.matches("canar"));
        assert!(!secret.matches("canarY"));
        assert_eq!(format!("{secret:?}"), "[redacted]");
    }
}
