//! Parameters that a method does not have, although nobody sends them without meaning something: references,
//! amounts and items. Ignoring them would move another amount of money than was meant, or protect from nothing, so
//! they are refused (assumptions 150 and 151).

use pg_model::{
    SandboxErrorCode,
    method::{MethodInfo, Retry},
};

use super::{refusal::Refusal, spelling};
use crate::form::{Form, shown};

/// Names of references in either version, in small letters without separators.
const REFERENCES: [&str; 4] =
    ["merchantreference", "uniquemerchantreference", "merchantcustomerreference", "transreference"];
/// What names of amounts hold, in the same spelling.
const AMOUNTS: [&str; 7] = ["value", "amount", "price", "quantity", "total", "transactionv", "itemname"];

/// The refusal for the first such parameter of a request to the gateway or to version 5.
pub(super) fn refusal(info: &MethodInfo, form: &Form) -> Option<Refusal> {
    if !matches!(info.service.name, "transaction" | "enterprise") {
        return None;
    }
    let unknown = |name: &str| !info.fields.iter().any(|field| field.is_named(name));
    let mut given = form.iter().filter(|(name, value)| !value.is_empty() && unknown(name));
    given.find_map(|(name, _)| of(info, name))
}

fn of(info: &MethodInfo, name: &str) -> Option<Refusal> {
    let spelt: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let meant = spelling::meant(info, name);
    let meant = meant.as_deref().unwrap_or_default();
    let has = |wire: &str| info.fields.iter().any(|field| field.wire == wire);
    if REFERENCES.contains(&spelt.as_str()) || REFERENCES.contains(&meant.to_ascii_lowercase().as_str()) {
        let detail = if info.service.version == 5 { "version 5 has no such reference here" } else { "unknown here" };
        let refusal = Refusal::from(SandboxErrorCode::MISPLACED_REFERENCE);
        return Some(refusal.about(&format!("{}, {detail}", shown(name))));
    }
    let makes = has("uniqueMerchantReference") && info.retry != Retry::Safe;
    let whole = makes
        && !has("itemPrice{n}")
        && (meant == "transactionValue" || AMOUNTS.iter().any(|amount| spelt.contains(amount)));
    let item = has("itemPrice{n}") && (spelt.starts_with("item") || meant.starts_with("item"));
    (whole || item).then(|| Refusal::from(SandboxErrorCode::MISPLACED_AMOUNT).about(&shown(name)))
}
