//! The journal of requests.

use http::Method;
use serde_json::{Value, json};

use crate::control::{CV2, PAN, Shop, order};

fn requests(shop: &mut Shop, query: &str) -> Vec<Value> {
    shop.control(&format!("requests{query}"), "").json().as_array().unwrap().clone()
}

#[test]
fn a_request_is_shown_masked_with_what_was_answered() {
    let mut shop = Shop::new();
    shop.pay(998, "order-7");
    let found = requests(&mut shop, "");
    assert_eq!(found.len(), 1);
    let entry = &found[0];
    for (name, wanted) in [
        ("time", json!("2026-05-04T10:00:00Z")),
        ("peer", json!("127.0.0.1")),
        ("merchant", json!("main")),
        ("httpMethod", json!("POST")),
        ("path", json!("/v3/transaction/auth/json")),
        ("method", json!("transaction/auth")),
        ("fault", Value::Null),
        ("status", json!(200)),
        ("errorCode", Value::Null),
    ] {
        assert_eq!(entry[name], wanted, "{name}");
    }
    assert!(entry["basis"].as_str().unwrap().starts_with("2 4.4, A"), "{entry}");
    assert!(entry["reply"].as_str().unwrap().contains(r#""transactionStatusCode":"600""#));
    let parameters = &entry["parameters"];
    assert_eq!(parameters["cardNumber"], "400000******1000");
    assert_eq!(parameters["merchantReference"], "order-7");
    for name in ["apiKey", "apiPassword", "shaSignature", "cardCV2"] {
        assert_eq!(parameters[name], "(hidden)", "{name}");
    }
    let id = entry["id"].as_str().unwrap();
    if !pg_stores::is_shared() {
        assert_eq!(id, "0000000001");
    }
    assert_eq!(shop.control(&format!("requests/{id}"), "").json(), *entry);
    assert_eq!(shop.control("requests/0000000002", "").status, 404);
    assert_eq!(shop.control("requests/x", "").status, 404);
}

#[test]
fn a_misspelt_parameter_is_warned_of_in_the_header_and_the_journal() {
    let mut shop = Shop::new();
    let mut pairs = order("998", "order-7").to_vec();
    pairs.extend([("uniqueMerchantRefrence", "order-7"), ("cardHolderName", "Z. Other"), ("orderNumber", "17")]);
    let wanted = [
        "uniqueMerchantRefrence is not a parameter of transaction/auth: did you mean uniqueMerchantReference?",
        "cardHolderName is misspelt and was read as cardholderName",
        "orderNumber is not a parameter of transaction/auth and is ignored",
    ];
    let answer = shop.call("transaction/auth", &pairs);
    assert_eq!(answer.headers["pg-warning"], wanted.join("; "));
    assert_eq!(requests(&mut shop, "")[0]["warnings"], json!(wanted));
    // A refusal tells the slip that caused it, to strangers too.
    let refused = shop.ask(Method::POST, "/v3/token/enable/json?cardKey=x", "cardkey=x&ApiKey=y");
    assert_eq!(
        refused.headers["pg-warning"],
        "parameters in the URL were ignored: send them in the body; \
         cardkey is not a parameter of token/enable and is ignored: did you mean cardKey?; \
         ApiKey is not a parameter of token/enable and is ignored: did you mean apiKey?"
    );
    let right = shop.pay(998, "order-8");
    assert!(!right.headers.contains_key("pg-warning"));
    assert_eq!(requests(&mut shop, "")[0]["warnings"], json!([]));
}

#[test]
fn warnings_show_no_card_number_and_stay_short() {
    let mut shop = Shop::new();
    let name = format!("n{PAN}");
    let many: String = (0..1_900).map(|number| format!("&cardNumbr{number}=x")).collect();
    let answer = shop.ask(Method::POST, "/v3/token/enable", format!("{name}=1&caf%C3%A9=2{many}"));
    let warning = answer.headers["pg-warning"].to_str().unwrap();
    assert!(warning.starts_with("(name not shown) is not a parameter of token/enable"), "{warning}");
    assert!(warning.ends_with(" more") && warning.len() < 2_000, "{warning}");
}

#[test]
fn every_reply_of_the_service_and_its_pages_says_in_ascii_what_it_rests_on() {
    let mut shop = Shop::new();
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/nowhere"),
        (Method::POST, "/v4/token/lookup"),
        (Method::POST, "/v3/session-error"),
        (Method::POST, "/session-error"),
        (Method::GET, "/session-error"),
        (Method::GET, "/pay/none"),
        (Method::PUT, "/pay/none"),
        (Method::GET, "/pay/success"),
        (Method::GET, "/pay/cancelled"),
        (Method::GET, "/pay/none/visit"),
        (Method::GET, "/3ds/none"),
        (Method::DELETE, "/3ds/none"),
        (Method::POST, "/v3/token/nothing"),
        (Method::GET, "/v3/token/lookup"),
        (Method::POST, "/v3/token/lookup/yaml"),
        (Method::POST, "/v3/token/lookup"),
        (Method::POST, "/v3/session/postform"),
        (Method::GET, "/v3/session/postform"),
        (Method::POST, "/v3/session/postform/yaml"),
        (Method::POST, "/enterprise/nothing"),
        (Method::POST, "/enterprise/gettoken"),
    ] {
        for body in ["", "a=b", "a=%zz"] {
            let answer = shop.ask(method.clone(), path, body);
            let basis = answer.headers.get("pg-basis").unwrap_or_else(|| panic!("{method} {path}: {answer:?}"));
            let text = basis.to_str().unwrap_or_else(|_| panic!("{method} {path}: {basis:?}"));
            let (document, section) = text.split(", ").next().unwrap().split_once(' ').unwrap();
            assert!(matches!(document, "1" | "2" | "3"), "{method} {path}: {text}");
            assert!(section.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{method} {path}: {text}");
        }
    }
}

#[test]
fn refusals_and_wrong_paths_are_there_and_the_control_interface_is_not() {
    let mut shop = Shop::new();
    shop.ask(Method::POST, "/v3/transaction/auth", "apiKey=x&cvv=917");
    shop.ask(Method::GET, "/v4/transaction/auth", "");
    shop.ask(Method::GET, &format!("/v3/token/lookup?cardNumber={PAN}"), "");
    shop.ask(Method::GET, &format!("/pay/{PAN}"), "");
    shop.control("clock", "");
    let found = requests(&mut shop, "");
    let told: Vec<_> =
        found.iter().map(|entry| (entry["path"].as_str().unwrap(), entry["errorCode"].as_str())).collect();
    assert_eq!(
        told[1..],
        [("/v3/token/lookup", Some("934")), ("/v4/transaction/auth", None), ("/v3/transaction/auth", Some("102"))]
    );
    assert_eq!(told[0].0, "/pay/400000******1000");
    assert_eq!(found[1]["parameters"]["cardNumber"], "400000******1000");
    assert_eq!(found[3]["parameters"]["cvv"], "(3 characters)");
    assert_eq!(found[3]["merchant"], Value::Null);
}

#[test]
fn bodies_that_are_no_forms_are_not_shown() {
    let mut shop = Shop::new();
    let body = format!("{{\"cardNumber\": \"{PAN}\", \"cardCV2\": \"{CV2}\"}}");
    shop.ask(Method::POST, "/v3/transaction/auth/json", body);
    let multipart = format!("--x\r\nContent-Disposition: form-data; name=\"cardCV2\"\r\n\r\n{CV2}\r\n--x--");
    shop.ask(Method::POST, "/v3/transaction/auth/json", multipart);
    // Numbers and CV2s are looked for in every answer.
    assert_eq!(requests(&mut shop, "").len(), 2);
}

#[test]
fn faults_are_shown_with_the_reply_that_did_not_arrive() {
    let mut shop = Shop::new();
    for kind in ["drop-request", "drop-reply", "garble", "duplicate", "status"] {
        shop.fault(&format!(r#"{{"method": "transaction/auth", "kind": "{kind}"}}"#));
        shop.pay(100, kind);
    }
    let found = requests(&mut shop, "");
    let told: Vec<_> = found.iter().rev().map(|entry| (entry["fault"].as_str().unwrap(), &entry["status"])).collect();
    let (done, none) = (json!(200), Value::Null);
    let wanted = [
        ("drop-request", &none),
        ("drop-reply", &done),
        ("garble", &done),
        ("duplicate", &done),
        ("duplicate", &done),
        ("status", &json!(500)),
    ];
    assert_eq!(told, wanted);
    assert!(
        found.iter().any(|entry| entry["fault"] == "drop-reply" && entry["reply"].as_str().unwrap().contains("600"))
    );
}

#[test]
fn the_card_form_is_its_merchants_and_shows_where_the_browser_went() {
    let mut shop = Shop::new();
    let session = shop.call("session/initiate", &[("errorPageUrl", "https://shop.example/error")]).json();
    let form = [
        ("sessionKey", session["sessionKey"].as_str().unwrap()),
        ("cardNumber", PAN),
        ("cardCV2", CV2),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "30"),
        ("nextPageUrl", "https://shop.example/next"),
        ("currentPageUrl", "https://shop.example/card"),
        ("collectSize", "M"),
    ];
    shop.ask(Method::POST, "/v3/session/postform", serde_urlencoded::to_string(form).unwrap());
    let entry = &requests(&mut shop, "?limit=1")[0];
    assert_eq!((&entry["merchant"], &entry["status"]), (&json!("main"), &json!(303)));
    assert!(entry["location"].as_str().unwrap().starts_with("https://shop.example/next?data="), "{entry}");
    assert_eq!(entry["parameters"]["collectSize"], "M");
}

#[test]
fn pages_of_one_merchant_or_of_all() {
    let mut shop = Shop::new();
    for number in 0..6 {
        let merchant = if number % 2 == 0 { "main" } else { "other" };
        shop.call_as(merchant, "transaction/auth", &order("100", "r"));
    }
    let ids = |shop: &mut Shop, query: &str| {
        let found = requests(shop, query);
        found.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let [sixth, fifth, fourth, third, second, first] = &ids(&mut shop, "")[..] else { panic!("six requests") };
    if !pg_stores::is_shared() {
        assert_eq!([first, sixth], ["0000000001", "0000000006"]);
    }
    assert_eq!(ids(&mut shop, "?limit=2"), [&**sixth, fifth]);
    assert_eq!(ids(&mut shop, &format!("?limit=2&before={fifth}")), [&**fourth, third]);
    assert_eq!(ids(&mut shop, "?merchant=main&limit=2"), [&**fifth, third]);
    assert_eq!(ids(&mut shop, "?merchant=other"), [&**sixth, fourth, second]);
    assert_eq!(ids(&mut shop, &format!("?merchant=main&limit=2&before={third}")), [&**first]);
    assert!(ids(&mut shop, "?before=nothing").is_empty());
    let answer = shop.control("requests?merchant=main&limit=2", "");
    let link = format!("</_sandbox/requests?limit=2&before={third}&merchant=main>; rel=\"next\"");
    assert_eq!(answer.headers["link"], link);
    assert!(!shop.control("requests?merchant=main", "").headers.contains_key("link"));
    shop.call("token/lookup", &[]);
    let [seventh] = &ids(&mut shop, "?method=token/lookup")[..] else { panic!("one lookup") };
    assert!(seventh > sixth);
    assert_eq!(ids(&mut shop, "?method=transaction/auth&merchant=main&limit=1"), [&**fifth]);
    assert_eq!(shop.control("requests?method=token/nothing", "").status, 400);
    assert_eq!(shop.control("tokens?method=token/lookup", "").status, 400);
    assert_eq!(shop.control("requests?limit=0", "").status, 400);
    assert_eq!(shop.control("requests?since=1", "").status, 400);
    assert_eq!(shop.control("requests", "{}").status, 405);
}

#[test]
fn the_newest_ten_thousand_are_kept() {
    if pg_stores::is_shared() {
        // A journal in a database has other limits, in its own tests.
        return;
    }
    let mut shop = Shop::new();
    for _ in 0..10_010 {
        shop.ask(Method::GET, "/", "");
    }
    let oldest = &requests(&mut shop, "?limit=20&before=0000000020");
    assert_eq!(oldest.last().unwrap()["id"], "0000000011");
}
