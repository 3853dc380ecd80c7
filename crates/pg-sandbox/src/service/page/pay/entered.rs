//! The card as a customer entered it.

use pg_model::{format::Format, mask};

use crate::{
    cards, expiry, form::Form, records::Details, secret::Secret, service::transaction::PayingCard, timestamp::Timestamp,
};

/// The most characters of a name.
const LONGEST_NAME: usize = 128;

/// The inputs of the form. Number and CV2 never leave this type for a page.
pub(super) struct Entered {
    /// Without the blanks and hyphens that people group it with.
    number: Secret,
    month: String,
    year: String,
    cv2: Secret,
    /// The cardholder's name; what looks like a card number in it is masked.
    pub(super) name: String,
}

/// What is wrong with one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    /// The input's name.
    pub(super) field: &'static str,
    /// What the customer reads beside it.
    pub(super) message: &'static str,
}

impl Entered {
    /// The inputs of a posted form; one that is missing is empty.
    pub(super) fn of(form: &Form) -> Self {
        let text = |name: &str| form.get(name).unwrap_or_default().trim();
        let number: String =
            text("cardNumber").chars().filter(|letter| !(letter.is_whitespace() || *letter == '-')).collect();
        let month = text("cardExpiryMonth");
        let padded = month.len() == 1 && month.bytes().all(|byte| byte.is_ascii_digit());
        Self {
            number: Secret::new(number),
            month: if padded { format!("0{month}") } else { month.to_owned() },
            year: text("cardExpiryYear").to_owned(),
            cv2: Secret::new(text("cardCV2")),
            name: mask::text(text("cardholderName")),
        }
    }

    /// What a customer finds entered already: the name that the merchant has given.
    pub(super) fn of_customer(user: &Details) -> Self {
        let names = ["first_name", "surname"].iter().filter_map(|name| user.get(*name).map(String::as_str));
        Self {
            number: Secret::new(""),
            month: String::new(),
            year: String::new(),
            cv2: Secret::new(""),
            name: mask::text(&names.collect::<Vec<_>>().join(" ")),
        }
    }

    /// Month and year for the form to show again; what is no date could be anything.
    pub(super) fn shown_expiry(&self) -> (&str, &str) {
        let shown = |text: &str, most: usize| text.len() <= most && text.bytes().all(|byte| byte.is_ascii_digit());
        (
            if shown(&self.month, 2) { self.month.as_str() } else { "" },
            if shown(&self.year, 4) { self.year.as_str() } else { "" },
        )
    }

    /// Everything that is wrong, in the order of the form.
    pub(super) fn faults(&self, now: Timestamp) -> Vec<Fault> {
        let number = self.number.expose();
        let year = expiry::four_digits(&self.year);
        let (month_is_one, year_is_one) = (Format::Month.admits(&self.month), Format::Year.admits(&self.year));
        let length = (12..=19).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        let checks = [
            (number.is_empty(), "cardNumber", "Enter the number on the front of your card"),
            (
                !number.is_empty() && (!length || !cards::luhn_valid(number)),
                "cardNumber",
                "This is not a card number; please check its digits",
            ),
            (!month_is_one, "cardExpiryMonth", "Enter the month in two digits, from 01 to 12"),
            (!year_is_one, "cardExpiryYear", "Enter the year in two or four digits"),
            (
                month_is_one && year_is_one && expiry::is_past(&self.month, &year, now),
                "cardExpiryYear",
                "This card has expired",
            ),
            (!Format::Cv2.admits(self.cv2.expose()), "cardCV2", "Enter the 3 or 4 digits of the security code"),
            (
                !Format::Text.admits(&self.name) || self.name.chars().count() > LONGEST_NAME,
                "cardholderName",
                "Enter the name as it is written on the card",
            ),
        ];
        let wrong = checks.into_iter().filter(|(wrong, ..)| *wrong);
        wrong.map(|(_, field, message)| Fault { field, message }).collect()
    }

    /// The card of a form without faults. Its CV2 is dropped with the form (assumption 101).
    pub(super) fn card(&self) -> PayingCard {
        PayingCard::new(self.number.clone(), &self.month, &expiry::four_digits(&self.year))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Limits;

    fn faults(body: &str) -> Vec<&'static str> {
        let entered = Entered::of(&Form::parse(body.as_bytes(), &Limits::default()).unwrap());
        let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
        entered.faults(now).iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let all = ["cardNumber", "cardExpiryMonth", "cardExpiryYear", "cardCV2"];
        assert_eq!(faults(""), all);
        assert_eq!(faults("cardNumber=1&cardExpiryMonth=13&cardExpiryYear=x&cardCV2=12"), all);
        let right = "cardNumber=4000+0000-0000+1000&cardExpiryMonth=5&cardExpiryYear=26&cardCV2=123";
        assert!(faults(right).is_empty());
        // As it is copied from a page that keeps its groups together.
        assert!(faults(&right.replace("4000+0000", "4000%C2%A00000%09")).is_empty());
        assert_eq!(faults(&right.replace("Month=5", "Month=4")), ["cardExpiryYear"]);
        assert_eq!(faults(&right.replace("1000&", "1001&")), ["cardNumber"]);
        assert_eq!(faults(&format!("{right}&cardholderName=a%0Ab")), ["cardholderName"]);
        assert_eq!(faults(&format!("{right}&cardholderName={}", "a".repeat(129))), ["cardholderName"]);
    }

    #[test]
    fn a_number_in_another_input_is_not_shown() {
        let body =
            "cardExpiryMonth=4000000000001000&cardExpiryYear=4000000000001000&cardholderName=4000+0000+0000+1000";
        let entered = Entered::of(&Form::parse(body.as_bytes(), &Limits::default()).unwrap());
        assert_eq!(entered.shown_expiry(), ("", ""));
        assert_eq!(entered.name, "4000 00** **** 1000");
    }
}
