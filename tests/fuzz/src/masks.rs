//! Masks leave no card number readable, and add or move no letter.

use pg_model::mask;

use crate::bounded::bounded;

/// Masks any text, and the parameter that the input names.
pub fn mask(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let masked = bounded(text.len(), 200, || mask::text(&text));
    assert_eq!(masked.chars().count(), text.chars().count());
    for (before, after) in text.chars().zip(masked.chars()) {
        assert!(before == after || after == '*', "{text:?} became {masked:?}");
    }
    assert!(longest_run(&masked) < 12, "{masked:?}");
    assert_eq!(number_in_fours(&masked), None, "{masked:?}");
    let number = mask::card_number(&text);
    assert_eq!(number.chars().count(), text.chars().count());
    assert!(number.chars().filter(|c| *c != '*').count() <= 10, "{number:?}");
    if let Some((name, value)) = text.split_once('=') {
        let shown = pg_proto::shown(name, value);
        assert!(longest_run(&shown) < 12, "{name} is shown as {shown:?}");
        let secret = ["cv2", "password", "secret"].iter().any(|word| name.to_ascii_lowercase().contains(word));
        if secret && value.chars().any(|c| c != '*') {
            assert_ne!(shown, value);
        }
    }
}

/// A readable card number in four groups of four in a text, whatever digits surround it.
///
/// It uses only the bytes, independently of the mask's search.
fn number_in_fours(text: &str) -> Option<&str> {
    /// Four groups of four digits, with separators.
    const LENGTH: usize = 19;
    let windows = text.as_bytes().windows(LENGTH).enumerate();
    let found = windows.filter(|(_, window)| {
        let (digits, signs): (Vec<_>, Vec<_>) = window.iter().enumerate().partition(|(at, _)| at % 5 < 4);
        let sign = *signs[0].1;
        let grouped = digits.iter().all(|(_, byte)| byte.is_ascii_digit())
            && signs.iter().all(|(_, byte)| **byte == sign)
            && sign.is_ascii_punctuation()
            && sign != b'*';
        let sum = digits.iter().rev().enumerate().map(|(place, (_, byte))| {
            let once = u32::from(byte.wrapping_sub(b'0'));
            if place % 2 == 0 { once } else { once * 2 % 10 + once / 5 }
        });
        grouped && matches!(window[0], b'2'..=b'6') && sum.sum::<u32>().is_multiple_of(10)
    });
    found.map(|(at, _)| &text[at..at + LENGTH]).next()
}

/// The longest run of digits, which may be separated by single spaces and hyphens.
fn longest_run(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut longest, mut row) = (0, 0);
    for (at, byte) in bytes.iter().enumerate() {
        let groups = matches!(byte, b' ' | b'-') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        row = if byte.is_ascii_digit() {
            row + 1
        } else if groups {
            row
        } else {
            0
        };
        longest = longest.max(row);
    }
    longest
}
