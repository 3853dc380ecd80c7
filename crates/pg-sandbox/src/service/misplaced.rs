//! Parameters that a method does not have, although a client that sends them expects an effect: references, amounts and
//! items. They are refused (A150 and A151), since without them another amount would be charged, or a second payment
//! would not be prevented. So are misspelt parameters of token methods that change something: without its reference, a
//! deletion is not checked.

use pg_model::method::MethodInfo;

use super::{
    gate,
    names::{MOST_COMPARED, Names, is_near, letters},
    refusal::Refusal,
};
use crate::form::{Form, shown};
use crate::{assumed, codes::SandboxErrorCode};

// All names below are written as [`letters`] returns them.

/// References in either version.
const REFERENCES: [&str; 4] =
    ["merchantreference", "uniquemerchantreference", "merchantcustomerreference", "transreference"];
/// Parts of the names of amounts.
const AMOUNTS: [&str; 7] = ["value", "amount", "price", "quantity", "total", "transactionv", "itemname"];
/// Parts of the names of item numbers.
const PARTS_OF_ITEMS: [&str; 5] = ["price", "quantity", "qty", "amount", "total"];
/// Names of the amount of a whole payment.
const VALUES: [&str; 3] = ["value", "transactionvalue", "transvalue"];
const CURRENCY: &str = "currency";
const KIND: &str = "transtype";
const THREE_D_SECURE: &str = "dsecure";
/// Parameters whose loss changes the payment, each with its other names.
const DECISIVE: [(&str, &[&str]); 10] = [
    (CURRENCY, &["transcurrency", "transactioncurrency", "paymentcurrency"]),
    ("terminalkey", &["terminal", "terminalid"]),
    (KIND, &["transactiontype", "paymenttype"]),
    ("tokenuses", &["uses", "maxuses", "tokenmaxuses"]),
    ("tokenredemptions", &["redemptions", "maxredemptions", "tokenmaxredemptions"]),
    ("tokenstart", &["start", "starttime", "startdate", "tokenbegin"]),
    ("tokenexpiry", &["expiry", "expires", "expirytime", "expirydate", "end", "endtime", "tokenend", "tokenexpires"]),
    (THREE_D_SECURE, &["ds", "threeds", "threedsecure"]),
    ("transactionvalue", &[]),
    ("transvalue", &[]),
];
const VALUE: &str = "transactionValue";
/// Parameters that the methods share which create a transaction (spec 2 §4.3). A number is no amount there.
const SHARED: [&str; 6] =
    [CURRENCY, "terminalkey", "mccaccountidentifier", "mccsurname", "mccpostcode", "mccdateofbirth"];

/// Returns the refusal for the first such parameter of a request to the gateway, to version 5, or to a token method that
/// changes something.
pub(super) fn refusal(info: &MethodInfo, form: &Form) -> Option<Refusal> {
    match info.service.name {
        "transaction" | "enterprise" => {}
        "token" if !matches!(info.name, "lookup" | "retrieveAccountUpdater") => {}
        _ => return None,
    }
    let whole = takes_all_without_a_value(info) && form.get(VALUE).is_none();
    let names = Names::of(info);
    let unknown = |name: &str| !gate::is_credential(info.credentials, name) && names.find(name).is_none();
    let given = form.iter().filter(|(name, value)| !value.is_empty() && unknown(name));
    given.enumerate().find_map(|(at, (name, value))| {
        let refusal = of(info, names, name, at < MOST_COMPARED);
        let may_be_amount = || whole && is_number(value) && !SHARED.contains(&&*letters(name));
        refusal.or_else(|| may_be_amount().then(|| amount(name))).map(|refusal| refusal.because_of(name))
    })
}

/// Whether a request without `transactionValue` is for the whole amount of the original.
fn takes_all_without_a_value(info: &MethodInfo) -> bool {
    info.fields.iter().any(|field| field.wire == VALUE && !field.required)
}

/// Whether a value could be an amount: digits, and at most one point. Not a word such as `nan`, or `1e5`.
fn is_number(value: &str) -> bool {
    let value = value.trim();
    let value = value.strip_prefix(['+', '-']).unwrap_or(value);
    value.len() <= 15
        && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().filter(|byte| *byte == b'.').count() <= 1
}

fn amount(name: &str) -> Refusal {
    Refusal::from(SandboxErrorCode::MISPLACED_AMOUNT).about(shown(name))
}

/// Returns the currency of a request whose method takes it from the original and has no such parameter (A151).
pub(super) fn stray_currency<'f>(info: &MethodInfo, form: &'f Form) -> Option<&'f str> {
    let is_of_original = |names: &Names| names.moves_money() && !names.has(CURRENCY);
    form.given(CURRENCY).filter(|_| is_of_original(Names::of(info)))
}

/// `is_compared` says whether the name is compared letter by letter: of thousands of names, only the first are.
fn of(info: &MethodInfo, names: &Names, name: &str, is_compared: bool) -> Option<Refusal> {
    let meant = if is_compared { names.meant(name) } else { None }.unwrap_or_default();
    let (spelt, probable) = (letters(name), letters(&meant));
    let is_either = |list: &[&str]| list.contains(&&*spelt) || list.contains(&&*probable);
    if is_either(&REFERENCES) {
        return Some(Refusal::from(SandboxErrorCode::MISPLACED_REFERENCE).about(shown(name)));
    }
    let moves_money = names.moves_money();
    let has_items = names.has("itemPrice{n}") || names.has("item_price[{n}]");
    let whole = moves_money
        && info.service.version == 3
        && !has_items
        && (meant == VALUE || AMOUNTS.iter().any(|amount| spelt.contains(amount)));
    let item = has_items
        && (spelt.starts_with("item")
            || meant.starts_with("item")
            || PARTS_OF_ITEMS.iter().any(|part| spelt.contains(part)));
    if whole || item || (moves_money && VALUES.contains(&&*spelt)) {
        return Some(amount(name));
    }
    // The parameter is compared with the original's currency.
    if moves_money && name == CURRENCY {
        return None;
    }
    let means_currency = spelt.starts_with(CURRENCY) || (is_compared && is_near(&spelt, CURRENCY));
    let decisive = DECISIVE.iter().find(|&&(wire, others)| {
        is_either(&[wire]) || others.contains(&&*spelt) || (wire == CURRENCY && means_currency)
    });
    let decisive = decisive.map(|&(wire, _)| wire);
    let is_absent = |wire| match wire {
        CURRENCY => moves_money,
        KIND => names.makes_payment(),
        THREE_D_SECURE => names.makes_payment() && !info.name.contains("3DSecure"),
        _ => false,
    };
    let decisive = decisive.filter(|&wire| names.has_letters(wire) || is_absent(wire));
    if decisive.is_some() && name.replace('_', "").eq_ignore_ascii_case(CURRENCY) {
        return Some(amount(name).assuming(assumed::MISSPELT_AMOUNTS));
    }
    if decisive.is_none() && (spelt.is_empty() || !names.has_letters(&spelt)) {
        return None;
    }
    let known = info
        .fields
        .iter()
        .map(|field| field.wire)
        .find(|wire| decisive.is_some_and(|decisive| letters(wire) == decisive));
    let meant = if meant.is_empty() { known.unwrap_or_default() } else { &meant };
    let hint = match decisive {
        _ if !meant.is_empty() => format!(", did you mean {meant}?"),
        Some(KIND) => ", the method decides the kind".to_owned(),
        Some(THREE_D_SECURE) => ", the method has no 3-D Secure".to_owned(),
        _ => String::new(),
    };
    let told = shown(name).to_owned() + &hint;
    Some(
        Refusal::from(SandboxErrorCode::INVALID_PARAMETER)
            .about(&told)
            .assuming(assumed::AMOUNTS_THAT_A_METHOD_DOES_NOT_HAVE),
    )
}
