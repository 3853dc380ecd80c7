//! Requests: what is signed and encoded, against a signature made by Python's hashlib.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use bytes::Bytes;
use pg_crypto::{ShaKey, verify};
use pg_model::{
    Auth, AuthSessionKey, CardDetails, Currency, Encoding, GetToken, Item, Order, Parameters, RequestAccountUpdater,
    TransactionLookup,
};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, Misuse, Preview, RawRequest, parameters_of};
use proptest::prelude::*;

const SESSION: &str = "0123456789abcdef0123456789abcdef";

/// Made by Python.
const EXPECTED: &str = "320068414eff6c4d171dcff39b9912e4beef3bd2dd0b6c92a9f0f831851c9f72\
    a830179cace668de70d5538bff736b26cf6d3b57306984aa5b1699ee08a34f43";

fn account() -> Account {
    Account::new(
        BaseUrl::parse("https://gateway.example").expect("an address"),
        Credentials::new("key", "pass word", "s3cret"),
    )
    .encoding(Encoding::Json)
}

fn pairs(request: &http::Request<Bytes>) -> Vec<(String, String)> {
    form_urlencoded::parse(request.body()).into_owned().collect()
}

fn signature(request: &http::Request<Bytes>) -> String {
    pairs(request).into_iter().find(|(name, _)| name == "shaSignature").map(|(_, value)| value).expect("a signature")
}

// spec: 1 §5, A52
#[test]
fn a_request_is_signed_as_an_independent_tool_signs_it() {
    // hashlib.sha512 over name=value + key of the parameters sorted by str.lower, empty ones dropped.
    let mut order = Order::new(Currency::GBP)
        .item(Item::new("Tea & milk", 499).quantity(2))
        .unique_merchant_reference("order-7")
        .merchant_customer_reference("")
        .merchant_reference("Grüße +1");
    for number in 1..=10 {
        order = order.item(Item::new(format!("n{number}"), number));
    }
    let request = account().request(&AuthSessionKey::new(SESSION, order)).unwrap();
    assert_eq!(request.method(), http::Method::POST);
    assert_eq!(request.uri(), "https://gateway.example/v3/transaction/authSessionKey/json");
    assert_eq!(request.headers()["content-type"], "application/x-www-form-urlencoded");
    assert_eq!(signature(&request), EXPECTED);
    // An empty value is sent, since it can mean something, but not signed.
    assert!(pairs(&request).contains(&("merchantCustomerReference".into(), String::new())));
}

#[test]
fn every_violation_is_reported_at_once_and_no_card_data_is_repeated() {
    let card = CardDetails::new("4111 1111 1111 1111", "13", "2026").cv2("12");
    let order = Order::new("pounds").item(Item::new("", 1)).merchant_reference("r".repeat(33));
    let error = account().request(&Auth::new(card, order)).unwrap_err();
    let names: Vec<_> = error.violations().unwrap().iter().map(|violation| violation.name.as_str()).collect();
    assert_eq!(
        names,
        ["cardNumber", "cardExpiryMonth", "cardExpiryYear", "cardCV2", "currency", "itemName0", "merchantReference"]
    );
    let text = format!("{error} {error:?}");
    assert!(!text.contains("1111") && !text.contains("\"12\""), "{text}");
    assert!(text.contains("spec 2 §4.3"), "{text}");
}

#[test]
fn an_unchecked_request_is_sent_despite_violations() {
    let order = Order::new("pounds");
    let auth = AuthSessionKey::new(SESSION, order);
    assert!(matches!(account().request(&auth), Err(Misuse::Invalid(_))));
    assert!(pairs(&account().request_unchecked(&auth).unwrap()).contains(&("currency".into(), "pounds".into())));
}

// spec: 3 §5
#[test]
fn version_5_carries_its_own_credentials_and_no_signature() {
    let token = GetToken::new().success_url("https://shop.example/thanks");
    assert!(matches!(account().request(&token), Err(Misuse::NoEnterpriseCredentials)));
    let base = BaseUrl::parse("https://gateway.example/enterprise").unwrap();
    let request = account().enterprise(base, EnterpriseCredentials::new("ek", "ep")).request(&token).unwrap();
    assert_eq!(request.uri(), "https://gateway.example/enterprise/gettoken");
    let expected =
        [("api_key", "ek"), ("api_password", "ep"), ("version", "5"), ("success_url", "https://shop.example/thanks")];
    assert_eq!(pairs(&request), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn card_keys_are_joined_by_commas_and_signed_as_one_value() {
    let keys = ["a-1", "b-2", "c-3"];
    let request = account().request(&RequestAccountUpdater::new("updater", keys)).unwrap();
    assert!(pairs(&request).contains(&("cardKey".into(), "a-1,b-2,c-3".into())));
    let sent = pairs(&request);
    let borrowed: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert!(verify(&borrowed, &ShaKey::new("s3cret"), &signature(&request)).is_ok());
}

#[test]
fn a_preview_hides_what_must_not_be_seen() {
    let card = CardDetails::new("4111111111111111", "12", "30").cv2("987").cardholder_name("A Holder");
    let request = account().request(&Auth::new(card, Order::new(Currency::GBP).item(Item::new("Tea", 1)))).unwrap();
    let preview = Preview::of(&request).to_string();
    for hidden in ["4111111111111111", "987", "pass word", "s3cret", "apiKey=key"] {
        assert!(!preview.contains(hidden), "{hidden} in {preview}");
    }
    for shown in ["cardNumber=411111******1111", "cardCV2=***", "cardholderName=A Holder", "/v3/transaction/auth/json"]
    {
        assert!(preview.contains(shown), "{shown} not in {preview}");
    }
    for (misspelt, value) in [
        ("cardcv2", "987"),
        ("collectCV2", "987"),
        ("CVV", "987"),
        ("collect_security_code", "987"),
        ("Card-Verification.Value", "987"),
        ("mcc_surname", "geheim"),
        ("apipassword", "geheim"),
        ("CARDNUMBER", "4111111111111111"),
    ] {
        assert!(!pg_proto::shown(misspelt, value).contains(value), "{misspelt}");
    }
    let named =
        http::Request::post("https://gateway.example/x").body("4111111111111111=x&itemName0=Tea".into()).unwrap();
    assert!(Preview::of(&named).to_string().ends_with("\n  411111******1111=x\n  itemName0=Tea"));
    let debugged = format!("{:?}", account());
    assert!(!debugged.contains("pass word") && !debugged.contains("s3cret"), "{debugged}");
}

#[test]
fn a_typed_request_can_carry_what_its_type_lacks() {
    let lookup = TransactionLookup::new().unique_merchant_reference("order-7");
    let further = Parameters::from_iter([("Zone", "b"), ("aardvark", "1")]);
    let request = account().request_with(&lookup, &further).unwrap();
    let sent = pairs(&request);
    let borrowed: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert!(sent.contains(&("Zone".into(), "b".into())) && sent.contains(&("aardvark".into(), "1".into())));
    assert!(verify(&borrowed, &ShaKey::new("s3cret"), &signature(&request)).is_ok());
}

#[test]
fn a_raw_method_cannot_leave_its_path() {
    for name in ["", "../x", "a/b", "a?b", "a b", "é"] {
        assert!(matches!(account().request_raw(&RawRequest::gateway(name)), Err(Misuse::MethodName(_))), "{name}");
    }
}

proptest! {
    /// The streaming signer of typed requests and the sorting signer of raw ones are two ways to one signature.
    #[test]
    fn typed_and_raw_requests_have_one_signature(
        items in prop::collection::vec(("\\PC{1,20}", any::<u64>(), prop::option::of(any::<u64>())), 0..25),
        reference in prop::option::of("\\PC{0,20}"),
    ) {
        let mut order = Order::new(Currency::GBP);
        for (name, price, quantity) in items {
            let item = Item::new(name, price);
            order = order.item(match quantity { Some(quantity) => item.quantity(quantity), None => item });
        }
        if let Some(reference) = reference {
            order = order.merchant_reference(reference);
        }
        let auth = AuthSessionKey::new(SESSION, order);
        let typed = account().request_unchecked(&auth).unwrap();
        let raw = account().request_raw(&RawRequest::of(<AuthSessionKey as pg_model::ApiRequest>::INFO, parameters_of(&auth))).unwrap();
        prop_assert_eq!(signature(&typed), signature(&raw));
        prop_assert_eq!(pairs(&typed), pairs(&raw));
    }
}
