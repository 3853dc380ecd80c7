//! Lists of records.

use http::Method;
use serde_json::{Value, json};

use crate::control::{CV2, PAN, Shop, order};

fn list(shop: &mut Shop, path: &str) -> Vec<Value> {
    shop.control(path, "").json().as_array().unwrap().clone()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The amounts of a transaction that can still be captured, cancelled and refunded.
fn left(shop: &mut Shop, key: &str) -> Value {
    let entry = shop.control(&format!("transactions/{key}"), "").json();
    json!([entry["capturable"], entry["cancellable"], entry["refundable"]])
}

#[test]
fn transactions_list_their_possible_operations() {
    let mut shop = Shop::new();
    let preauth = shop.call("transaction/preauth", &order("1000", "order-1")).json();
    let key = text(&preauth["transactionKey"]);
    assert_eq!(left(&mut shop, &key), json!([1000, 1000, 0]));
    shop.call("transaction/cancelpreauth", &[("transactionKey", &key), ("transactionValue", "100")]);
    assert_eq!(left(&mut shop, &key), json!([900, 900, 0]));
    let capture = shop.call("transaction/capturepreauth", &[("transactionKey", &key), ("transactionValue", "400")]);
    let capture = text(&capture.json()["transactionKey"]);
    shop.call("transaction/refund", &[("transactionKey", &capture), ("transactionValue", "150")]);
    assert_eq!(left(&mut shop, &key), json!([0, 0, 0]));
    assert_eq!(left(&mut shop, &capture), json!([0, 0, 250]));

    let all = list(&mut shop, "transactions");
    let types: Vec<_> = all.iter().map(|entry| entry["transactionType"].as_str().unwrap()).collect();
    assert_eq!(types, ["Refund", "Capture", "CancelPreAuth", "PreAuth"]);
    let first = &all[3];
    assert_eq!(
        (&first["amount"], &first["amountDecimal"], &first["currency"]),
        (&json!(1000), &json!("10.00"), &json!("GBP"))
    );
    assert_eq!(first["card"]["cardNumber"], "400000******1000");
    assert_eq!((&first["merchantReference"], &first["approved"]), (&json!("order-1"), &json!(true)));
    assert_eq!(all[2]["parent"], key);
    // The bank's numbers have one digit less than the shortest card number.
    for name in ["bankTransId", "bankOrderId"] {
        assert_eq!(first["bank"][name], preauth[name]);
        assert!(text(&preauth[name]).len() == 11 && text(&preauth[name]).bytes().all(|byte| byte.is_ascii_digit()));
    }
}

#[test]
fn tokens_and_sessions_are_shown_masked() {
    let mut shop = Shop::new();
    let session =
        text(&shop.call("session/initiate", &[("errorPageUrl", "https://shop.example/e")]).json()["sessionKey"]);
    let form = [
        ("sessionKey", session.as_str()),
        ("cardNumber", PAN),
        ("cardCV2", CV2),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "30"),
        ("nextPageUrl", "https://shop.example/next"),
        ("currentPageUrl", "https://shop.example/card"),
        ("collectNote", "is 4000 0000 0000 1000 mine?"),
    ];
    shop.ask(Method::POST, "/v3/session/postform", serde_urlencoded::to_string(form).unwrap());
    let held = &list(&mut shop, "sessions")[0];
    assert_eq!((&held["sessionKey"], &held["expired"]), (&json!(session), &json!(false)));
    assert_eq!(held["card"]["cardNumber"], "400000******1000");
    assert!(text(&held["collected"]["collectNote"]).contains("4000 00** **** 1000"), "{held}");

    let paid = text(&shop.pay(100, "order-1").json()["transactionKey"]);
    shop.call("token/tokeniseTransactionKey", &[("transactionKey", &paid)]);
    let token = &list(&mut shop, "tokens")[0];
    assert_eq!((&token["enabled"], &token["parent"]), (&json!(true), &json!(paid)));
    assert_eq!(token["card"]["cardNumber"], "400000******1000");
    let key = text(&token["cardKey"]);
    assert_eq!(shop.control(&format!("tokens/{key}"), "").json(), *token);
    shop.control("clock", r#"{"advanceSeconds": 1800}"#);
    assert_eq!(list(&mut shop, "sessions")[0]["expired"], true);
}

#[test]
fn lists_come_in_pages_and_by_merchant() {
    let mut shop = Shop::new();
    for number in 0..5 {
        let merchant = if number == 1 { "other" } else { "main" };
        shop.call_as(merchant, "transaction/auth", &order("100", &number.to_string()));
    }
    let references = |shop: &mut Shop, query: &str| {
        let found = list(shop, &format!("transactions{query}"));
        found.iter().map(|entry| text(&entry["merchantReference"])).collect::<String>()
    };
    assert_eq!(references(&mut shop, "?limit=2"), "43");
    let key = text(&list(&mut shop, "transactions?limit=2")[1]["transactionKey"]);
    assert_eq!(references(&mut shop, &format!("?limit=2&before={key}")), "21");
    assert_eq!(references(&mut shop, "?merchant=other"), "1");
    assert_eq!(references(&mut shop, "?merchant=main&limit=3"), "432");
    for list in ["transactions", "requests"] {
        let refused = shop.control(&format!("{list}?merchant=nobody"), "");
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (400, &"unknown account \"nobody\"; known accounts: main, strict, other".into())
        );
    }
    shop.control("accounts", r#"{"name":"ci-1"}"#);
    let refused = shop.control("transactions?merchant=nobody", "").json();
    assert_eq!(refused["error"], "unknown account \"nobody\"; known accounts: main, strict, other, ci-1");
    let link = shop.control("transactions?limit=2", "").headers["link"].to_str().unwrap().to_owned();
    assert!(link.contains(&format!("before={key}")) && link.ends_with("rel=\"next\""), "{link}");
}

#[test]
fn every_list_is_there_and_takes_get_only() {
    let mut shop = Shop::new();
    for name in [
        "requests",
        "transactions",
        "tokens",
        "sessions",
        "authentications",
        "checkouts",
        "batches",
        "callbacks",
        "sms",
    ] {
        assert_eq!(list(&mut shop, name), Vec::<Value>::new(), "{name}");
        assert_eq!(shop.ask(Method::POST, &format!("/_sandbox/{name}"), "").status, 405, "{name}");
        assert_eq!(shop.control(&format!("{name}/nothing"), "").status, 404, "{name}");
        assert_eq!(shop.control(&format!("{name}?limit=1001"), "").status, 400, "{name}");
    }
}

/// A key of hexadecimal digits would have twelve decimal ones in a row now and then, as some card numbers have.
#[test]
fn card_keys_are_shown_whole_everywhere() {
    let mut shop = Shop::new();
    let paid = text(&shop.pay(499, "order-1").json()["transactionKey"]);
    for customer in 0..200 {
        let customer = customer.to_string();
        let pairs = [("transactionKey", &*paid), ("merchantCustomerReference", &customer)];
        let made = shop.call("token/tokeniseTransactionKey", &pairs).json();
        let key = text(&made["cardKeyDetails"]["0"]["cardKey"]);
        let stored = shop.control(&format!("tokens/{key}"), "").json();
        assert_eq!(stored["cardKey"], key);
        let noted = &list(&mut shop, "requests?limit=1")[0];
        assert!(text(&noted["reply"]).contains(&key), "{noted}");
    }
}
