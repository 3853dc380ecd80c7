//! The states of a card token and what leads from one to another (spec 1 §3.1, §4.3, §4.6).

use serde_json::{Value, json};

use crate::session_and_tokens::{
    GOOD, Shop,
    tokens::{key, token},
    with,
};

const UPDATE: &str = "token/updateCardKeyDetails";

fn lookup(shop: &mut Shop, card: &str) -> Value {
    shop.done("token/lookup", &[("cardKey", card)])["cardKeyDetails"]["0"].clone()
}

// spec: 1 §2.1: enabled is 1 or 0.
// spec: 1 §3.1 Transitions: A disabled token is enabled: OK.
// spec: 1 §3.1 Transitions: Enabling an enabled token succeeds and changes nothing.
// spec: 1 §3.1 Transitions: An enabled token is disabled: OK.
// spec: 1 §3.1, A60: Disabling a disabled token succeeds and changes nothing.
// spec: method token/enable; method token/disable; codes Flag 1 0
#[test]
fn a_token_is_enabled_and_disabled_from_either_state() {
    let mut shop = Shop::new();
    let made = token(&mut shop, "a", &[]);
    let card = key(&made);
    assert_eq!(made["enabled"], "1");
    for (method, flag) in [("enable", "1"), ("disable", "0"), ("disable", "0"), ("enable", "1"), ("disable", "0")] {
        let answer = shop.done(&format!("token/{method}"), &[("cardKey", &card)]);
        assert_eq!(answer, json!({ "result": "OK" }), "{method}");
        let mut wanted = made.clone();
        wanted["enabled"] = flag.into();
        assert_eq!(lookup(&mut shop, &card), wanted, "{method} changes the flag alone");
    }
    shop.done(UPDATE, &[("cardKey", &card), ("cardDescription", "blue")]);
    assert_eq!(lookup(&mut shop, &card)["enabled"], "0", "an update leaves the state");
}

// spec: 1 §3.1; method token/delete
#[test]
fn a_token_is_deleted_from_either_state_and_for_good() {
    let mut shop = Shop::new();
    for state in ["enable", "disable"] {
        let card = key(&token(&mut shop, "a", &[]));
        shop.done(&format!("token/{state}"), &[("cardKey", &card)]);
        assert_eq!(shop.done("token/delete", &[("cardKey", &card)]), json!({ "result": "OK" }));
        for method in ["enable", "disable", "delete", "updateCardKeyDetails"] {
            assert_eq!(shop.refused(&format!("token/{method}"), &[("cardKey", &card)]), "940", "{method}");
        }
        assert_eq!(lookup(&mut shop, &card), Value::Null);
    }
}

// spec: 1 §4.3, A58: A given merchantCustomerReference must be that of the card key.
// spec: 1 §3.1, A58
#[test]
fn a_customer_reference_must_match_the_token() {
    let mut shop = Shop::new();
    let (own, none) = (key(&token(&mut shop, "customer-7", &[])), key(&token(&mut shop, "", &[])));
    for method in ["enable", "disable", "updateCardKeyDetails", "delete"] {
        let path = format!("token/{method}");
        for (card, customer) in [(&own, "customer-8"), (&own, "Customer-7"), (&none, "customer-7")] {
            let pairs = [("cardKey", card.as_str()), ("merchantCustomerReference", customer)];
            assert_eq!(shop.refused(&path, &pairs), "941", "{method} {customer}");
        }
        for (card, customer) in [(&none, ""), (&own, "customer-7")] {
            shop.done(&path, &[("cardKey", card), ("merchantCustomerReference", customer)]);
        }
        assert!(method == "delete" || !lookup(&mut shop, &own).is_null());
    }
}

// spec: 1 §3.1, A150: A misspelt merchantCustomerReference is refused, since without it nothing would be checked.
// spec: 1 §4.3, A151
#[test]
fn a_misspelt_customer_reference_changes_no_token() {
    let mut shop = Shop::new();
    let own = key(&token(&mut shop, "customer-7", &[]));
    let before = lookup(&mut shop, &own);
    for method in ["enable", "disable", "delete", "updateCardKeyDetails"] {
        for name in ["MerchantCustomerReference", "merchant_customer_reference", "merchantCustomerRefrence"] {
            let pairs = [("cardKey", own.as_str()), (name, "customer-7")];
            assert_eq!(shop.refused(&format!("token/{method}"), &pairs), "963", "{method} {name}");
        }
    }
    let pairs = [("cardKey", own.as_str()), ("CardDescription", "x")];
    assert_eq!(shop.refused("token/updateCardKeyDetails", &pairs), "937");
    assert_eq!(lookup(&mut shop, &own), before);
}

// spec: 1 §4.6, A67: An address is replaced by sending all of its fields, including empty ones.
#[test]
fn an_address_is_replaced_if_all_its_fields_are_sent() {
    let mut shop = Shop::new();
    let names = ["PropertyName", "Line1", "Line2", "Line3", "Town", "County", "Postcode", "Country"];
    let names = names.map(|name| format!("cardholderAddress{name}"));
    let old: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "old")).collect();
    let card = key(&token(&mut shop, "a", &with(GOOD, &old)));
    let new = [("cardholderAddressLine1", "1 New Road"), ("cardholderAddressTown", "Newtown")];
    let sent = names.iter().map(|name| {
        let text = new.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
        (name.as_str(), text)
    });
    shop.done(UPDATE, &[("cardKey", card.as_str())].into_iter().chain(sent).collect::<Vec<_>>());
    let address = lookup(&mut shop, &card)["cardholderAddress"].clone();
    for name in &names {
        let wanted = new.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
        assert_eq!(address[name], wanted, "{name}");
    }
}
