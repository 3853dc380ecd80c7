//! Finds card security codes in texts.

use std::ops::Range;

/// Returns the places of the first three or four digits next to a name for a CV2: three digits alone are everywhere. Other
/// digits may stand before them, as the lengths in what PHP serialises.
pub(crate) fn places(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let second = ["code", "value", "number"];
    let pairs = ["security", "verification"].into_iter().flat_map(|one| second.map(|next| [one, next]));
    let pairs = pairs.flat_map(|words| ["", " ", "_", "-", "."].map(|separator| words.join(separator)));
    let names = ["cv2", "cvv2", "cvc2", "cvv", "cvc", "cvn", "csc"].map(str::to_owned);
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut found = Vec::new();
    for name in names.into_iter().chain(pairs) {
        for (at, name) in lower.match_indices(&*name) {
            let after = at + name.len();
            let near = lower[after..].char_indices().take(NEAR).map(|(start, _)| after + start);
            let mut numbers = near
                .filter(|&start| start == after || !lower[..start].ends_with(is_digit))
                .map(|start| start..start + lower[start..].chars().take_while(char::is_ascii_digit).count());
            found.extend(numbers.find(|number| matches!(number.len(), 3 | 4)));
        }
    }
    found
}

/// The maximum number of characters between a name and its digits.
const NEAR: usize = 12;

/// Whether the text has this CV2 next to a name for it.
pub(crate) fn has(text: &str, cv2: &str) -> bool {
    places(text).into_iter().any(|place| &text[place] == cv2)
}

/// Returns the text without the CV2s in it.
pub(crate) fn masked(text: &str) -> String {
    let mut places = places(text);
    places.sort_unstable_by_key(|place| std::cmp::Reverse(place.start));
    places.dedup();
    let mut masked = text.to_owned();
    for place in places {
        masked.replace_range(place, "***");
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cv2_is_found_next_to_any_of_its_names_and_digits_alone_are_not() {
        for text in ["cvv=417", "cvv2=417", "\"cvc2\": \"417\"", "CVV2Code=417", r#"{"cardCV2": "417"}"#] {
            assert!(has(text, "417"), "{text}");
            assert!(!has(&masked(text), "417") && masked(text).contains("***"), "{text}");
        }
        // As PHP serialises an order, with the lengths of its texts.
        for text in ["s:3:\"cv2\";s:3:\"417\";", "s:7:\"cardCV2\";i:417;"] {
            assert!(has(text, "417") && !has(&masked(text), "417"), "{text}");
        }
        for name in ["security code", "Security-Code", "card_security_code", "verificationValue", "CVN"] {
            assert!(has(&format!("{name}: 417"), "417"), "{name}");
        }
        for text in ["cv2=*** amount 417", "417 pounds", "cvv2=4170", "cvv2"] {
            assert!(!has(text, "417"), "{text}");
        }
        assert_eq!(masked("é cvv2 7954, cv2=795: 998"), "é cvv2 ***, cv2=***: 998");
        assert_eq!(masked("the CV2 is in the log 2026.txt"), "the CV2 is in the log 2026.txt");
    }
}
