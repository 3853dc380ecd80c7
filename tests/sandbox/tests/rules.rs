//! Every parameter rule of every method, one by one: a request that is valid except for one parameter is refused with
//! the code of assumption A45, and names the parameter where the code does not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use pg_model::{
    METHODS, ServiceError, decode_into,
    field::{Field, Length},
    format::Format,
    method::{AuthScheme, MethodInfo},
};
use pg_sandbox::{Sandbox, Settings, Timestamp};

/// Values that break one rule each, and whether the rule is that the parameter is missing.
fn bad(field: &Field) -> Vec<(String, bool)> {
    let mut values = Vec::new();
    if field.required {
        values.push((String::new(), true));
    }
    if let Length::Between(least, most) = field.length {
        values.push(("1".repeat(usize::from(most) + 1), false));
        if least > 1 {
            values.push(("1".repeat(usize::from(least) - 1), false));
        }
    }
    if let Some((least, most)) = field.range {
        values.extend([(least - 1).to_string(), (most + 1).to_string()].map(|value| (value, false)));
    }
    let broken = match field.format {
        Format::Text | Format::Lines => "a\u{7}b",
        Format::Alphanumeric => "é",
        Format::OneOf => "none",
        Format::Flag => "2",
        Format::Month => "13",
        Format::Decimal => "5,95",
        Format::CardKeys => "4f2c-91,",
        _ => "x y",
    };
    values.push((broken.to_owned(), false));
    values
}

/// The code of assumption A45, written down a second time.
fn expected(method: &MethodInfo, name: &str, missing: bool) -> &'static str {
    match name.trim_end_matches("[0]").trim_end_matches('0') {
        "cardNumber" => "108",
        "cardExpiryMonth" | "cardExpiryYear" => "109",
        "cardCV" | "cardCV2" => "110",
        "currency" => {
            if missing {
                "120"
            } else {
                "111"
            }
        }
        "itemPrice" | "itemQuantity" | "transactionValue" | "trans_value" | "item_price" | "item_quantity" => "107",
        "merchantReference" | "uniqueMerchantReference" | "merchantCustomerReference" | "trans_reference" => "125",
        "sessionKey" => "129",
        "errorPageUrl" => "133",
        "accountUpdaterKey" => "180",
        "batchKey" => "183",
        "callbackUrl" | "callback_url" => "184",
        _ if method.name == "requestAccountUpdater" && name == "cardKey" && !missing => "937",
        _ => {
            if missing {
                "938"
            } else {
                "937"
            }
        }
    }
}

fn call(sandbox: &mut Sandbox, method: &MethodInfo, parameters: &[(String, String)]) -> (u16, ServiceError, String) {
    let settings = Settings::default();
    let merchant = settings.merchants.by_name("main").unwrap();
    let pairs: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let (path, body) = pg_support::call(method, merchant, &pairs);
    let path = if method.credentials == AuthScheme::Signed { path + "/json" } else { path };
    let request = pg_support::request(http::Method::POST, &path, body);
    let response = sandbox.handle(Timestamp::parse("2026-05-04T10:00:00Z").unwrap(), request);
    let basis = pg_support::header(&response, "pg-basis");
    let mut error = ServiceError::default();
    decode_into(response.body(), &mut error).unwrap();
    (response.status().as_u16(), error, basis)
}

/// The parameters of a method, each right, with one of them changed. What is not required is left out, unless it is the
/// changed one or stands in the same item.
fn parameters(method: &MethodInfo, changed: &Field, value: &str) -> Vec<(String, String)> {
    let name = |field: &Field| field.wire.replace("{n}", "0").replace('*', "Colour");
    let chosen = method.fields.iter().filter(|field| field.required || std::ptr::eq(**field, changed));
    chosen
        .map(|field| {
            (name(field), if std::ptr::eq(*field, changed) { value.to_owned() } else { pg_support::sample(field) })
        })
        .collect()
}

// spec: 1 §4.3, A08: cardKey is the token to act on and is required.
// spec: 1 §4.7, A08: transactionKey is required.
// spec: 1 §7, A45: Each invalid or missing parameter has a code.
// spec: 1 §8 Limits: merchantCustomerReference has at most 45 characters in requests about a token.
// spec: 2 §4.3, A05, A12: A raw card has 13 to 19 digits without separators, a month and a year of two digits each; CV2
//   and name are optional.
// spec: 2 §4.4: initiate3DSecureSessionKey needs returnUrl, to which the customer returns.
// spec: 1 §2.1, A01, A04; 1 §4.6, A10; 1 §7, A40; 1 §8; 2 §8; 3 §4.1; 3 §7, A112; 3 §8
// spec: parameters signed enterprise; codes ErrorCode 108 109 110 120 125 184
// spec: codes SandboxErrorCode 937 938
#[test]
fn every_rule_of_every_parameter_is_kept() {
    let mut sandbox = pg_stores::sandbox();
    let mut rules = 0;
    for &method in METHODS.iter().filter(|method| method.credentials != AuthScheme::Session) {
        for &field in method.fields {
            let name = field.wire.replace("{n}", "0");
            for (value, missing) in bad(field) {
                let place = format!("{method:?} {name}={value:?}");
                let (status, error, basis) = call(&mut sandbox, method, &parameters(method, field, &value));
                let code = expected(method, &name, missing);
                assert_eq!((status, error.error_code.as_str()), (400, code), "{place}: {}", error.error_message);
                assert!(
                    matches!(basis.as_bytes(), [b'1'..=b'3', b' ', ..]) && basis.contains(", A"),
                    "{place}: {basis}"
                );
                if code.starts_with('9') && method.credentials == AuthScheme::Signed {
                    assert!(error.error_message.ends_with(&name), "{place}: {}", error.error_message);
                }
                assert!(value.len() < 4 || !error.error_message.contains(&value), "{place}: {}", error.error_message);
                rules += 1;
            }
        }
    }
    assert!(rules > 300, "only {rules} rules were broken");
}

#[test]
fn a_valid_value_of_every_parameter_passes_the_format_check() {
    let mut sandbox = pg_stores::sandbox();
    for &method in METHODS.iter().filter(|method| method.credentials != AuthScheme::Session) {
        for &field in method.fields {
            let all = parameters(method, field, &pg_support::sample(field));
            let (_, error, _) = call(&mut sandbox, method, &all);
            let name = field.wire.replace("{n}", "0");
            let blamed = matches!(error.error_code.as_str(), "937" | "938") && error.error_message.ends_with(&name);
            assert!(!blamed, "{method:?} {name}: {}", error.error_message);
        }
    }
}

/// Lengths are counted in characters (A01); one more is refused, above.
// spec: 1 §8
#[test]
fn a_text_may_have_as_many_characters_as_its_table_says() {
    let mut sandbox = pg_stores::sandbox();
    let mut lengths = 0;
    for &method in METHODS.iter().filter(|method| method.credentials != AuthScheme::Session) {
        for &field in method.fields.iter().filter(|field| matches!(field.format, Format::Text | Format::Lines)) {
            let Length::Between(_, most) = field.length else { continue };
            let mut told = |value: &str| call(&mut sandbox, method, &parameters(method, field, value)).1;
            let (long, short) = (told(&"é".repeat(most.into())), told(&pg_support::sample(field)));
            assert_eq!(long.error_code, short.error_code, "{method:?} {}: {long:?}", field.wire);
            lengths += 1;
        }
    }
    assert!(lengths > 60, "only {lengths} lengths");
}

// spec: codes TransactionCategory donation debt booking; codes PaymentSource ecomm moto
#[test]
fn every_listed_value_is_taken() {
    let mut sandbox = pg_stores::sandbox();
    let mut values = 0;
    for &method in METHODS {
        for &field in method.fields.iter().filter(|field| !field.values.is_empty()) {
            for value in field.values {
                let (status, error, _) = call(&mut sandbox, method, &parameters(method, field, value));
                let place = format!("{method:?} {}={value}: {} {}", field.wire, status, error.error_code);
                assert!(!matches!(error.error_code.as_str(), "937" | "938"), "{place}");
                values += 1;
            }
        }
    }
    assert!(values >= 10, "only {values} values are listed");
}
