//! What may not be seen in any output, and how to look for it.

/// A card number that no scenario has, with a correct check digit.
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

/// Checks that an output shows no 12 digits side by side.
pub(crate) fn no_digits(output: &str) {
    let mut row = 0;
    for byte in output.bytes() {
        row = if byte.is_ascii_digit() { row + 1 } else { 0 };
        assert!(row < 12, "12 digits in a row are shown: {output}");
    }
}
