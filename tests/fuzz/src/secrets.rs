//! Values that may not occur in any output, and checks for them.

/// A card number with a valid check digit that no scenario uses.
pub(crate) const CARD_NUMBER: &str = "4539148803436467";

/// Credentials of a client; none is a part of another.
pub(crate) const API_KEY: &str = "cAnArYkEy0123456789abcdefABCDEFx";
pub(crate) const API_PASSWORD: &str = "cAnArYpAsSwOrD";
pub(crate) const SHA_KEY: &str = "cAnArYsHaKeY";

/// Checks that no credential is in an output.
pub(crate) fn no_credentials(output: &str) {
    for secret in [API_KEY, API_PASSWORD, SHA_KEY] {
        assert!(!output.contains(secret), "{secret} is shown: {output}");
    }
}

/// Checks that an output shows no 12 consecutive digits.
pub(crate) fn no_digits(output: &str) {
    let mut row = 0;
    for byte in output.bytes() {
        row = if byte.is_ascii_digit() { row + 1 } else { 0 };
        assert!(row < 12, "12 digits in a row are shown: {output}");
    }
}
