//! Words of a POSIX shell, for commands that people copy.

use pg_model::mask::is_invisible;

/// Quotes a word if necessary.
pub(crate) fn word(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'=' | b'-' | b'_' | b'.' | b'/' | b':' | b',');
    if !text.is_empty() && text.bytes().all(plain) { text.to_owned() } else { quoted(text) }
}

/// Returns a word in quotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a command, whose words were made by [`word`], with its invisible characters as escapes that bash and zsh read.
pub(crate) fn visible(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    for c in command.chars() {
        if is_invisible(c) {
            // It is in quotes: they end before it, and begin again.
            out.push_str("'$'");
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\{byte:03o}")));
            out.push_str("''");
        } else {
            out.push(c);
        }
    }
    out
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
