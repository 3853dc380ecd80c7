//! Secret parameters in texts that should have none: an address, or a value in which the `&` was forgotten.

use pg_model::mask;

/// What is shown in place of a secret.
pub(crate) const HIDDEN: &str = "(hidden)";

/// Returns the end of the name of the first secret parameter in a text, with its `=`: in `499apiPassword=…`, where the `&` was
/// forgotten, too.
pub(crate) fn find(text: &str) -> Option<usize> {
    let is_sign = |letter: char| !letter.is_ascii_alphanumeric() && !"_-. +".contains(letter);
    let is_secret = |at: &usize| text[..*at].rsplit(is_sign).next().is_some_and(mask::names_a_secret);
    text.match_indices('=').map(|(at, _)| at).find(is_secret).map(|at| at + 1)
}

/// Returns an address without card numbers, and without everything after the name of a secret parameter.
pub(crate) fn masked(address: &str) -> String {
    match find(address) {
        Some(end) => mask::text(&address[..end]) + HIDDEN,
        None => mask::text(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_where_a_secret_begins() {
        for (address, shown) in [
            ("https://shop.example/error?order=7#end", "https://shop.example/error?order=7#end"),
            ("https://shop.example/error?x=4000000000001000", "https://shop.example/error?x=400000******1000"),
            ("https://shop.example/?x=1&apiPassword=canary&y=2", "https://shop.example/?x=1&apiPassword=(hidden)"),
            ("https://shop.example/;card-cv2=864", "https://shop.example/;card-cv2=(hidden)"),
        ] {
            assert_eq!(masked(address), shown);
        }
        let long = format!("https://shop.example/?{}&api_password=canary", "x=1&".repeat(1_000));
        assert!(!masked(&long).contains("canary"));
    }
}
