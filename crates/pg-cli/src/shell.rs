//! Words of a POSIX shell, for commands that people copy.

/// Quotes a word if necessary.
pub(crate) fn word(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'=' | b'-' | b'_' | b'.' | b'/' | b':' | b',');
    if !text.is_empty() && text.bytes().all(plain) { text.to_owned() } else { quoted(text) }
}

/// Returns a word in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_gets_them() {
        for (text, expected) in [
            ("a=b-c_1.2/3:4,5", "a=b-c_1.2/3:4,5"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$HOME", "'$HOME'"),
            ("O'Neill", r"'O'\''Neill'"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
