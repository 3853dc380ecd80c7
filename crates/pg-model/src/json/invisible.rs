//! JSON that is safe to display.

use alloc::{borrow::Cow, format, string::String};

use crate::mask::is_invisible;

/// The same JSON, with invisible characters and characters that change the text direction escaped, so that it can be shown on a
/// terminal. They occur in strings only; JSON writers escape ASCII control characters already.
///
/// ```
/// use pg_model::json::escape_invisible;
/// assert_eq!(escape_invisible("{\"a\":\"x\u{202e}y\"}"), r#"{"a":"x\u202ey"}"#);
/// ```
#[must_use]
pub fn escape_invisible(json: &str) -> Cow<'_, str> {
    let is_meant = |c: char| c == '\u{7f}' || (!c.is_ascii() && is_invisible(c));
    if !json.chars().any(is_meant) {
        return json.into();
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_meant(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meaning_stays() {
        let json = "{\"a\\n\":\"\u{202e}x\u{9b}\u{7f}\u{e0041}é\"}";
        assert_eq!(escape_invisible(json), r#"{"a\n":"\u202ex\u009b\u007f\udb40\udc41é"}"#);
        assert!(matches!(escape_invisible("{\"a\": \"é\\n\"}\n"), Cow::Borrowed(_)));
    }
}
