//! Parameters that a method does not have, although a client that sends them expects an effect: references, amounts and
//! items. Ignoring them would charge another amount, or would not prevent a second payment, so they are refused (A150
//! and A151).

use pg_model::{
    ErrorCode,
    method::{MethodInfo, RetrySafety},
};

use super::{
    gate,
    names::{Names, letters},
    refusal::Refusal,
    spelling::MOST_COMPARED,
};
use crate::form::{Form, shown};
use crate::{assumed, codes::SandboxErrorCode};

/// Names of references in either version, in small letters without separators.
const REFERENCES: [&str; 4] =
    ["merchantreference", "uniquemerchantreference", "merchantcustomerreference", "transreference"];
/// Parts of the names of amounts, in the same spelling.
const AMOUNTS: [&str; 7] = ["value", "amount", "price", "quantity", "total", "transactionv", "itemname"];

/// Parts of the names of item numbers, in the same spelling.
const PARTS_OF_ITEMS: [&str; 5] = ["price", "quantity", "qty", "amount", "total"];
/// The letters of parameters whose loss changes the payment.
const DECISIVE: [&str; 10] = [
    "currency",
    "terminalkey",
    "transtype",
    "tokenuses",
    "tokenredemptions",
    "tokenstart",
    "tokenexpiry",
    "dsecure",
    "transactionvalue",
    "transvalue",
];
const VALUE: &str = "transactionValue";

/// Returns the refusal for the first such parameter of a request to the gateway or to version 5.
pub(super) fn refusal(info: &MethodInfo, form: &Form) -> Option<Refusal> {
    if !matches!(info.service.name, "transaction" | "enterprise") {
        return None;
    }
    // An amount left empty by mistake would become the whole amount.
    if info.fields.iter().any(|field| field.wire == VALUE) && form.get(VALUE) == Some("") {
        return Some(
            Refusal::from(ErrorCode::INVALID_TRANSACTION_VALUE).assuming(assumed::AMOUNTS_THAT_A_METHOD_DOES_NOT_HAVE),
        );
    }
    let whole = takes_all_without_a_value(info) && form.get(VALUE).is_none();
    let names = Names::of(info);
    let unknown = |name: &str| !gate::is_credential(info.credentials, name) && names.find(name).is_none();
    let given = form.iter().filter(|(name, value)| !value.is_empty() && unknown(name));
    given.enumerate().find_map(|(at, (name, value))| {
        // Of thousands of names, only the first are compared letter by letter.
        let meant = if at < MOST_COMPARED { names.meant(name) } else { None };
        let refusal = of(info, names, name, meant.as_deref().unwrap_or_default());
        refusal.or_else(|| (whole && is_number(value)).then(|| amount(name)))
    })
}

/// Whether a request without `transactionValue` is for the whole amount of the original.
fn takes_all_without_a_value(info: &MethodInfo) -> bool {
    info.fields.iter().any(|field| field.wire == VALUE && !field.required)
}

fn is_number(value: &str) -> bool {
    let value = value.trim();
    value.len() <= 15 && value.parse::<f64>().is_ok()
}

fn amount(name: &str) -> Refusal {
    Refusal::from(SandboxErrorCode::MISPLACED_AMOUNT).about(shown(name))
}

fn of(info: &MethodInfo, names: &Names, name: &str, meant: &str) -> Option<Refusal> {
    let spelt: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let has = |wire: &str| names.has(wire);
    if REFERENCES.contains(&spelt.as_str()) || REFERENCES.contains(&meant.to_ascii_lowercase().as_str()) {
        let detail = if info.service.version == 5 { "version 5 has no such reference here" } else { "unknown here" };
        let refusal = Refusal::from(SandboxErrorCode::MISPLACED_REFERENCE);
        return Some(refusal.about(&format!("{}, {detail}", shown(name))));
    }
    let makes = has("uniqueMerchantReference") && info.retry != RetrySafety::Safe;
    let whole = makes
        && !has("itemPrice{n}")
        && (meant == "transactionValue" || AMOUNTS.iter().any(|amount| spelt.contains(amount)));
    let has_items = has("itemPrice{n}") || has("item_price[{n}]");
    let item = has_items
        && (spelt.starts_with("item")
            || meant.starts_with("item")
            || PARTS_OF_ITEMS.iter().any(|part| spelt.contains(part)));
    if whole || item {
        return Some(amount(name));
    }
    let spelt = letters(name);
    let decisive =
        DECISIVE.contains(&letters(meant).as_str()) || (spelt.starts_with("currency") && names.has_letters("currency"));
    (decisive || (!spelt.is_empty() && names.has_letters(&spelt))).then(|| {
        let told =
            if meant.is_empty() { shown(name).to_owned() } else { format!("{}, did you mean {meant}?", shown(name)) };
        Refusal::from(SandboxErrorCode::INVALID_PARAMETER)
            .about(&told)
            .assuming(assumed::AMOUNTS_THAT_A_METHOD_DOES_NOT_HAVE)
    })
}
