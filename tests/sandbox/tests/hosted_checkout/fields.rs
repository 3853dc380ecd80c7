//! Every reply holds every field that the document lists for it; only what a table calls conditional may be absent
//! (spec 3 §2; A42).

use crate::hosted_checkout::{DECLINED, ORDER, PAN, Shop, with};

/// The fields of a token, in the order of the document.
pub(super) const TOKEN: [&str; 15] = [
    "tokenid",
    "merchant",
    "applet",
    "redemption_url",
    "token_start",
    "token_expiry",
    "creation",
    "uses",
    "redemptions",
    "success_url",
    "cancel_url",
    "callback_url",
    "trans_type",
    "trans_cat",
    "currency",
];
const USER: [&str; 13] = [
    "salutation",
    "first_name",
    "surname",
    "date_of_birth",
    "mobile_phone",
    "home_phone",
    "property_name",
    "address_1",
    "address_2",
    "town",
    "county",
    "postcode",
    "country",
];
const RESULT: [&str; 7] =
    ["trans_type", "trans_value", "prev_trans_key", "system_action", "status", "trans_key", "auth_code"];

// spec: 3 §2.1, A115
#[test]
fn a_token_has_every_field() {
    let mut shop = Shop::new();
    let item = [("item_name[0]", "Tea"), ("item_price[0]", "4.99")];
    let head = [&["serviceResponse", "token"][..], &TOKEN, &["user"], &USER, &["items"]].concat();
    let bare = shop.done("gettoken", &item);
    assert_eq!(bare.names(), [&head[..], &["item", "name", "price"]].concat());
    let set = shop.done("gettoken", &[&item[..], &[("item_quantity[0]", "2"), ("item_reference[0]", "T")]].concat());
    assert_eq!(set.names(), [&head[..], &["item", "name", "price", "quantity", "reference"]].concat());
    assert_eq!(shop.done("gettoken", &[]).names(), head);
}

#[test]
fn every_result_has_every_field() {
    let mut shop = Shop::new();
    let paid = shop.paid(&[]);
    let pair = |key| [("prev_trans_key", key), ("trans_value", "1.00")];
    let names = [&["serviceResponse"][..], &RESULT].concat();
    let repeated = shop.done("repeat", &[&pair(&paid)[..], &[("trans_type", "Auth")]].concat());
    assert_eq!(repeated.names(), names);
    assert_eq!(shop.done("refund", &pair(&paid)).names(), names);
    let reserved = shop.paid(&[("trans_type", "PreAuth")]);
    assert_eq!(shop.done("capture", &pair(&reserved)).names(), names);
    let reserved = shop.paid(&[("trans_type", "PreAuth")]);
    assert_eq!(shop.done("cancel", &pair(&reserved)).names(), names);
    // trans_class is echoed when it was supplied.
    let classed = shop.done("refund", &[&pair(&paid)[..], &[("trans_class", "spring")]].concat());
    assert_eq!(classed.text("trans_class"), "spring");
}

// spec: 3 §2.3, A127
#[test]
fn every_utility_has_every_field() {
    let mut shop = Shop::new();
    for number in ["447700900123", "447700900000"] {
        let sent = shop.done("sms", &[("msisdn", number), ("message", "Hello")]);
        assert_eq!(sent.names(), ["serviceResponse", "sms", "msisdn", "message", "status", "messid"]);
        assert_eq!(sent.text("messid").is_empty(), number.ends_with("0000"));
    }
    for known in shop.control("addresses").as_array().unwrap() {
        let (property, postcode) = (known["property_name"].as_str(), known["postcode"].as_str());
        let pairs = [("property_name", property.unwrap()), ("postcode", postcode.unwrap())];
        let fields = ["status", "address_1", "address_2", "town", "county", "postcode"];
        assert_eq!(shop.done("address", &pairs).names(), [&["serviceResponse", "address"][..], &fields].concat());
    }
    let token = shop.token(&[("auto_redirect", "1")]);
    let hosted = shop.pay(&token, PAN).trans_key();
    let found = shop.done("transaction_lookup", &[("trans_key", &hosted)]);
    assert_eq!(found.names(), ["serviceResponse", "status", "token", "value", "currency"]);
    assert_eq!(found.text("token"), token);
    assert_eq!(shop.done("canceltoken", &[("tokenid", &token)]).names(), ["serviceResponse", "status"]);
}

/// A 3-D Secure check asks whose card it is: it is not a payment, and so no payment that failed.
// spec: 3 §3.1, A125
#[test]
fn a_check_is_not_a_failed_payment() {
    let mut shop = Shop::new();
    let token = shop.token(&[("trans_reference", "checked"), ("3D_secure", "1"), ("auto_redirect", "1")]);
    let challenge = shop.pay(&token, "4000000000005001");
    let found = shop.version_3("transaction/lookup", &[("merchantReference", "checked")]);
    let check = &found["transactions"]["0"];
    assert_eq!(check["transactionType"], "3DSecureCheck");
    let key = check["transactionKey"].as_str().unwrap().to_owned();
    assert_eq!(shop.status_of(&key), "3DSecureCheck", "{}", challenge.location());
    shop.ask(http::Method::POST, challenge.location(), "outcome=authenticate");
    assert_eq!(shop.status_of(&key), "3DSAuthenticatedOnly");
    let declined = shop.token(&[]);
    shop.pay(&declined, DECLINED);
    let transactions = shop.control("transactions");
    let newest = transactions[0]["transactionKey"].as_str().unwrap().to_owned();
    assert_eq!(shop.status_of(&newest), "Failed");
}

// spec: 3 §4.1, A143
#[test]
fn integers_and_words_have_more_than_one_spelling() {
    let mut shop = Shop::new();
    let paid = shop.paid(&[]);
    for (word, wanted) in [("auth", "auth"), ("AUTH", "auth"), ("preauth", "preauth"), ("PREAUTH", "preauth")] {
        let pairs = [("prev_trans_key", &*paid), ("trans_value", "01.00"), ("trans_type", word)];
        assert_eq!(shop.done("repeat", &pairs).text("trans_type"), wanted, "{word}");
        assert_eq!(shop.done("gettoken", &with(ORDER, &[("trans_type", word)])).text("trans_type"), wanted);
    }
    for (name, value) in [
        ("token_uses", "007"),
        ("token_redemptions", "-01"),
        ("token_start", "01777888800"),
        ("item_quantity[0]", "002"),
        ("item_price[0]", "04.99"),
        ("item_name[0]", " "),
    ] {
        shop.done("gettoken", &with(ORDER, &[(name, value)]));
    }
    let token = shop.done("gettoken", &with(ORDER, &[("token_uses", "007"), ("item_quantity[0]", "002")]));
    assert_eq!((token.text("uses"), token.text("quantity")), ("7".to_owned(), "2".to_owned()));
    // A plus sign or a blank is not a digit.
    for (name, code) in [("token_uses", "937"), ("token_start", "937"), ("item_quantity[0]", "107")] {
        for value in ["+5", " 5", "5 ", "5.0", "５"] {
            assert_eq!(shop.refused("gettoken", &with(ORDER, &[(name, value)])), code, "{name} {value:?}");
        }
    }
}
