//! A walk through all services of the sandbox, and what can be seen on its way: that every field of every reply which the
//! tables know comes with a value, and that callbacks are sent for batches and hosted payments only.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod shapes;

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use http::{Method, Response};
use pg_crypto::SessionCipher;
use pg_model::{
    Encoding, EnterpriseError, METHODS, Record, RedirectData, ServiceError, decode_into, encode, method::AuthScheme,
};
use pg_sandbox::{Sandbox, Settings, Timestamp};
use pg_support::body_of;
use serde_json::Value;

use crate::walk::shapes::Shapes;

const CARD: &str = "4000000000001000";
const PAGE: &str = "https://shop.example/page";

/// Fields that need no value: a CV2 is never shown (spec 2 §2.2), of the acquirer's data the two steps of 3-D Secure
/// return only `bankECIValue`, which is a separate field, and the documents list no type for the status (spec 2 §4.4).
const NEED_NO_VALUE: &[(&str, &str)] = &[
    ("RedirectData", "cardCV2"),
    ("ThreeDSecureInitiation", "bank"),
    ("AuthenticationStatus", "bank"),
    ("AuthenticationStatus", "transactionType"),
];

struct Shop {
    sandbox: Sandbox,
    now: Timestamp,
    shapes: Shapes,
    seen: BTreeSet<(String, String)>,
}

impl Shop {
    fn open() -> Self {
        let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
        Self { sandbox: Sandbox::in_memory(), now, shapes: Shapes::load(), seen: BTreeSet::new() }
    }

    fn send(&mut self, method: Method, path: &str, body: String) -> Response<Bytes> {
        self.sandbox.handle(self.now, pg_support::request(method, path, body))
    }

    fn look(&mut self, record: &str, value: &dyn Record) -> Value {
        let value: Value = serde_json::from_str(&encode(value, Encoding::Json)).unwrap();
        self.shapes.see(record, &value, &mut self.seen);
        value
    }

    /// A call with the right credentials, whose reply is looked at.
    fn call(&mut self, name: &str, pairs: &[(&str, &str)]) -> Value {
        let (service, method) = name.split_once('/').unwrap();
        let method = METHODS.iter().find(|one| one.service.name == service && one.name == method).unwrap();
        let settings = Settings::default();
        let merchant = settings.merchants.by_name("main").unwrap();
        let (path, body) = pg_support::call(method, merchant, pairs);
        let response = self.send(Method::POST, &path, body);
        if response.status() != 200 {
            let (record, mut error): (_, Box<dyn Record>) = match method.credentials {
                AuthScheme::Enterprise => ("EnterpriseError", Box::new(EnterpriseError::default())),
                _ => ("ServiceError", Box::new(ServiceError::default())),
            };
            decode_into(response.body(), &mut *error).unwrap();
            return self.look(record, &*error);
        }
        let mut reply = (method.new_reply)();
        decode_into(response.body(), &mut *reply).unwrap();
        self.look(method.reply, &*reply)
    }

    /// The result of the card form in the redirect.
    fn post_form(&mut self, pairs: &[(&str, &str)]) {
        let response = self.send(Method::POST, "/v3/session/postform/json", body_of(pairs));
        let location = response.headers()["location"].to_str().unwrap().to_owned();
        let (_, query) = location.split_once('?').unwrap();
        let of = |name: &str| form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).unwrap().1;
        let settings = Settings::default();
        let key = settings.merchants.by_name("main").unwrap().api_key.expose();
        let text = SessionCipher::new(key).unwrap().decrypt(&of("data"), &of("iv")).unwrap();
        let mut data = RedirectData::default();
        decode_into(text.as_str().as_bytes(), &mut data).unwrap();
        self.look("RedirectData", &data);
    }

    fn card(&mut self, scenario: &str) -> String {
        let cards = self.send(Method::GET, "/_sandbox/cards", String::new());
        let cards: Value = serde_json::from_slice(cards.body()).unwrap();
        let found = cards.as_array().unwrap().iter().find(|card| card["scenario"] == scenario).unwrap();
        found["number"].as_str().unwrap().to_owned()
    }

    /// A session to which the browser has posted everything that the form can hold.
    fn session(&mut self, number: &str) -> String {
        let opened = self.call("session/initiate", &[("errorPageUrl", PAGE), ("merchantCustomerReference", "c-1")]);
        let key = text(&opened, "sessionKey");
        let method = METHODS.iter().find(|method| method.name == "postform").unwrap();
        let mut filled = vec![
            ("sessionKey", key.as_str()),
            ("cardNumber", number),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "2030"),
            ("cardCV2", "123"),
            ("collectColour", "blue"),
        ];
        for url in ["nextPageUrl", "currentPageUrl"] {
            filled.push((url, PAGE));
        }
        let rest = ["cardholder", "customer", "cardDescription"];
        let rest = method.fields.iter().filter(|field| rest.iter().any(|start| field.wire.starts_with(start)));
        filled.extend(rest.map(|field| (field.wire, "x")));
        self.post_form(&filled);
        key
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}")).to_owned()
}

const ORDER: &[(&str, &str)] = &[("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
const REFERENCES: &[(&str, &str)] = &[("merchantReference", "m-1"), ("uniqueMerchantReference", "u-1")];

fn cards_and_payments(shop: &mut Shop) {
    let number = shop.card("updater-700-a");
    let session = shop.session(&number);
    shop.post_form(&[("sessionKey", &session), ("cardNumber", "1"), ("nextPageUrl", PAGE), ("currentPageUrl", PAGE)]);
    shop.post_form(&[
        ("sessionKey", &session),
        ("cardNumber", "1"),
        ("cardExpiryDate", "1230"),
        ("nextPageUrl", PAGE),
        ("currentPageUrl", PAGE),
    ]);
    let paid = shop.call("transaction/authSessionKey", &[ORDER, REFERENCES, &[("sessionKey", &session)]].concat());
    let paid = text(&paid, "transactionKey");
    shop.call("transaction/refund", &[("transactionKey", &paid), ("transactionValue", "1")]);
    shop.call("transaction/lookup", &[("uniqueMerchantReference", "u-1")]);
    shop.call("transaction/lookup", &[("merchantReference", "m-1")]);
    let stored = shop.call("token/tokeniseTransactionKey", &[("transactionKey", &paid)]);
    let card = text(&stored["cardKeyDetails"]["0"], "cardKey");
    shop.call("token/lookup", &[("cardKey", &card)]);
    shop.call("token/enable", &[("cardKey", &card)]);
    let own = Settings::default().merchants.by_name("main").unwrap().account_updater_key.clone().unwrap();
    let batch = shop.call("token/requestAccountUpdater", &[("accountUpdaterKey", own.expose()), ("cardKey", &card)]);
    shop.now = shop.now.plus(Duration::from_secs(121));
    shop.call("token/retrieveAccountUpdater", &[("batchKey", &text(&batch, "batchKey"))]);
    shop.call("token/enable", &[("cardKey", "none")]);
}

fn three_d_secure(shop: &mut Shop) {
    let number = shop.card("challenge");
    let session = shop.session(&number);
    let asked = [("sessionKey", session.as_str()), ("returnUrl", PAGE)];
    let begun = shop.call("transaction/initiate3DSecureSessionKey", &[ORDER, &asked].concat());
    let key = text(&begun, "authenticationKey");
    shop.send(Method::POST, &format!("/3ds/{key}"), "outcome=authenticate".to_owned());
    shop.call("transaction/getAuthenticationStatus", &[("authenticationKey", &key)]);
}

fn checkout(shop: &mut Shop) {
    let items =
        [("item_name[0]", "Tea"), ("item_price[0]", "4.99"), ("item_quantity[0]", "2"), ("item_reference[0]", "t")];
    let customer = [
        ("salutation", "Dr"),
        ("first_name", "Ada"),
        ("surname", "Lovelace"),
        ("date_of_birth", "31011970"),
        ("mobile_phone", "447700900000"),
        ("home_phone", "442079460000"),
        ("property_name", "Elm House"),
        ("address_1", "1 Elm Street"),
        ("address_2", "Flat 2"),
        ("town", "Leeds"),
        ("county", "Yorkshire"),
        ("postcode", "LS1 1AA"),
        ("country", "GB"),
        ("callback_url", "http://127.0.0.1:80/told"),
    ];
    let token = shop.call("enterprise/gettoken", &[&items[..], &customer].concat());
    let id = text(&token["token"], "tokenid");
    let page = format!("/pay/{id}");
    shop.send(Method::GET, &page, String::new());
    let entered = body_of(&[
        ("cardNumber", CARD),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "2030"),
        ("cardCV2", "123"),
        ("cardholderName", "Ada"),
    ]);
    shop.send(Method::POST, &page, entered);
    let payments = shop.send(Method::GET, "/_sandbox/transactions", String::new());
    let payments: Value = serde_json::from_slice(payments.body()).unwrap();
    let paid = text(&payments[0], "transactionKey");
    shop.call("enterprise/transaction_lookup", &[("trans_key", &paid)]);
    let again = [("prev_trans_key", paid.as_str()), ("trans_type", "Auth"), ("trans_value", "1"), ("trans_class", "x")];
    shop.call("enterprise/repeat", &again);
    shop.call("enterprise/canceltoken", &[("tokenid", &id)]);
    shop.call("enterprise/canceltoken", &[]);
    shop.call("enterprise/sms", &[("msisdn", "447700900001"), ("message", "x")]);
    let addresses = shop.send(Method::GET, "/_sandbox/addresses", String::new());
    let addresses: Value = serde_json::from_slice(addresses.body()).unwrap();
    for known in addresses.as_array().unwrap() {
        let (house, postcode) = (text(known, "property_name"), text(known, "postcode"));
        shop.call("enterprise/address", &[("property_name", &house), ("postcode", &postcode)]);
    }
}

// spec: 3 §4, A41, A49: Each method is a POST of a form to its path; the reply is XML with HTTP 200.
// spec: 2 §4.4, A21; fields
#[test]
fn every_field_of_every_reply_is_given() {
    let mut shop = Shop::open();
    cards_and_payments(&mut shop);
    three_d_secure(&mut shop);
    checkout(&mut shop);
    let all = shop.shapes.all();
    let needed = |field: &&(String, String)| !NEED_NO_VALUE.contains(&(field.0.as_str(), field.1.as_str()));
    let missing: Vec<_> = all.difference(&shop.seen).filter(needed).collect();
    assert!(all.len() > 120, "{} fields", all.len());
    assert!(
        missing.is_empty(),
        "no reply of this walk gives {missing:?}: the sandbox must, and a call of the walk must send what they depend on"
    );
}

/// No other event is shown than the end of a batch and a hosted payment (spec 1 §6, 2 §6, 3 §6; A138).
// spec: 1 §6, A138: The token service sends no other notifications.
// spec: 2 §6, A138: The gateway sends no notifications.
#[test]
fn only_batches_and_hosted_payments_send_callbacks() {
    let mut shop = Shop::open();
    let told = |shop: &mut Shop| {
        let listed = shop.send(Method::GET, "/_sandbox/callbacks", String::new());
        let listed: Value = serde_json::from_slice(listed.body()).unwrap();
        listed.as_array().unwrap().iter().map(|callback| text(callback, "kind")).collect::<Vec<_>>()
    };
    cards_and_payments(&mut shop);
    three_d_secure(&mut shop);
    assert_eq!(told(&mut shop), Vec::<String>::new());
    checkout(&mut shop);
    assert_eq!(told(&mut shop), ["checkout"]);
}

/// In every method (A55); the signature is over it too, or the call would be refused.
// spec: 1 §4.1, A55, A29: Parameters that a method does not know are signed and ignored.
// spec: 2 §4.3, A55
#[test]
fn an_unknown_parameter_is_signed_and_ignored() {
    let mut shop = Shop::open();
    for method in METHODS.iter().filter(|method| method.credentials != AuthScheme::Session) {
        let name = format!("{}/{}", method.service.name, method.name);
        let known = shop.call(&name, &[("merchantReference", "m-1")]);
        let more = shop.call(&name, &[("merchantReference", "m-1"), ("recordedToo", "x"), ("aaa", "é&=")]);
        let code = |reply: &Value| [reply["errorCode"].clone(), reply["errorcode"].clone()];
        assert_eq!(code(&known), code(&more), "{name}: {more}");
        assert_ne!(more["errorCode"], "123", "{name}");
    }
    let paid = [("cardNumber", CARD), ("cardExpiryMonth", "12"), ("cardExpiryYear", "30"), ("recordedToo", "x")];
    assert_eq!(shop.call("transaction/auth", &[ORDER, &paid].concat())["transactionStatusCode"], "600");
}

/// The number to quote to the operator (spec 2 §7; A20).
// spec: 2 §7, A20: The trace code identifies an error; quote it to the operator.
#[test]
fn every_error_has_a_trace_code_of_its_own() {
    let mut shop = Shop::open();
    let errors: Vec<Value> = (0..20).map(|_| shop.call("token/enable", &[("cardKey", "none")])).collect();
    let codes: BTreeSet<String> = errors.iter().map(|error| text(error, "traceCode")).collect();
    assert_eq!(codes.len(), errors.len(), "{codes:?}");
    assert!(codes.iter().all(|code| code.len() == 9 && code.bytes().all(|b| b.is_ascii_digit())), "{codes:?}");
}
