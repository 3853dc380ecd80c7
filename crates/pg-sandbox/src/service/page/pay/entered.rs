//! The card as a customer entered it.

use pg_model::{format::Format, mask};

use super::expiry::{self, Expiry};
use crate::{
    cards, form::Form, records::Details, secret::Secret, service::transaction::PayingCard, timestamp::Timestamp,
};

/// The maximum number of characters of a name.
const LONGEST_NAME: usize = 128;

/// The inputs of the form. Number and CV2 never leave this type for a page.
pub(super) struct Entered {
    /// The number, without the spaces and hyphens between its groups.
    number: Secret,
    /// Month and year.
    pub(super) expiry: Expiry,
    cv2: Secret,
    /// The cardholder's name. A part that looks like a card number is masked.
    pub(super) name: String,
}

/// The error of one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FieldMistake {
    /// The input's name.
    pub(super) field: &'static str,
    /// The message beside it.
    pub(super) message: &'static str,
}

impl Entered {
    /// Reads the inputs of a posted form; a missing one is empty.
    pub(super) fn of(form: &Form) -> Self {
        let text = |name: &str| form.get(name).unwrap_or_default().trim();
        let number: String =
            text("cardNumber").chars().filter(|letter| !(letter.is_whitespace() || *letter == '-')).collect();
        Self {
            number: Secret::new(number),
            expiry: Expiry::of(form),
            cv2: Secret::new(text("cardCV2")),
            name: mask::text(text("cardholderName")),
        }
    }

    /// Returns prefilled inputs: the name that the merchant has sent.
    pub(super) fn of_customer(user: &Details) -> Self {
        let names = ["first_name", "surname"].iter().filter_map(|name| user.get(*name).map(String::as_str));
        Self {
            number: Secret::new(""),
            expiry: Expiry::none(),
            cv2: Secret::new(""),
            name: mask::text(&names.collect::<Vec<_>>().join(" ")),
        }
    }

    /// Whether a number was entered that is another one than that of a card whose masked number this is.
    pub(super) fn is_other_than(&self, masked: &str) -> bool {
        let number = self.number.expose();
        !number.is_empty() && mask::card_number(number) != masked
    }

    /// Returns all errors in the order of the form; the first error of each input.
    pub(super) fn faults(&self, now: Timestamp) -> Vec<FieldMistake> {
        let faults = [
            ("cardNumber", self.number_fault()),
            (expiry::TOGETHER, self.expiry.fault(now)),
            ("cardCV2", self.code_fault()),
            ("cardholderName", self.name_fault()),
        ];
        faults
            .into_iter()
            .filter_map(|(field, message)| message.map(|message| FieldMistake { field, message }))
            .collect()
    }

    fn number_fault(&self) -> Option<&'static str> {
        let number = self.number.expose();
        first(&[
            (number.is_empty(), "Enter your card number"),
            (!number.bytes().all(|byte| byte.is_ascii_digit()), "Enter the card number in digits only"),
            (number.len() < 12, "This card number is too short: please check that all its digits are there"),
            (number.len() > 19, "This card number is too long: please check that no digit is repeated"),
            (!cards::luhn_valid(number), "One digit of this card number is wrong, or two are swapped: please check it"),
        ])
    }

    fn code_fault(&self) -> Option<&'static str> {
        let code = self.cv2.expose();
        first(&[
            (code.is_empty(), "Enter the security code of your card"),
            (!code.bytes().all(|byte| byte.is_ascii_digit()), "Enter the security code in digits only"),
            (
                !Format::Cv2.admits(code),
                "This security code has the wrong length: it has 3 digits, or 4 on American Express",
            ),
        ])
    }

    fn name_fault(&self) -> Option<&'static str> {
        first(&[
            (self.name.chars().count() > LONGEST_NAME, "Enter a name of at most 128 characters"),
            (!Format::Text.admits(&self.name), "Enter the name as it is written on the card, on one line"),
        ])
    }

    /// Returns the card of a form without errors. Its CV2 is dropped with the form (A101).
    pub(super) fn card(&self) -> PayingCard {
        PayingCard::new(self.number.clone(), &self.expiry.month, &self.expiry.full_year())
    }
}

fn first(checks: &[(bool, &'static str)]) -> Option<&'static str> {
    checks.iter().find(|(wrong, _)| *wrong).map(|(_, message)| *message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::FormLimits;

    fn faults(body: &str) -> Vec<&'static str> {
        let entered = Entered::of(&Form::parse(body.as_bytes(), &FormLimits::default()).unwrap());
        let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
        entered.faults(now).iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn all_mistakes_of_a_form_are_reported_at_once() {
        let all = ["cardNumber", "cardExpiry", "cardCV2"];
        assert_eq!(faults(""), all);
        assert_eq!(faults("cardNumber=1&cardExpiryMonth=13&cardExpiryYear=x&cardCV2=12"), all);
        let right = "cardNumber=4000+0000-0000+1000&cardExpiryMonth=5&cardExpiryYear=26&cardCV2=123";
        assert!(faults(right).is_empty());
        // As copied from a page with non-breaking spaces between the groups.
        assert!(faults(&right.replace("4000+0000", "4000%C2%A00000%09")).is_empty());
        assert_eq!(faults(&right.replace("Month=5", "Month=4")), ["cardExpiry"]);
        assert_eq!(faults(&right.replace("1000&", "1001&")), ["cardNumber"]);
        assert_eq!(faults(&format!("{right}&cardholderName=a%0Ab")), ["cardholderName"]);
        assert_eq!(faults(&format!("{right}&cardholderName={}", "a".repeat(129))), ["cardholderName"]);
    }

    #[test]
    fn each_mistake_in_number_and_code_has_its_own_message() {
        let told = |name: &str, value: &str| {
            let body = format!("{name}={value}");
            let entered = Entered::of(&Form::parse(body.as_bytes(), &FormLimits::default()).unwrap());
            let fault = if name == "cardNumber" { entered.number_fault() } else { entered.code_fault() };
            fault.unwrap_or_default()
        };
        let numbers =
            ["", "4000x", "40000", "40000000000010000000", "4000000000001001"].map(|number| told("cardNumber", number));
        let codes = ["", "12x", "12"].map(|code| told("cardCV2", code));
        let all: std::collections::BTreeSet<_> = numbers.iter().chain(&codes).collect();
        assert!(all.len() == 8 && !all.contains(&""), "{all:?}");
        assert_eq!((told("cardNumber", "4000000000001000"), told("cardCV2", "1234")), ("", ""));
    }

    #[test]
    fn a_number_in_another_input_is_not_shown() {
        let entered = Entered::of(&Form::parse(b"cardholderName=4000+0000+0000+1000", &FormLimits::default()).unwrap());
        assert_eq!(entered.name, "4000 00** **** 1000");
    }
}
