//! The expiry as a customer entered it: in one input, or in two for month and year (A180).

use pg_model::format::Format;

use crate::{expiry, form::Form, timestamp::Timestamp};

/// The input that customers see.
pub(super) const TOGETHER: &str = "cardExpiry";
/// The inputs that programs may fill in instead.
pub(super) const APART: [&str; 2] = ["cardExpiryMonth", "cardExpiryYear"];

/// The maximum number of characters of an expiry that are shown again: a longer text could be a card number.
const LONGEST_SHOWN: usize = 9;

/// Month and year, as far as they can be read.
pub(super) struct Expiry {
    /// The content of the input for both; empty if the customer left it empty.
    together: String,
    /// Two digits, or the entered text.
    pub(super) month: String,
    /// Two or four digits, or the entered text.
    pub(super) year: String,
}

impl Expiry {
    /// Returns the expiry of a posted form. The visible input takes precedence; the other two count if it is empty.
    pub(super) fn of(form: &Form) -> Self {
        let text = |name: &str| form.get(name).unwrap_or_default().trim();
        let together = text(TOGETHER);
        let (month, year) = if together.is_empty() {
            let [month, year] = APART.map(text);
            (month, year)
        } else {
            split(together).unwrap_or_default()
        };
        let padded = month.len() == 1 && month.bytes().all(|byte| byte.is_ascii_digit());
        let month = if padded { format!("0{month}") } else { month.to_owned() };
        Self { together: together.to_owned(), month, year: year.to_owned() }
    }

    /// Returns an empty expiry.
    pub(super) const fn none() -> Self {
        Self { together: String::new(), month: String::new(), year: String::new() }
    }

    /// Returns the year in four digits.
    pub(super) fn full_year(&self) -> String {
        expiry::four_digits(&self.year)
    }

    /// Returns the error of the expiry as text.
    pub(super) fn fault(&self, now: Timestamp) -> Option<&'static str> {
        let (month, year) = (&self.month, self.full_year());
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let checks = [
            (self.together.is_empty() && month.is_empty() && year.is_empty(), "Enter the expiry date of your card"),
            (
                !digits(month) || !Format::Year.admits(&self.year),
                "Enter the expiry date as on your card: two digits for the month, two for the year",
            ),
            (!Format::Month.admits(month), "Check the month of the expiry date: it is a number from 01 to 12"),
            (expiry::is_past(month, &year, now), "This card has expired"),
            (expiry::is_far_ahead(&year, now), "Check the year of the expiry date: no card is valid for that long"),
        ];
        checks.into_iter().find(|(wrong, _)| *wrong).map(|(_, message)| message)
    }

    /// Returns the values that the form shows again: in one input, for the month and for the year. Each stays in its
    /// input, so that neither a customer nor a program finds an old value in another input.
    pub(super) fn shown(&self) -> [String; 3] {
        let short = |text: &str, most: usize| {
            if text.len() <= most && text.bytes().all(|byte| byte.is_ascii_digit()) {
                text.to_owned()
            } else {
                String::new()
            }
        };
        if self.together.is_empty() {
            return [String::new(), short(&self.month, 2), short(&self.year, 4)];
        }
        let harmless = |letter: char| letter.is_ascii_digit() || " /-.".contains(letter);
        let together = if !self.month.is_empty() {
            format!("{} / {}", short(&self.month, 2), short(&self.year, 4))
        } else if self.together.chars().count() <= LONGEST_SHOWN && self.together.chars().all(harmless) {
            self.together.clone()
        } else {
            String::new()
        };
        [together, String::new(), String::new()]
    }
}

/// Month and year of one text: `08 / 30`, `8/2030`, `0830`, `082030`, and `2030-08` as some browsers fill in.
fn split(text: &str) -> Option<(&str, &str)> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let is_between = |letter: char| letter.is_whitespace() || "/-.".contains(letter);
    if !text.chars().all(|letter| is_digit(letter) || is_between(letter)) {
        return None;
    }
    let mut groups = text.split(is_between).filter(|group| !group.is_empty());
    let parts = (groups.next()?, groups.next(), groups.next());
    match parts {
        (year, Some(month), None) if year.len() == 4 && month.len() <= 2 => Some((month, year)),
        (month, Some(year), None) if month.len() <= 2 => Some((month, year)),
        (both, None, None) if both.len() == 3 => Some(both.split_at(1)),
        (both, None, None) if [4, 6].contains(&both.len()) => Some(both.split_at(2)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::FormLimits;

    fn expiry(body: &str) -> Expiry {
        Expiry::of(&Form::parse(body.as_bytes(), &FormLimits::default()).unwrap())
    }

    fn fault(body: &str) -> &'static str {
        let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
        expiry(body).fault(now).unwrap_or_default()
    }

    #[test]
    fn month_and_year_are_read_from_one_input() {
        for text in ["08 / 30", "8/30", "08/2030", "0830", "830", "082030", "08-30", "08.2030", "2030-08", " 08  30 "] {
            let body = format!("cardExpiry={}", text.replace(' ', "+"));
            let read = expiry(&body);
            assert_eq!((&*read.month, &*read.full_year()), ("08", "2030"), "{text}");
            assert_eq!(fault(&body), "", "{text}");
        }
        let apart = expiry("cardExpiry=+&cardExpiryMonth=8&cardExpiryYear=30");
        assert_eq!((&*apart.month, &*apart.year), ("08", "30"));
        // A customer corrects what they see.
        let both = expiry("cardExpiry=09%2F31&cardExpiryMonth=08&cardExpiryYear=30");
        assert_eq!((&*both.month, &*both.year), ("09", "31"));
    }

    // spec: 3 §1, A180
    #[test]
    fn each_mistake_has_its_own_message() {
        for (body, wanted) in [
            ("", "Enter the expiry date of your card"),
            ("cardExpiry=soon", "Enter the expiry date as"),
            ("cardExpiry=08", "Enter the expiry date as"),
            ("cardExpiry=08%2F203", "Enter the expiry date as"),
            ("cardExpiry=1%2F2%2F30", "Enter the expiry date as"),
            ("cardExpiryMonth=08", "Enter the expiry date as"),
            ("cardExpiryYear=2030", "Enter the expiry date as"),
            ("cardExpiry=13%2F30", "Check the month"),
            ("cardExpiryMonth=00&cardExpiryYear=30", "Check the month"),
            ("cardExpiry=04%2F26", "This card has expired"),
            ("cardExpiry=01%2F2999", "Check the year"),
            ("cardExpiryMonth=01&cardExpiryYear=2077", "Check the year"),
            ("cardExpiryMonth=12&cardExpiryYear=2076", ""),
            ("cardExpiry=05%2F26", ""),
        ] {
            let told = fault(body);
            assert!(if wanted.is_empty() { told.is_empty() } else { told.starts_with(wanted) }, "{body}: {told}");
        }
    }

    #[test]
    fn input_is_shown_again_in_its_field() {
        assert_eq!(expiry("cardExpiry=830").shown(), ["08 / 30", "", ""]);
        assert_eq!(expiry("cardExpiry=13%2F2030").shown(), ["13 / 2030", "", ""]);
        assert_eq!(expiry("cardExpiry=1+2+3").shown(), ["1 2 3", "", ""]);
        assert_eq!(expiry("cardExpiryMonth=5&cardExpiryYear=2030").shown(), ["", "05", "2030"]);
        for number in ["4000000000001000", "4000+0000+0000+1000", "soon"] {
            let body = format!("cardExpiry={number}&cardExpiryMonth={number}&cardExpiryYear={number}");
            assert_eq!(expiry(&body).shown(), ["", "", ""]);
        }
    }
}
