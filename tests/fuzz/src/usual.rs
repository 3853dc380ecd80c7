//! Valid requests, for tests that break one part of them, and the keys that their replies name.

use std::{collections::HashMap, hash::BuildHasher};

use bytes::Bytes;
use http::Response;
use pg_model::method::{AuthScheme, MethodInfo};
use pg_sandbox::merchants::Merchant;
use serde_json::Value;

/// Values that integrations often get wrong.
pub const VALUES: [&str; 18] = [
    "",
    "\0",
    "\u{202e}\u{10ffff}",
    "-1",
    "0",
    "00000000000000000000000000000001",
    "1e309",
    "0.001",
    "184467440737095516.16",
    "9223372036854775807",
    "18446744073709551615",
    "٣",
    "<![CDATA[",
    "https://[::1",
    "http://127.0.0.1:0/?#",
    "31022999",
    "4000000000001000",
    "1",
];

/// The value of a parameter in a valid request, except for card numbers and callback addresses. `known` has the keys
/// that replies named, by the names of parameters.
#[must_use]
pub fn value<S: BuildHasher>(
    method: &MethodInfo,
    wire: &str,
    merchant: &Merchant,
    known: &HashMap<&'static str, String, S>,
) -> Option<String> {
    let fixed = match wire {
        "cardExpiryMonth" => "12",
        "cardExpiryYear" if method.service.name == "transaction" => "49",
        "cardExpiryYear" => "2049",
        "cardCV2" => "917",
        "currency" => "GBP",
        "itemName{n}" | "item_name[{n}]" => "Tea",
        "itemPrice{n}" => "499",
        "item_price[{n}]" | "trans_value" => "4.99",
        "errorPageUrl" | "nextPageUrl" | "currentPageUrl" | "returnUrl" => "https://shop.example/page",
        "accountUpdaterKey" => merchant.account_updater_key.as_ref()?.expose(),
        "msisdn" => "447700900000",
        "message" => "Hello",
        "property_name" if method.name == "address" => "1",
        "postcode" if method.name == "address" => "SW1A 1AA",
        "trans_type" if method.name == "repeat" => "Auth",
        _ => known.get(wire)?,
    };
    Some(fixed.to_owned())
}

/// The credentials of a call, without the signature.
#[must_use]
pub fn credentials(method: &MethodInfo, merchant: &Merchant) -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    match method.credentials {
        AuthScheme::Session => Vec::new(),
        AuthScheme::Signed => {
            vec![pair("apiKey", merchant.api_key.expose()), pair("apiPassword", merchant.api_password.expose())]
        }
        AuthScheme::Enterprise => {
            let own = merchant.enterprise.as_ref().unwrap();
            vec![
                pair("api_key", own.api_key.expose()),
                pair("api_password", own.api_password.expose()),
                pair("version", "5"),
            ]
        }
    }
}

/// The value of a field in a JSON or XML reply, unless it is empty.
#[must_use]
pub fn found_in(response: &Response<Bytes>, name: &str) -> Option<String> {
    fn within(value: &Value, name: &str) -> Option<String> {
        let members = value.as_object()?;
        let own = members.get(name).and_then(Value::as_str).map(str::to_owned);
        own.or_else(|| members.values().find_map(|inner| within(inner, name)))
    }
    let text = std::str::from_utf8(response.body()).ok()?;
    let found = match serde_json::from_str(text) {
        Ok(value) => within(&value, name),
        Err(_) => Some(text.split_once(&format!("<{name}>"))?.1.split_once('<')?.0.to_owned()),
    };
    found.filter(|key| !key.is_empty())
}
