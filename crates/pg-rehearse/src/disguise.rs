//! Finds card numbers and credentials in a text, also if they are grouped, masked too little, or in Base64.

use base64::{Engine as _, engine::general_purpose::STANDARD};

/// A masked number shows at most its first eight digits and its last four, so that it never has so many in a row.
const IN_A_ROW: usize = 9;

/// Whether the text has the number: more of it than a mask may show, all of it with one sign between digits, or in Base64.
pub(crate) fn has_number(text: &str, number: &str) -> bool {
    let is_short = number.len() < IN_A_ROW;
    let ends = if is_short { [number, number] } else { [&number[..IN_A_ROW], &number[number.len() - IN_A_ROW..]] };
    ends.into_iter().any(|end| text.contains(end))
        || (!is_short && (after_a_mask(text, number) || after_a_mask(&joined(text), number)))
        || joined(text).contains(number)
        || in_base64(text, number)
}

/// Signs in place of digits. A dot stands in other places, too.
const MASK: [char; 6] = ['*', 'x', 'X', '•', '#', '.'];
/// So many last digits a mask may show.
const LAST: usize = 4;

/// Whether a mask is followed by more of the number's last digits than it may show: with the first digits, which stand before
/// it, few numbers are possible.
fn after_a_mask(text: &str, number: &str) -> bool {
    let (first, last) = number.split_at(number.len() - LAST - 1);
    text.match_indices(last).any(|(place, _)| {
        let before = &text[..place];
        // How many of the digits before them belong to the number, too.
        let own = before.bytes().rev().zip(first.bytes().rev()).take_while(|(a, b)| a == b).count();
        let mask = before[..place - own].trim_end_matches([' ', '-']);
        mask.ends_with('…') || mask.chars().rev().take_while(|sign| MASK.contains(sign)).count() > 1
    })
}

/// Whether the text has the secret, as it is or in Base64.
pub(crate) fn has_secret(text: &str, secret: &str) -> bool {
    text.contains(secret) || in_base64(text, secret)
}

/// Returns the text without the single signs between digits, such as blanks, hyphens and `%20`.
fn joined(text: &str) -> String {
    let text = text.replace("%20", " ");
    let mut joined = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_between =
            joined.ends_with(|last: char| last.is_ascii_digit()) && letters.peek().is_some_and(char::is_ascii_digit);
        if letter.is_ascii_digit() || !is_between {
            joined.push(letter);
        }
    }
    joined
}

/// Whether the text has the secret in Base64, at any place of what was encoded.
fn in_base64(text: &str, secret: &str) -> bool {
    (0..3).any(|before| {
        let encoded = STANDARD.encode([&vec![0; before], secret.as_bytes()].concat());
        // Only these characters depend on nothing but the secret: 6 bits each.
        let (first, end) = ((before * 8).div_ceil(6), (before + secret.len()) * 8 / 6);
        let own = &encoded[first..end];
        text.contains(own) || text.contains(&own.replace('+', "-").replace('/', "_"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_however_they_are_grouped_and_if_they_are_masked_too_little() {
        let number = "4111115703353726";
        let base64 = STANDARD.encode(format!("card={number}&"));
        for text in [
            "card=4111115703353726&",
            "4111 1157 0335 3726",
            "4111-1157-0335-3726",
            "cardNumber=4111+1157+0335+3726&",
            "4111%201157%200335%203726",
            "4111.1157.0335.3726",
            "4111\t1157\t0335\t3726",
            "4111\u{a0}1157\u{a0}0335\u{a0}3726",
            "411111570335372*",
            "4111115703**3726",
            "*******703353726",
            "41111157**03353726",
            "411111*****53726",
            "4111 11xx xx53726",
            "4111115••••353726",
            "41111157 **** 0335 3726",
            "411111…53726",
            &base64,
        ] {
            assert!(has_number(text, number), "{text}");
        }
        for text in
            ["411111******3726", "41111157****3726", "4111 11** **** 3726", "4, 1, 1, 1", "", "2026-11-27 10:44:00"]
        {
            assert!(!has_number(text, number), "{text}");
        }
    }

    #[test]
    fn secrets_are_found_at_each_place_of_a_text_in_base64() {
        for before in ["", "a", "ab", "key:"] {
            let text = STANDARD.encode(format!("{before}sup3r-secret-password"));
            assert!(has_secret(&text, "sup3r-secret-password"), "{text}");
        }
        assert!(!has_secret(&STANDARD.encode("another-password-here"), "sup3r-secret-password"));
    }
}
