//! Card numbers and CV2s entered in the wrong field: masked before they are returned, stored or journaled
//! (spec 2 §1.1; A82).

use std::{borrow::Cow, collections::BTreeSet, ops::RangeInclusive};

use pg_model::{format::Format, mask};

mod places;

use places::{CheckDigits, Hidden, Places, is_card_number};

/// The length of a card number (spec 2 §8).
const LENGTHS: RangeInclusive<usize> = 12..=19;
/// Lengths of numbers that are found even beside other digits: those of nearly all cards.
const GLUED: RangeInclusive<usize> = 15..=16;
/// Visible digits at the start and at the end of a number.
const SHOWN: (usize, usize) = (6, 4);
/// A longer row of digits is masked without a search for numbers.
const LONGEST_ROW: usize = 4_096;
/// The maximum number of adjacent fields that are searched together for one number.
const MOST_FIELDS: usize = 8;

/// Which numbers a text is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    /// The entered card number, wherever its digits occur in this order.
    Entered,
    /// Also every other number of a card scheme with a valid check digit, unless it is part of a longer number (A225).
    Whole,
    /// Also such a number beside other digits.
    Likely,
    /// Also every run of 12 or more digits, since names have none.
    Any,
}

/// The digits of a text, as ASCII.
pub(crate) fn digits(text: &str) -> String {
    text.chars().filter_map(digit).map(char::from).collect()
}

/// Returns the text with the middle digits of its card numbers replaced by as many asterisks. It also finds numbers
/// with escapes between or for their digits, and numbers in Base64.
pub(crate) fn masked<'a>(text: &'a str, entered: Option<&str>, search: Search) -> Cow<'a, str> {
    let shown = masked_digits(text, entered, search);
    let few_digits = || shown.bytes().filter(u8::is_ascii_digit).count() < *LENGTHS.start();
    let encoded = search != Search::Entered && (shown.contains(['%', '\\', '&']) || few_digits());
    if encoded && mask::has_card_number(&shown) { Cow::Owned(mask::text(&shown)) } else { shown }
}

fn masked_digits<'a>(text: &'a str, entered: Option<&str>, search: Search) -> Cow<'a, str> {
    let few = |bytes: &[u8]| bytes.iter().filter(|byte| byte.is_ascii_digit()).count() < *LENGTHS.start();
    if text.len() < *LENGTHS.start() || (text.is_ascii() && few(text.as_bytes())) {
        return Cow::Borrowed(text);
    }
    let places = Places::of(text);
    let mut hidden = Hidden::none(places.len());
    if let Some(entered) = entered.filter(|entered| LENGTHS.contains(&entered.len())) {
        places.repeats_of(entered).for_each(|start| hidden.hide(start, entered.len()));
    }
    if search != Search::Entered {
        let mut check = CheckDigits::default();
        for row in places.rows().filter(|row| row.len() >= *LENGTHS.start()) {
            if search == Search::Any || row.len() > LONGEST_ROW {
                hidden.hide(row.start(), row.len());
            } else {
                let beside_digits = search == Search::Likely;
                row.likely(&mut check, beside_digits, |start, length| hidden.hide(start, length));
            }
        }
    }
    hidden.applied_to(text)
}

/// Returns the parameters of a card form, with card numbers and CV2s in other fields masked. The session key, the page
/// URLs, and the fields of the card number and of the CV2 are unchanged.
pub(crate) fn masked_form<N: AsRef<str>, V: AsRef<str>>(form: &[(N, V)]) -> Vec<(String, String)> {
    let pairs = form.iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
    owned(masked_start(pairs, form.len()))
}

fn owned(form: Vec<(Cow<'_, str>, Cow<'_, str>)>) -> Vec<(String, String)> {
    form.into_iter().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

/// Returns the same for the first parameters of a card form. A card number that continues in the next parameters is
/// masked too.
pub(crate) fn masked_start<'a>(
    form: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    most: usize,
) -> Vec<(Cow<'a, str>, Cow<'a, str>)> {
    let value = |wanted: &str| form.clone().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let number = value("cardNumber").map(digits).filter(|number| LENGTHS.contains(&number.len()));
    let cv2 = value("cardCV2").filter(|cv2| Format::Cv2.admits(cv2));
    // Each of the next parameters has at least one digit of such a number.
    let mut shown: Vec<(Cow<'a, str>, Cow<'a, str>)> = form
        .clone()
        .take(most.saturating_add(*LENGTHS.end()))
        .map(|(name, value)| {
            (masked(name, number.as_deref(), Search::Likely), one(name, value, number.as_deref(), cv2))
        })
        .collect();
    // Four digits may be a date: then the two fields were swapped.
    hide_expiry(&mut shown, cv2.is_some_and(|cv2| !Format::Expiry.admits(cv2)));
    for at in split(&shown, number.as_deref()) {
        shown[at].1 = without_digits(&shown[at].1).into();
    }
    shown.truncate(most);
    shown
}

/// Whether a field of the form may contain a misplaced number.
fn is_open(name: &str) -> bool {
    !matches!(name, "sessionKey" | "cardNumber" | "cardCV2" | "nextPageUrl" | "currentPageUrl")
}

fn one<'a>(name: &str, value: &'a str, number: Option<&str>, cv2: Option<&str>) -> Cow<'a, str> {
    if !is_open(name) {
        return value.into();
    }
    let text = masked(value, number, search_in(name));
    let is_short = |text: &str| (3..=4).contains(&text.chars().filter_map(digit).take(5).count());
    match name {
        // A name has no digits, so they are part of the entered CV2, or of the number.
        "cardholderName" | "cardHolderName" | "cardDescription" => {
            let alone = cv2.is_none() && text.trim().len() <= 4 && Format::Cv2.admits(digits(text.trim()).as_str());
            if alone { without_digits(&text).into() } else { without_cv2(text, cv2) }
        }
        _ if mask::names_a_cv2(name) => {
            if is_short(&text) {
                without_digits(&text).into()
            } else {
                without_cv2(text, cv2)
            }
        }
        _ => text,
    }
}

/// Masks the entered CV2 wherever its digits occur in this order, whatever separates them.
fn without_cv2<'a>(text: Cow<'a, str>, cv2: Option<&str>) -> Cow<'a, str> {
    let Some(cv2) = cv2 else { return text };
    let places = Places::of(&text);
    let mut hidden = Hidden::none(places.len());
    places.repeats_of(cv2).for_each(|start| hidden.hide_all(start, cv2.len()));
    let shown = hidden.applied_to(&text).into_owned();
    shown.into()
}

/// Returns a text of a token as it is stored and returned: as sent, but with its card numbers masked, and the token's
/// own number also beside other digits (A200).
pub(crate) fn masked_in_token<'a>(name: &str, text: &'a str, own: &str) -> Cow<'a, str> {
    let search = if search_in(name) == Search::Entered { Search::Entered } else { Search::Whole };
    masked(text, Some(own), search)
}

/// Which numbers a field of a card form is searched for.
pub(crate) fn search_in(name: &str) -> Search {
    match name {
        "cardholderName" | "cardHolderName" | "cardDescription" => Search::Any,
        // Telephone numbers are as long as some card numbers, and one in ten has a valid check digit.
        "customerMobile" | "customerTelephone" | "customerLandline" => Search::Entered,
        _ => Search::Likely,
    }
}

/// Masks the digits of an invalid expiry that could be the start of a number, or a CV2.
fn hide_expiry(form: &mut [(Cow<'_, str>, Cow<'_, str>)], has_cv2: bool) {
    let place = |form: &[(Cow<'_, str>, Cow<'_, str>)], names: &[&str]| {
        form.iter().position(|(name, _)| names.contains(&&**name))
    };
    let (month, year) = (place(form, &["cardExpiryMonth"]), place(form, &["cardExpiryYear", "cardExipryYear"]));
    let count = |at: Option<usize>| at.map_or(0, |at| digits(&form[at].1).len());
    let many = count(month) + count(year) > 6;
    let year_is_odd = year.is_some_and(|at| {
        let text = &form[at].1;
        count(year) == 3 || (text.len() == 4 && count(year) == 4 && !matches!(text.as_bytes()[0], b'0'..=b'2'))
    });
    let (hide_month, hide_year) = (many || count(month) > 2, many || year_is_odd || count(year) > 4);
    for at in month.filter(|_| hide_month).into_iter().chain(year.filter(|_| hide_year)) {
        form[at].1 = without_digits(&form[at].1).into();
    }
    if let Some(at) = place(form, &["cardExpiryDate"]) {
        let text = digits(&form[at].1);
        let cv2 = text.len() == 3 || (text.len() == 4 && !has_cv2 && !Format::Month.admits(&text[..2]));
        if cv2 || text.len() > 6 {
            form[at].1 = without_digits(&form[at].1).into();
        }
    }
}

/// Returns the fields over which a number is split: the entered number, or else a number that consists of all digits of
/// adjacent fields.
fn split(form: &[(Cow<'_, str>, Cow<'_, str>)], number: Option<&str>) -> BTreeSet<usize> {
    let mut all = String::new();
    // Each field with digits, and the end of its digits.
    let mut fields: Vec<(usize, usize)> = Vec::new();
    for (at, (_, value)) in form.iter().enumerate().filter(|(_, (name, _))| is_open(name)) {
        let before = all.len();
        all.extend(value.chars().filter_map(digit).map(char::from));
        if all.len() > before {
            fields.push((at, all.len()));
        }
    }
    let mut found = vec![false; fields.len()];
    if let Some(number) = number {
        let mut first = 0;
        for (start, window) in all.as_bytes().windows(number.len()).enumerate() {
            if window == number.as_bytes() {
                first += fields[first..].iter().take_while(|(_, end)| *end <= start).count();
                let last = fields[first..].iter().take_while(|(_, end)| *end < start + number.len()).count();
                found[first..=first + last].fill(true);
            }
        }
    } else {
        let starts = std::iter::once(0).chain(fields.iter().map(|(_, end)| *end));
        for (first, start) in starts.take(fields.len()).enumerate() {
            for (last, (_, end)) in fields.iter().enumerate().skip(first).take(MOST_FIELDS) {
                if end - start > *LENGTHS.end() {
                    break;
                }
                if last > first && is_card_number(&all[start..*end]) {
                    found[first..=last].fill(true);
                }
            }
        }
    }
    fields.into_iter().zip(found).filter(|(_, found)| *found).map(|((at, _), _)| at).collect()
}

fn without_digits(text: &str) -> String {
    text.chars().map(|letter| if digit(letter).is_some() { '*' } else { letter }).collect()
}

/// The ASCII digit for a decimal digit of any script.
fn digit(letter: char) -> Option<u8> {
    mask::digit(letter).map(|value| b'0' + value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAN: &str = "4000000000001000";

    fn form(pairs: &[(&str, &str)]) -> Vec<String> {
        masked_form(pairs).into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn an_entered_number_is_found_however_it_is_written() {
        for (text, wanted) in [
            ("4000 0000 0000 1000", "4000 00** **** 1000"),
            ("é 4000-0000-0000-1000é", "é 4000-00**-****-1000é"),
            ("4000, 0000, 0000, 1000", "4000, 00**, ****, 1000"),
            ("4000x0000y0000z1000", "4000x00**y****z1000"),
            ("４０００００００００００１０００", "４０００００******１０００"),
            ("4000000000001000 4000000000001000", "400000******1000 400000******1000"),
            ("44000000000001000", "4400000******1000"),
            ("4000 0000 0000 100", "4000 0000 0000 100"),
        ] {
            assert_eq!(masked(text, Some(PAN), Search::Entered), wanted);
        }
    }

    #[test]
    fn other_numbers_are_found_where_they_are_likely() {
        for (text, wanted) in [
            ("4000.0000.0000.1000", "4000.00**.****.1000"),
            ("40 / 00 / 00 / 00 / 00 / 00 / 10 / 00", "40 / 00 / 00 / ** / ** / ** / 10 / 00"),
            ("no 5200000000000007!", "no 520000******0007!"),
            // Adjacent digits belong to something else.
            ("40000000000010001230", "400000******10001230"),
            ("12-4000000000001000-9", "12-400000******1000-9"),
            ("124000000000001000", "12400000******1000"),
            ("40000000000010005200000000000007", "400000******1000520000******0007"),
            ("⁴⁰⁰⁰⁰⁰⁰⁰⁰⁰⁰⁰¹⁰⁰⁰", "⁴⁰⁰⁰⁰⁰******¹⁰⁰⁰"),
            // Another check digit, no scheme's digits, another length.
            ("4000000000001001", "4000000000001001"),
            ("1234567890123452", "1234567890123452"),
            ("order 2026-05-04 10:00:00", "order 2026-05-04 10:00:00"),
        ] {
            assert_eq!(masked(text, None, Search::Likely), wanted);
        }
        for other in ["DE08337790519001514408", "1765031763019399145@x.example", "40000000000010001230", "202611281117"]
        {
            assert_eq!(masked(other, None, Search::Whole), other);
        }
        for number in [PAN, "no 4000 0000 0000 1000!", "4000.0000.0000.1000", "4006381300063", "%34000000000001000"] {
            assert_ne!(masked(number, None, Search::Whole), number);
        }
        assert_eq!(masked_in_token("customerMobile", "4000000000006", PAN), "4000000000006");
        assert_eq!(masked("4000000000001001", None, Search::Any), "400000******1001");
        assert_eq!(masked("20 26 11 21 100000", None, Search::Any), "20 26 11 ** 100000".replace("100000", "**0000"));
        assert!(masked(&"4".repeat(LONGEST_ROW + 1), None, Search::Likely).contains("***"));
    }

    #[test]
    fn a_number_in_the_expiry_is_hidden() {
        for (pairs, wanted) in [
            (vec![("cardNumber", "x"), ("cardExpiryDate", PAN)], vec!["x", "****************"]),
            (vec![("cardExpiryMonth", "40000000"), ("cardExpiryYear", "00001000")], vec!["********", "********"]),
            (vec![("cardExpiryMonth", "12"), ("cardExipryYear", PAN)], vec!["**", "****************"]),
            (vec![("cardExpiryMonth", "917"), ("cardExpiryYear", "30")], vec!["***", "30"]),
            (vec![("cardExpiryMonth", "12"), ("cardExpiryYear", "9173")], vec!["12", "****"]),
            (vec![("cardExpiryMonth", "13"), ("cardExpiryYear", "2030")], vec!["13", "2030"]),
            (vec![("cardExpiryDate", "05/30")], vec!["05/30"]),
            (vec![("cardExpiryDate", "9173")], vec!["****"]),
            (vec![("cardExpiryDate", "1330"), ("cardCV2", "917")], vec!["1330", "917"]),
        ] {
            assert_eq!(form(&pairs), wanted, "{pairs:?}");
        }
    }

    #[test]
    fn a_number_split_over_fields_is_hidden() {
        let halves = [("cardholderName", "40000000"), ("collectNote", "A 00001000")];
        assert_eq!(form(&halves), ["********", "A ********"]);
        let entered = [&[("cardNumber", PAN)][..], &halves].concat();
        assert_eq!(form(&entered), [PAN, "********", "A ********"]);
        let other = [("cardNumber", PAN), ("collectA", "12345678"), ("collectB", "12345670")];
        assert_eq!(form(&other), [PAN, "12345678", "12345670"]);
    }

    #[test]
    fn the_start_of_a_form_is_masked_like_the_whole_form() {
        let digits: Vec<(String, String)> =
            PAN.chars().enumerate().map(|(at, digit)| (format!("collect{at}"), digit.to_string())).collect();
        for (last, shown) in
            [(("other".to_owned(), "x".to_owned()), "4"), (("cardNumber".to_owned(), PAN.to_owned()), "*")]
        {
            let form = [&digits[..], &vec![("collect".to_owned(), "917".to_owned()); 100], &[last]].concat();
            let whole = masked_form(&form);
            assert_eq!(whole[0].1, shown);
            for most in [0, 1, 3, 16, 50, 117, 200] {
                let pairs = form.iter().map(|(name, value)| (&**name, &**value));
                assert_eq!(owned(masked_start(pairs, most)), whole[..most.min(whole.len())], "{most}");
            }
        }
    }

    #[test]
    fn a_cv2_in_the_wrong_field_is_hidden() {
        for (pairs, wanted) in [
            (vec![("cardholderName", "Z Other 917"), ("cardCV2", "917")], vec!["Z Other ***", "917"]),
            (vec![("cardholderName", " 9173")], vec![" ****"]),
            (vec![("cardholderName", "Z Other 2nd"), ("cardCV2", "917")], vec!["Z Other 2nd", "917"]),
            (vec![("cardholderName", "CV2 917 Z Other 2nd"), ("cardCV2", "917")], vec!["CV2 *** Z Other 2nd", "917"]),
            (vec![("cardholderName", "cv2:9-1-7, 9-17"), ("cardCV2", "917")], vec!["cv2:*-*-*, *-**", "917"]),
            (
                vec![("cardNumber", PAN), ("cardDescription", "4000 0000 0000 1000 CV2 917"), ("cardCV2", "917")],
                vec![PAN, "4000 00** **** 1000 CV2 ***", "917"],
            ),
            (vec![("collectCvv", "on 1 of 2 cards: 917"), ("cardCV2", "917")], vec!["on 1 of 2 cards: ***", "917"]),
            (vec![("collectCvv", "917"), ("collectQuantity", "917")], vec!["***", "917"]),
            (vec![("collectSecurityCode", "917"), ("collect_security_code", "917")], vec!["***", "***"]),
            (vec![("collect-card.security-code", "9173"), ("collect.security.level", "917")], vec!["****", "917"]),
            (vec![("collect_card_verification_value", "917"), ("collectCid", "917")], vec!["***", "917"]),
        ] {
            assert_eq!(form(&pairs), wanted, "{pairs:?}");
        }
    }

    #[test]
    fn telephone_numbers_stay() {
        // 13 digits that begin as a Visa number does, with the right check digit.
        assert_eq!(form(&[("customerMobile", "4000000000006")]), ["4000000000006"]);
        assert_eq!(form(&[("cardNumber", PAN), ("customerMobile", PAN)])[1], "400000******1000");
    }

    proptest! {
        #[test]
        fn no_number_comes_through(before in "[a-z .%-]{0,5}", gap in "[ ./,–-]{0,3}", after in "[a-z .%-]{0,5}") {
            let (start, end) = PAN.split_at(8);
            let text = format!("{before}{start}{gap}{end}{after}");
            for search in [Search::Likely, Search::Any] {
                prop_assert!(!digits(&masked(&text, None, search)).contains(PAN), "{}", text);
            }
        }

        #[test]
        fn any_form_keeps_its_length(form in proptest::collection::vec(("[a-zA-Z]{0,20}", ".{0,60}"), 0..9)) {
            let shown = masked_form(&form);
            prop_assert_eq!(shown.len(), form.len());
            for ((_, shown), (_, sent)) in shown.iter().zip(&form) {
                prop_assert_eq!(shown.chars().count(), sent.chars().count());
            }
        }
    }
}
