//! Masking: the visible part of a card number, and how to find card numbers in unknown text.

use alloc::{borrow::Cow, string::String, vec::Vec};

mod addresses;
mod base64;
mod groups;
mod letters;
mod names;
mod row;

pub use addresses::without_passwords;
pub use letters::{digit, is_invisible};

use row::{Kinds, Shown};

/// Number of digits that a masked card number shows at its start (spec 2 §2.2).
const SHOWN_FIRST: usize = 6;
/// Number of digits that a masked card number shows at its end (spec 2 §2.2).
const SHOWN_LAST: usize = 4;
/// The shortest and longest card numbers that the service accepts (spec 2 §8).
const CARD_NUMBER_DIGITS: core::ops::RangeInclusive<usize> = 12..=19;

/// Replaces a value whose name marks it as a secret.
pub(crate) const HIDDEN: &str = "***";

/// Positions in a text have 32 bits. In a longer text, which no reader takes, every digit is masked.
const LONGEST: usize = u32::MAX as usize;

/// A card number with its first six and last four characters; the rest is `*`.
///
/// A text that is too short for this becomes all `*`.
///
/// ```
/// assert_eq!(pg_model::mask::card_number("4111111111111111"), "411111******1111");
/// assert_eq!(pg_model::mask::card_number("12345"), "*****");
/// ```
#[must_use]
pub fn card_number(number: &str) -> String {
    // Counts characters by their first bytes: the standard library's way is faster but larger.
    let length = number.bytes().filter(|byte| byte & 0xc0 != 0x80).count();
    let hides = length >= *CARD_NUMBER_DIGITS.start();
    number
        .chars()
        .enumerate()
        .map(|(at, c)| if hides && (at < SHOWN_FIRST || at + SHOWN_LAST >= length) { c } else { '*' })
        .collect()
}

/// Masks every run of 12 or more digits, even if grouped by single spaces or hyphens, like a
/// card number; and numbers with a valid check digit that are grouped by other characters. Used wherever unknown text
/// could be shown to people: error excerpts, logs, journals.
///
/// Digits of every script count, and invisible characters between them do not. Escapes (`%34`, `\u0034`, `&#52;`) count
/// as what they stand for. A word that is the Base64 of a number is masked completely. The result has as many
/// characters as the text. Masking takes linear time.
///
/// ```
/// assert_eq!(pg_model::mask::text("pan=4111 1111 1111 1111;"), "pan=4111 11** **** 1111;");
/// assert_eq!(pg_model::mask::text("pan=4111.1111.1111.1111;"), "pan=4111.11**.****.1111;");
/// assert_eq!(pg_model::mask::text("order 12345"), "order 12345");
/// ```
#[must_use]
pub fn text(text: &str) -> String {
    masked(text).into_owned()
}

/// The same as [`text`], without a copy if nothing is masked.
#[must_use]
pub fn masked(text: &str) -> Cow<'_, str> {
    if text.len() > LONGEST {
        return text.chars().map(|letter| if digit(letter).is_some() { '*' } else { letter }).collect();
    }
    let text = if base64::may_hold(text.as_bytes()) { base64::hidden(text) } else { Cow::Borrowed(text) };
    if has_few_digits(&text) {
        return text;
    }
    let (shown, plain) = hidden(&text, Kinds::All);
    // A superscript digit may be a separator between two groups as well as a digit, and what looks like an escape may
    // not be one.
    let as_written = if plain { Cow::Borrowed("") } else { hidden(&text, Kinds::Ascii).0 };
    match (shown, as_written) {
        (Cow::Borrowed(_), Cow::Borrowed(_)) => text,
        (Cow::Owned(shown), Cow::Borrowed(_)) | (Cow::Borrowed(_), Cow::Owned(shown)) => Cow::Owned(shown),
        (Cow::Owned(one), Cow::Owned(other)) => {
            let both = one.chars().zip(other.chars());
            both.map(|(one, other)| if other == '*' { other } else { one }).collect()
        }
    }
}

/// Returns a code, key or reference for `Debug`: masked if it contains a likely card number. Other long numbers stay
/// visible, since people look them up.
pub(crate) fn identifier(text: &str) -> Cow<'_, str> {
    if has_card_number(text) { masked(text) } else { Cow::Borrowed(text) }
}

/// Returns a value as `Debug` and serde show it: nothing of a secret, which its name tells, and no card number.
pub(crate) fn named<'v>(name: &str, value: &'v str) -> Cow<'v, str> {
    if hides(name, value) { Cow::Borrowed(HIDDEN) } else { masked(value) }
}

/// Whether a value is shown as [`HIDDEN`].
pub(crate) fn hides(name: &str, value: &str) -> bool {
    !value.is_empty() && names_a_secret(name)
}

/// Whether the name of a parameter marks its value as secret, in any letter case and with any separators: `cardCV2`,
/// `collect_security_code`, `api-password`.
#[must_use]
pub fn names_a_secret(name: &str) -> bool {
    let name = plain_name(name);
    names::CV2.iter().chain(&names::OTHER).any(|word| name.contains(word))
}

/// Whether the name of a parameter marks its value as a CV2, in any letter case and with any separators.
///
/// ```
/// use pg_model::mask::names_a_cv2;
/// assert!(names_a_cv2("collectCvv") && names_a_cv2("collect_security-code") && names_a_cv2("Card Verification Value"));
/// assert!(!names_a_cv2("cardCode") && !names_a_cv2("cid"));
/// ```
#[must_use]
pub fn names_a_cv2(name: &str) -> bool {
    let name = plain_name(name);
    names::CV2.iter().any(|word| name.contains(word))
}

/// Returns the ASCII letters and digits of a name, in lower case: names that differ in letter case and separators are equal then.
#[must_use]
pub fn plain_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Whether a text contains a likely card number, in any way in which [`text`] finds one: 12 to 19 digits with a card's
/// first digits and a valid check digit. Other digits of the same length, such as order numbers,
/// are not reported.
///
/// ```
/// use pg_model::mask::has_card_number;
/// assert!(has_card_number("paid with 4111 1111 1111 1111"));
/// assert!(!has_card_number("order 202611220000") && !has_card_number("4111 1111 1111 1112"));
/// ```
#[must_use]
pub fn has_card_number(text: &str) -> bool {
    if text.len() > LONGEST {
        return true;
    }
    let text = match base64::may_hold(text.as_bytes()).then(|| base64::hidden(text)) {
        Some(Cow::Owned(_)) => return true,
        _ => text,
    };
    if has_few_digits(text) {
        return false;
    }
    let (mut groups, mut found) = (Vec::new(), false);
    let mut search = |kinds| {
        row::each(text, kinds, |row| {
            if !found {
                groups::hide(text, row, &mut groups);
                found = row.digits.iter().any(|digit| digit.is_hidden())
                    || row.runs.iter().any(|run| groups::is_card_number(&row.digits, &row.sums, run.clone()));
            }
        })
    };
    if !search(Kinds::All) {
        search(Kinds::Ascii);
    }
    found
}

/// The text with masked numbers, and whether every digit is one byte.
fn hidden(text: &str, kinds: Kinds) -> (Cow<'_, str>, bool) {
    let (mut groups, mut shown) = (Vec::new(), Shown::new(text));
    let plain = row::each(text, kinds, |row| {
        row.hide_runs();
        groups::hide(text, row, &mut groups);
        shown.hide(row);
    });
    (shown.end(), plain)
}

/// Whether a text cannot contain a number: true for most texts, and far cheaper than the search.
fn has_few_digits(text: &str) -> bool {
    let fewest = *CARD_NUMBER_DIGITS.start();
    if text.len() < fewest {
        return true;
    }
    let ascii = text.bytes().filter(u8::is_ascii_digit).count();
    ascii < fewest
        && (text.is_ascii() || text.chars().filter(|letter| digit(*letter).is_some()).take(fewest).count() < fewest)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_masked_card_number_shows_first_six_and_last_four() {
        assert_eq!(card_number("411111111111"), "411111**1111");
        assert_eq!(card_number("6304000000000000000"), "630400*********0000");
        assert_eq!(card_number(""), "");
    }

    #[test]
    fn text_hides_every_card_number_and_nothing_else() {
        assert_eq!(text("<cardNumber>4111111111111111</cardNumber>"), "<cardNumber>411111******1111</cardNumber>");
        assert_eq!(text("4111-1111-1111-1111, 5555555555554444"), "4111-11**-****-1111, 555555******4444");
        assert_eq!(text("2026-11-21 10:00 é 123"), "2026-11-21 10:00 é 123");
    }

    #[test]
    fn a_number_in_groups_is_hidden_whatever_stands_between_them() {
        for (shown, hidden) in [
            ("4111.1111.1111.1111", "4111.11**.****.1111"),
            ("4111+1111+1111+1111", "4111+11**+****+1111"),
            ("no 4111/1111/1111/1111/917.", "no 4111/11**/****/1111/917."),
            ("4111\u{a0}1111\u{a0}1111\u{a0}1111", "4111\u{a0}11**\u{a0}****\u{a0}1111"),
            ("4111  1111  1111  1111", "4111  11**  ****  1111"),
            ("4111 – 1111 – 1111 – 1111", "4111 – 11** – **** – 1111"),
            ("[\"4111\",\"1111\",\"1111\",\"1111\"]", "[\"4111\",\"11**\",\"****\",\"1111\"]"),
            ("3782_822463_10005", "3782_82****_*0005"),
            ("<line_1>4.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1</line_1>", "<line_1>4.1.1.1.1.1.*.*.*.*.*.*.1.1.1.1</line_1>"),
            ("http://127.0.0.1:9/41.11.11.11.11.11.11.11", "http://127.0.0.1:9/41.11.11.**.**.**.11.11"),
            ("7 4111.1111.1111.1111", "7 4111.11**.****.1111"),
            ("1234.4111.1111.1111.1111", "1234.4111.11**.****.1111"),
            // With other digits directly before or after it.
            ("4111.1111.1111.11112026-11-21", "4111.11**.****.111120**-11-21"),
            ("20264111.1111.1111.1111", "20264111.11**.****.1111"),
            ("74111/1111.1111/11117", "74111/11**.****/11117"),
            ("13782_822463_100057", "13782_82****_*00057"),
        ] {
            assert_eq!(text(shown), hidden);
        }
        // In the last three, the first digit begins no card, and groups within the number are longer.
        for other in [
            "2026/11/21 10:00:00.000",
            "10.20.30.40:8480",
            "1000,2000,3001",
            "1e9999.9999",
            "91234.5678.9012.3452",
            "4111.11111.1111.1111",
            "4111.1111.11111.1111",
        ] {
            assert_eq!(text(other), other);
        }
    }

    #[test]
    fn signs_between_groups_may_differ_where_cards_have_groups() {
        for (shown, hidden) in [
            ("4111.1111/1111.1111", "4111.11**/****.1111"),
            ("4111-1111 1111, 1111", "4111-11** ****, 1111"),
            ("3782, 822463/10005", "3782, 82****/*0005"),
            ("41.11.11.11.11.11.11.11", "41.11.11.**.**.**.11.11"),
            ("4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "4,1,1,1,1,1,*,*,*,*,*,*,1,1,1,1"),
        ] {
            assert_eq!(text(shown), hidden);
        }
        // Another check digit; other groups; two signs; one number more.
        for other in [
            "4111.1111/1111.1112",
            "41.111/111.1111/1111",
            "4,1;1,1,1,1,1,1,1,1,1,1,1,1,1,1",
            "4,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
        ] {
            assert_eq!(text(other), other);
        }
    }

    #[test]
    fn digits_of_other_scripts_and_escapes_are_digits() {
        for (shown, hidden) in [
            ("４１１１１１１１１１１１１１１１", "４１１１１１******１１１１"),
            ("٤١١١ ١١١١ ١١١١ ١١١١", "٤١١١ ١١** **** ١١١١"),
            ("४१११११११११११११११", "४१११११******११११"),
            ("②④⑥", "②④⑥"),
            ("4\u{200b}1\u{200b}1\u{200b}1111111111111", "4\u{200b}1\u{200b}1\u{200b}111******1111"),
            ("4111\u{202e}1111\u{0}1111\u{feff}1111", "4111\u{202e}11**\u{0}****\u{feff}1111"),
            ("4️⃣1️⃣1111111111", "4️⃣1️⃣1111**1111"),
            // Digits of one, two and three bytes within a group; a number after one in another script.
            ("41١１.1111/11%311.1١11", "41١１.11**/******.1١11"),
            ("٤1.4111.1111.1111.1111", "٤1.4111.11**.****.1111"),
            ("%34%31%31%31111111111111", "%34%31%31%3111******1111"),
            ("pan=%34%31%31%31%31%31%31%31%31%31%31%31", "pan=%34%31%31%31%31%31******%31%31%31%31"),
            (
                r"\u0034\u0031\u0031\u0031\u0031\u0031\u0031\u0031\u0031\u0031\u0031\u0031",
                r"\u0034\u0031\u0031\u0031\u0031\u0031************\u0031\u0031\u0031\u0031",
            ),
            ("34313131313131313131313131313131", "343131**********************3131"),
            ("NDExMTExMTExMTExMTExMQ==", "**********************=="),
        ] {
            assert_eq!(text(shown), hidden);
            assert_eq!(shown.chars().count(), hidden.chars().count());
        }
        for other in ["%20%21%2C%3D", "caf%C3%A9 100%2B200", "x=1&#44;2&#44;3"] {
            assert_eq!(text(other), other);
        }
    }

    #[test]
    fn a_longer_run_is_hidden_too() {
        assert_eq!(text("00004111111111111111"), "000041**********1111");
    }

    #[test]
    fn an_escape_is_a_separator_or_a_digit_as_what_it_stands_for_is() {
        for number in [
            "4111%201111%201111%201111",
            "4111%2F1111%2F1111%2F1111",
            "4111%2d1111%2d1111%2d1111",
            "4111%25201111%25201111%25201111",
            "4111%C2%A01111%C2%A01111%C2%A01111",
            "4111%E2%80%931111%E2%80%931111%E2%80%931111",
            "%EF%BC%94%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91%EF%BC%91",
            r"4111\u00a01111\u00a01111\u00a01111",
            "4111&nbsp;1111&#160;1111&nbsp;1111",
            // What looks like an escape and is not one.
            "50%4111111111111111",
            "50%4111 1111 1111 1111",
        ] {
            let shown = text(&format!("https://shop.test/n?c={number}&d=1"));
            assert!(!shown.contains(number) && shown.matches('*').count() >= 6, "{shown}");
            assert!(has_card_number(number), "{number}");
        }
        assert_eq!(text("/v3/token/4111%201111%201111%201111"), "/v3/token/4111%2011**%******%**1111");
        for other in [
            "a%20b%20c",
            "2026-11-25%2010:00%20123",
            "%41%42%43 %F0%9F%98%80",
            "100%, 20%, 30%, 40%",
            "%00%01%02%03%04%05%06",
        ] {
            assert_eq!(text(other), other);
            assert!(!has_card_number(other), "{other}");
        }
    }

    #[test]
    fn a_number_beside_other_digits_is_found_and_other_long_runs_are_not() {
        for number in ["4929257976335550", "4929 2579 7633 5550", "4929-257976 335550", "4929\u{200b}257976335550"] {
            for (before, after) in [
                ("", " 12/49"),
                ("", " 12/49 917"),
                ("", "-12/49"),
                ("", " 1249"),
                ("", " 2"),
                ("", "\u{200b} 1249"),
                ("2 ", ""),
                ("2026-11-28 ", ""),
                ("2026-11-28 10:00 ", " 4.99 GBP"),
                ("4929113444429105 ", ""),
            ] {
                let shown = format!("{before}{number}{after}");
                assert!(has_card_number(&shown), "{shown}");
            }
        }
        for other in [
            "4929257976335551 12/49",
            "2026-11-28 10-00-00 2026-11-29 10-00-00",
            "499 250 350 420 620 499 250",
            "order 2026112200001 of 2026-11-28",
        ] {
            assert!(!has_card_number(other), "{other}");
        }
    }

    const CV2_WORDS: &[&[&str]] = &[
        &["cvv"],
        &["cvv2"],
        &["cvc2"],
        &["cvn"],
        &["csc"],
        &["card", "cv2"],
        &["security", "code"],
        &["card", "security", "code"],
        &["verification", "code"],
        &["card", "verification", "value"],
        &["verification", "number"],
    ];

    #[test]
    fn names_of_other_values_are_no_secrets() {
        for name in
            ["cardCode", "cid", "customerId", "postcode", "verification", "securityLevel", "itemName0", "value", ""]
        {
            assert!(!names_a_secret(name) && !names_a_cv2(name), "{name}");
        }
        for name in ["apiPassword", "api-key", "sha key", "date.of.birth", "client_secret", "mccSurname"] {
            assert!(names_a_secret(name) && !names_a_cv2(name), "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_cv2_is_recognised_by_its_name_in_any_case_and_with_any_separators(
            words in prop::sample::select(CV2_WORDS),
            separator in "[-_. /\\[\u{a0}]{0,2}",
            upper in any::<u64>(),
        ) {
            let letters = ["collect"].into_iter().chain(words.iter().copied()).collect::<Vec<_>>().join(&separator);
            let name: String = letters
                .chars()
                .enumerate()
                .map(|(at, letter)| if upper >> (at % 64) & 1 == 1 { letter.to_ascii_uppercase() } else { letter })
                .collect();
            prop_assert!(names_a_cv2(&name) && names_a_secret(&name), "{}", name);
        }

        #[test]
        fn a_card_number_is_found_beside_any_digits(
            digits in "[2-6][0-9]{10,17}",
            other in "[0-9]{1,30}([ -][0-9]{1,8}){0,3}",
            separator in "[ -]",
        ) {
            let number = (0..10).map(|last| format!("{digits}{last}")).find(|number| has_card_number(number));
            let number = number.unwrap_or_default();
            for shown in [format!("{number}{separator}{other}"), format!("{other}{separator}{number}")] {
                prop_assert!(has_card_number(&shown), "{}", shown);
            }
        }

        #[test]
        fn any_text_is_as_long_as_before_and_shows_no_number(
            before in "(\\PC{0,20}|[0-9a-z.,/ -]{0,20})[^0-9]",
            between in "[^0-9A-Za-z*]{0,2}",
            after in "([^0-9]\\PC{0,20})?",
        ) {
            let number = ["4111", "1111", "1111", "1111"].join(&between);
            let shown = text(&format!("{before}{number}{after}"));
            prop_assert!(!shown.contains(&number), "{}", shown);
            prop_assert_eq!(shown.chars().count(), before.chars().count() + number.chars().count() + after.chars().count());
        }
    }
}
