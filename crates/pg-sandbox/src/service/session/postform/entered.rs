//! The expiry and the number as the customer entered them.

use pg_model::{PostForm, format::Format, mask};

use crate::{expiry, timestamp::Timestamp};

/// Returns month and year as entered, valid or not; a single date is split after its second character (A82).
pub(super) fn expiry(form: &PostForm) -> (&str, &str) {
    let (month, year) = split(given(form.card_expiry_date.as_ref()).unwrap_or_default());
    (given(form.card_expiry_month.as_ref()).unwrap_or(month), given(form.card_expiry_year.as_ref()).unwrap_or(year))
}

/// Returns the month in two and the year in four digits, if they are a date that is not in the past. If both forms of
/// the expiry are given, they must agree (A81).
pub(super) fn valid_expiry(form: &PostForm, now: Timestamp) -> Option<(String, String)> {
    let (month, entered_year) = expiry(form);
    if !Format::Month.admits(month) || !Format::Year.admits(entered_year) {
        return None;
    }
    let year = expiry::four_digits(entered_year);
    let agrees = given(form.card_expiry_date.as_ref())
        .map(split)
        .is_none_or(|(other_month, other_year)| other_month == month && expiry::four_digits(other_year) == year);
    (agrees && !expiry::is_past(month, &year, now)).then(|| (month.to_owned(), year))
}

/// Whether the number could be a card's: 12 to 19 digits, whatever its check digit.
pub(super) fn looks_like_a_number(number: &str) -> bool {
    (12..=19).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the number in the form in which it is returned. A value that is not a card number may be secret (A82).
pub(super) fn masked_number(number: &str) -> String {
    if looks_like_a_number(number) { mask::card_number(number) } else { "*".repeat(number.chars().count()) }
}

fn given(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

fn split(date: &str) -> (&str, &str) {
    let middle = date.char_indices().nth(2).map_or(date.len(), |(at, _)| at);
    date.split_at(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> PostForm {
        PostForm::new("k", "4111111111111111", "https://shop.example/", "https://shop.example/")
    }

    // spec: 2 §2.2, A82
    #[test]
    fn the_expiry_is_taken_in_every_form() {
        let now = Timestamp::parse("2026-05-31T23:59:59.999Z").unwrap();
        let june = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
        let good = Some(("05".to_owned(), "2026".to_owned()));
        for form in [
            form().card_expiry_month("05").card_expiry_year("26"),
            form().card_expiry_month("05").card_expiry_year("2026"),
            form().card_expiry_date("0526"),
            form().card_expiry_date("052026"),
            form().card_expiry_date("0526").card_expiry_month("05").card_expiry_year("2026"),
            form().card_expiry_date("052026").card_expiry_year("26"),
        ] {
            assert_eq!(valid_expiry(&form, now), good, "{form:?}");
            assert_eq!(valid_expiry(&form, june), None, "{form:?}");
        }
        for form in [
            form().card_expiry_month("13").card_expiry_year("30"),
            form().card_expiry_month("5").card_expiry_year("30"),
            form().card_expiry_month("05").card_expiry_year("030"),
            form().card_expiry_month("05").card_expiry_year("0030"),
            form().card_expiry_date("05"),
            form().card_expiry_date("05/30"),
            form().card_expiry_date("0530").card_expiry_month("06").card_expiry_year("30"),
            form().card_expiry_date("0530").card_expiry_month("05").card_expiry_year("2031"),
        ] {
            assert_eq!(valid_expiry(&form, now), None, "{form:?}");
        }
    }

    #[test]
    fn dates_are_split_between_characters() {
        for (date, wanted) in [("", ("", "")), ("é", ("é", "")), ("éüö", ("éü", "ö")), ("1226", ("12", "26"))] {
            assert_eq!(split(date), wanted);
        }
    }

    // spec: 2 §2.2, A82
    #[test]
    fn input_that_is_no_card_number_is_masked_completely() {
        assert_eq!(masked_number("4111111111111111"), "411111******1111");
        assert_eq!(masked_number("4111 1111 1111 1111"), "*".repeat(19));
        assert_eq!(masked_number("41111111111111112222"), "*".repeat(20));
    }
}
