//! Passwords in addresses.

use alloc::{borrow::ToOwned as _, format, string::String};

use super::HIDDEN;

/// Hides credentials in addresses, as in `https://user:password@host`, in a text of unknown content. An address with a
/// parameter for a password is hidden as a whole.
///
/// ```
/// let said = "cannot connect to 'postgres://shop:secret@db/shop'";
/// assert_eq!(pg_model::mask::without_passwords(said), "cannot connect to 'postgres://***@db/shop'");
/// assert_eq!(pg_model::mask::without_passwords("https://db/a:b"), "https://db/a:b");
/// ```
#[must_use]
pub fn without_passwords(text: &str) -> String {
    // JSON may escape each slash.
    [":\\/\\/", "://"].iter().fold(text.to_owned(), |shown, mark| after(mark, &shown))
}

/// Hides user and password after each mark.
fn after(mark: &str, text: &str) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        // A password that is not encoded may contain a slash.
        let address = part.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"')).next().unwrap_or_default();
        let has_parameter = address.to_ascii_lowercase().contains("password=");
        match if has_parameter { Some(address.len()) } else { address.rfind('@') } {
            Some(end) => format!("{shown}{mark}{HIDDEN}{}", &part[end..]),
            None => format!("{shown}{mark}{part}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_repeated_without_its_password() {
        for (text, shown) in [
            ("invalid value 'https://u:p@ss@shop.example/a' for", "invalid value 'https://***@shop.example/a' for"),
            ("http://a:b@h http://a:b@h/c@d", "http://***@h http://***@d"),
            ("https://u:ab/cd@shop.example https://token@h", "https://***@shop.example https://***@h"),
            ("postgres://db/shop?password=s@cret failed", "postgres://*** failed"),
            ("\"https://shop.example/?apiPassword=secret\"", "\"https://***\""),
            (r#"{"dsn":"postgres:\/\/u:p@db\/shop"}"#, r#"{"dsn":"postgres:\/\/***@db\/shop"}"#),
            ("https://shop.example/a:b https://shop.example", "https://shop.example/a:b https://shop.example"),
        ] {
            assert_eq!(without_passwords(text), shown);
        }
    }
}
