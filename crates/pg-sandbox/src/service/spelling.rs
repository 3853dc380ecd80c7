//! Parameters that a method does not know: what was probably meant by them (assumption 55), and spellings of the
//! documents that are read although they are misspelt (assumption 23).

use pg_model::{
    field::Field,
    method::{Credentials, MethodInfo},
};
use strsim::osa_distance;

use super::{gate, names::Names, warning::Warnings};
use crate::form::{Form, shown};

/// Longer names are nobody's slip, and comparing them takes time.
const LONGEST: usize = 64;

/// What a reply rests on because of the names that were sent, and what the caller is told about them.
pub(super) fn judge(info: &MethodInfo, form: &Form) -> (Vec<u16>, Warnings) {
    let (mut assumptions, mut warnings) = (Vec::new(), Warnings::default());
    let names = Names::of(info);
    for (name, _) in form.iter() {
        match names.field(name) {
            Some(field) if field.aliases.contains(&name) => {
                assumptions.push(23);
                warnings.add(&format!("{name} is misspelt and was read as {}", field.wire));
            }
            Some(_) => {}
            None if gate::is_credential(info.credentials, name) => {}
            None => {
                assumptions.push(55);
                // Only so many are told, and only for those the names are compared.
                if warnings.is_full() { warnings.leave_out(1) } else { warnings.add(&ignored(info, name)) }
            }
        }
    }
    (assumptions, warnings)
}

fn ignored(info: &MethodInfo, name: &str) -> String {
    let told = format!("{} is not a parameter of {info:?} and is not read", shown(name));
    match meant(info, name) {
        Some(meant) => format!("{told}: did you mean {meant}?"),
        None => told,
    }
}

/// The name that was probably meant.
pub(super) fn meant(info: &MethodInfo, name: &str) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    if let Some(rest) = collected(info, name) {
        return Some(format!("collect{rest}"));
    }
    let (letters, number) = (letters(name), number(name));
    let slips = match letters.len() {
        0..=2 => return None,
        3..=5 => 1,
        6..=11 => 2,
        _ => 3,
    };
    // A request may hold thousands of unknown names and is not authenticated yet. The distance is never less than the difference in
    // length, which costs nothing to compare.
    let (distance, nearest) = names(info)
        .map(|known| (self::letters(known), known))
        .filter(|(spelt, _)| spelt.len().abs_diff(letters.len()) <= slips)
        .map(|(spelt, known)| (osa_distance(&letters, &spelt), known))
        .min_by_key(|&(distance, _)| distance)?;
    (distance <= slips).then(|| nearest.replace("{n}", number.unwrap_or("0")))
}

/// What follows `collect` in a name that begins so in another letter case; those inputs are known by their prefix.
fn collected<'a>(info: &MethodInfo, name: &'a str) -> Option<&'a str> {
    const PREFIX: &str = "collect";
    let takes = info.fields.iter().any(|field| field.wire == "collect*");
    let (start, rest) = name.split_at_checked(PREFIX.len()).filter(|_| takes)?;
    start.eq_ignore_ascii_case(PREFIX).then_some(rest)
}

/// Every name that a method takes.
fn names(info: &MethodInfo) -> impl Iterator<Item = &'static str> {
    let credentials: &[&'static str] = match info.credentials {
        Credentials::Signed => &["apiKey", "apiPassword", "shaSignature"],
        Credentials::Enterprise => &["api_key", "api_password", "version"],
        Credentials::Session => &[],
    };
    let fields = info.fields.iter().map(|field: &&'static Field| field.wire);
    fields.filter(|wire| !wire.ends_with('*')).chain(credentials.iter().copied())
}

/// The letters of a name in small: other cases, underscores, brackets and numbers are no other name.
pub(super) fn letters(name: &str) -> String {
    let name = name.replace("{n}", "");
    name.chars().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// The number in a name.
fn number(name: &str) -> Option<&str> {
    let start = name.find(|letter: char| letter.is_ascii_digit())?;
    let digits = name[start..].split(|letter: char| !letter.is_ascii_digit()).next()?;
    let digits = if digits.bytes().all(|digit| digit == b'0') { "0" } else { digits.trim_start_matches('0') };
    (digits.len() <= 6).then_some(digits)
}

#[cfg(test)]
mod tests {
    use pg_model::{AuthCardKey, GetToken, Method as _, PostForm, TokenLookup, UpdateCardKeyDetails};

    use super::*;

    #[test]
    fn what_was_meant_is_told() {
        for (info, name, wanted) in [
            (UpdateCardKeyDetails::INFO, "cardHoldrName", Some("cardholderName")),
            (UpdateCardKeyDetails::INFO, "CardExpiryMonth", Some("cardExpiryMonth")),
            (UpdateCardKeyDetails::INFO, "card_expiry_month", Some("cardExpiryMonth")),
            (UpdateCardKeyDetails::INFO, "cardholderAddressLine22", Some("cardholderAddressLine1")),
            (UpdateCardKeyDetails::INFO, "orderNumber", None),
            (TokenLookup::INFO, "cardkey", Some("cardKey")),
            (TokenLookup::INFO, "api_key", Some("apiKey")),
            (TokenLookup::INFO, "x", None),
            (AuthCardKey::INFO, "item_price[3]", Some("itemPrice3")),
            (AuthCardKey::INFO, "itemPrize0", Some("itemPrice0")),
            (AuthCardKey::INFO, "uniqueMerchantRefrence", Some("uniqueMerchantReference")),
            (GetToken::INFO, "itemName0", Some("item_name[0]")),
            (GetToken::INFO, "callbackUrl", Some("callback_url")),
            (PostForm::INFO, "Collect-size", Some("collect-size")),
            (PostForm::INFO, "cardCvv", Some("cardCV2")),
        ] {
            assert_eq!(meant(info, name).as_deref(), wanted, "{info:?} {name}");
        }
        assert_eq!(meant(TokenLookup::INFO, &"cardKey".repeat(10)), None);
    }
}
