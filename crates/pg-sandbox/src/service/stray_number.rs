//! Card numbers where none belongs: they are taken as they are, and the caller is told (assumption 200).

use pg_model::{format::Format, method::MethodInfo};

use super::{gate, warning::Warnings};
use crate::{
    card_numbers,
    form::{Form, shown},
};

/// The shortest number (spec 2 §8).
const FEWEST_DIGITS: usize = 12;
/// Longer values are lists of keys, or nothing that somebody typed.
const LONGEST: usize = 1_024;

/// Warns of each parameter whose value holds what looks like a card number, and says whether there is one.
pub(super) fn warn(info: &MethodInfo, form: &Form, warnings: &mut Warnings) -> bool {
    let mut found = false;
    for (name, value) in form.iter().filter(|(_, value)| has_digits(value)) {
        if takes_any_text(info, name) && is_likely(name, value) {
            found = true;
            let told = "holds what looks like a card number, which belongs in cardNumber alone";
            if warnings.is_full() { warnings.leave_out(1) } else { warnings.add(&format!("{} {told}", shown(name))) }
        }
    }
    found
}

fn has_digits(value: &str) -> bool {
    (FEWEST_DIGITS..=LONGEST).contains(&value.len())
        && value.bytes().filter(|byte| byte.is_ascii_digit() || !byte.is_ascii()).count() >= FEWEST_DIGITS
}

/// Whether a caller may write what it likes there. A key of the service may look like a number by chance.
fn takes_any_text(info: &MethodInfo, name: &str) -> bool {
    if gate::is_credential(info.credentials, name) || name.ends_with("Key") {
        return false;
    }
    info.fields.iter().find(|field| field.is_named(name)).is_none_or(|field| {
        !field.sensitive
            && matches!(
                field.format,
                Format::Text | Format::Lines | Format::Alphanumeric | Format::Digits | Format::Url
            )
    })
}

fn is_likely(name: &str, value: &str) -> bool {
    card_numbers::masked(value, None, card_numbers::search_in(name)) != value
}
