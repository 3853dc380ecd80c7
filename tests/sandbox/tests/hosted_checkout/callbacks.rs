//! Telling the merchant of a payment (spec 3 §6; A121).

use http::StatusCode;

use crate::hosted_checkout::{DECLINED, PAN, SILENT, Shop};

const CALLBACK: (&str, &str) = ("callback_url", "http://127.0.0.1:7000/paid?shop=1");

/// What is sent to the merchant now: the address and the pairs of the form.
fn sent(shop: &mut Shop) -> Vec<(String, Vec<(String, String)>)> {
    let outgoing = shop.due();
    let mut all = Vec::new();
    for one in outgoing {
        assert_eq!(one.request.headers()["content-type"], "application/x-www-form-urlencoded");
        let pairs = serde_urlencoded::from_bytes(one.request.body()).unwrap();
        all.push((one.request.uri().to_string(), pairs));
        shop.delivered(&one.id, Ok(StatusCode::NO_CONTENT));
    }
    all
}

// spec: 3 §6, A121: The callback_url of a token receives a successful payment once.
// spec: 3 §4.1, A100, A121
#[test]
fn an_approval_is_reported_once() {
    let mut shop = Shop::new();
    let changes = [CALLBACK, ("trans_reference", "order & 7"), ("trans_class", "spring"), ("trans_type", "PreAuth")];
    let token = shop.token(&changes);
    let page = shop.visit(&token);
    let key = shop.submit(&token, &page, crate::hosted_checkout::CARD).trans_key();
    shop.submit(&token, &page, crate::hosted_checkout::CARD);
    let sent_now = sent(&mut shop);
    let pairs = [
        ("tokenid", token.as_str()),
        ("trans_key", &key),
        ("trans_type", "preauth"),
        ("trans_value", "10.98"),
        ("currency", "GBP"),
        ("status", "1"),
        ("trans_reference", "order & 7"),
        ("trans_class", "spring"),
    ];
    let pairs: Vec<_> = pairs.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    assert_eq!(sent_now, [(CALLBACK.1.to_owned(), pairs)]);
    assert!(sent(&mut shop).is_empty());
    let journal = shop.control("callbacks");
    assert_eq!((&journal[0]["kind"], &journal[0]["about"]), (&"checkout".into(), &key.as_str().into()));
    assert_eq!(journal[0]["status"], "delivered");
}

// spec: 3 §6, A121
#[test]
fn only_successful_payments_send_a_callback() {
    let mut shop = Shop::new();
    let token = shop.token(&[CALLBACK]);
    for number in [DECLINED, SILENT, "1"] {
        shop.pay(&token, number);
    }
    let quiet = shop.token(&[]);
    let key = shop.pay(&quiet, PAN).trans_key();
    shop.done("refund", &[("prev_trans_key", &key), ("trans_value", "1")]);
    assert!(sent(&mut shop).is_empty());
    let key = shop.pay(&token, PAN).trans_key();
    let told = sent(&mut shop);
    assert_eq!((told.len(), &told[0].1[1].1), (1, &key));
    assert_eq!(told[0].1.len(), 6);
}

/// The callback repeats what the merchant sent; the list of callbacks shows no card number.
#[test]
fn a_card_number_in_a_wrong_place_is_reported_to_its_merchant_only() {
    for class in [PAN, "4000 0000 0000 1000"] {
        let mut shop = Shop::new();
        let token = shop.token(&[CALLBACK, ("trans_class", class)]);
        shop.pay(&token, PAN);
        assert_eq!(sent(&mut shop)[0].1[6], ("trans_class".to_owned(), class.to_owned()));
        let id = shop.control("callbacks")[0]["id"].as_str().unwrap().to_owned();
        let shown = shop.control(&format!("callbacks/{id}"))["body"].as_str().unwrap().to_owned();
        let digits: String = shown.chars().filter(char::is_ascii_digit).collect();
        assert!(shown.contains("trans_class=4000") && !digits.contains(PAN), "{shown}");
    }
}

// spec: 3 §2, A346: A token without callback_url uses the registered destination.
#[test]
fn a_registered_destination_is_the_default_of_a_token() {
    let mut shop = Shop::new();
    let url = "http://127.0.0.1:8490/registered";
    let asked = format!(r#"{{"merchant": "main", "kind": "checkout", "url": "{url}"}}"#);
    let registered = shop.ask(http::Method::POST, "/_sandbox/callbacks/destinations", asked);
    assert_eq!(registered.status(), 200);
    let order = crate::hosted_checkout::ORDER;
    let answer = shop.done("gettoken", order);
    assert_eq!(answer.text("callback_url"), url);
    assert!(answer.basis.contains("A346"), "{}", answer.basis);
    let named = shop.token(&[CALLBACK]);
    let own = answer.text("tokenid");
    for (token, requested) in [(own, None), (named, Some(CALLBACK.1))] {
        let key = shop.pay(&token, PAN).trans_key();
        let told = sent(&mut shop);
        assert_eq!((told.len(), told[0].0.as_str(), &told[0].1[1].1), (1, url, &key));
        assert_eq!(shop.control("callbacks")[0]["requestedUrl"].as_str(), requested);
    }
}

// spec: 3 §6, A121: The callback of a payment is sent when the payment is durable, also if the clock is set back then.
#[test]
fn a_clock_that_is_set_back_delays_no_callback_that_was_due() {
    let mut shop = Shop::new();
    let clock = |shop: &mut Shop, change: &str| {
        assert_eq!(shop.ask(http::Method::POST, "/_sandbox/clock", change.to_owned()).status(), 200);
    };
    let (begin, later) = (r#"{"set": "2026-05-04T10:00:00Z"}"#, r#"{"set": "2029-01-01T00:00:00Z"}"#);
    clock(&mut shop, later);
    let token = shop.token(&[CALLBACK]);
    assert!(shop.pay(&token, PAN).says("Payment complete"));
    clock(&mut shop, begin);
    assert!(shop.sandbox.next_due().is_some_and(|next| next <= shop.now));
    assert_eq!(sent(&mut shop).len(), 1);
    // A late callback waits for its time on the clock.
    let late = r#"{"kind": "late", "seconds": 600}"#;
    assert_eq!(shop.ask(http::Method::POST, "/_sandbox/callbacks/behaviour", late).status(), 200);
    let token = shop.token(&[CALLBACK]);
    assert!(shop.pay(&token, PAN).says("Payment complete"));
    clock(&mut shop, r#"{"advanceSeconds": 300}"#);
    clock(&mut shop, begin);
    assert!(sent(&mut shop).is_empty());
    clock(&mut shop, r#"{"advanceSeconds": 600}"#);
    assert_eq!(sent(&mut shop).len(), 1);
}
