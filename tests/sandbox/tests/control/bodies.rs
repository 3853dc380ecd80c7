//! The JSON bodies of calls: each is one object, and each member is given once.

use http::Method;
use serde_json::Value;

use crate::control::Shop;

/// The calls with a body, a valid body of each, and the same members in the order of an array.
const CALLS: [(&str, &str, &str); 6] = [
    ("clock", r#"{"advanceSeconds":1}"#, "[1]"),
    ("faults", r#"{"method":"*","kind":"garble","times":1}"#, r#"["*","garble",1]"#),
    ("accounts", r#"{"name":"x9","like":"main","ttlSeconds":60}"#, r#"["x9","main",60]"#),
    ("callbacks/behaviour", r#"{"kind":"fail","times":3}"#, r#"["fail",null,3]"#),
    (
        "callbacks/destinations",
        r#"{"merchant":"main","kind":"checkout","url":"http://127.0.0.1:9/","retries":1}"#,
        r#"["main","checkout","http://127.0.0.1:9/",1]"#,
    ),
    ("cards/updater", r#"{"cardNumber":"4000000000001000","response":"705"}"#, r#"["4000000000001000",null,"705"]"#),
];

/// Returns the reason why a call is refused.
fn refused(shop: &mut Shop, path: &str, body: &str) -> String {
    let answer = shop.control(path, body);
    assert_eq!((answer.status, &answer.json()["code"]), (400, &Value::from("invalid")), "{path} {body}: {answer:?}");
    let reason = answer.json()["error"].as_str().unwrap().to_owned();
    for word in ["struct", "Body", "Asked", "Map", "Option", "enum", "at line"] {
        assert!(!reason.contains(word), "{path} {body}: {reason}");
    }
    reason
}

#[test]
fn only_an_object_without_repeated_members_is_a_body() {
    let mut shop = Shop::new();
    let lists = ["clock", "faults", "accounts", "callbacks/behaviour", "callbacks/destinations", "cards/updater"];
    let before = lists.map(|path| shop.control(path, "").json());
    for (path, valid, array) in CALLS {
        for body in [array, "[]", "null", "true", "7", r#""text""#, "{", "x", "{}{}"] {
            let reason = refused(&mut shop, path, body);
            assert!(reason.starts_with("the body must be a JSON object such as {"), "{path} {body}: {reason}");
        }
        // Each member once more, with its own value.
        let members: serde_json::Map<String, Value> = serde_json::from_str(valid).unwrap();
        for (name, value) in &members {
            let twice = format!(r#"{},"{name}":{value}}}"#, valid.trim_end_matches('}'));
            let reason = refused(&mut shop, path, &twice);
            assert!(reason.contains(&format!("`{name}` is given twice")), "{path} {twice}: {reason}");
            let odd = valid.replacen(&format!(r#""{name}":{value}"#), &format!(r#""{name}":[{value}]"#), 1);
            refused(&mut shop, path, &odd);
        }
    }
    for body in [
        r#"{"advanceSeconds":1,"advanceSeconds":2}"#,
        r#"{"set":"2026-01-01T00:00:00Z","set":"2031-01-01T00:00:00Z"}"#,
        r#"{"set":"2026-01-01T00:00:00Z","s\u0065t":"2031-01-01T00:00:00Z"}"#,
    ] {
        refused(&mut shop, "clock", body);
    }
    let lookup = r#"{"method":"transaction/lookup","method":"transaction/auth","kind":"drop-request"}"#;
    refused(&mut shop, "faults", lookup);
    let object = r#"{"merchant":"main","kind":{"checkout":null},"url":"http://127.0.0.1:9/"}"#;
    refused(&mut shop, "callbacks/destinations", object);
    // A repeated name may be a card number.
    let number = refused(&mut shop, "cards/updater", r#"{"4000000000001000":1,"4000000000001000":1}"#);
    assert!(number.contains("400000******1000"), "{number}");
    // Nor is a name repeated as a whole that is longer than any name of a member.
    for path in lists {
        let long = refused(&mut shop, path, &format!(r#"{{"{}":1}}"#, "a".repeat(100_000)));
        assert!(long.len() < 700, "{path}: {}", long.len());
    }
    assert_eq!(before, lists.map(|path| shop.control(path, "").json()));
    for (path, valid, _) in CALLS {
        assert_eq!(shop.ask(Method::POST, &format!("/_sandbox/{path}"), valid).status, 200, "{path}");
    }
}

#[test]
fn a_member_that_is_null_counts_as_left_out() {
    let mut shop = Shop::new();
    for (path, body) in [
        ("faults", r#"{"method":"*","kind":"garble","times":null}"#),
        ("accounts", r#"{"name":null,"like":null,"ttlSeconds":null}"#),
        ("callbacks/behaviour", r#"{"kind":"fail","times":null}"#),
        (
            "callbacks/destinations",
            r#"{"merchant":"main","kind":"checkout","url":"http://127.0.0.1:9/","retries":null}"#,
        ),
    ] {
        assert_eq!(shop.ask(Method::POST, &format!("/_sandbox/{path}"), body).status, 200, "{path}");
    }
}
