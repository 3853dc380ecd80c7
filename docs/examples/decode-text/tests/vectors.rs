//! The vectors of `pg-crypto`, from address to text.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use decode_text::{Problem, decode};
use serde_json::Value;

fn cases(key: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../../../tests/vectors/session.json")).unwrap();
    let cases = file[key].as_array().unwrap();
    let usual = |case: &&Value| case["derivation"] == "verbatim" && case["padding"] == "pkcs7";
    cases.iter().filter(usual).cloned().collect()
}

fn decoded(case: &Value) -> Result<String, Problem> {
    decode(case["redirect"].as_str().unwrap(), case["apiKey"].as_str().unwrap()).map(|text| text.as_str().to_owned())
}

#[test]
fn addresses_are_decrypted() {
    let cases = cases("good");
    assert!(cases.len() > 10);
    for case in cases {
        assert_eq!(decoded(&case).unwrap(), case["plaintext"].as_str().unwrap(), "{}", case["name"]);
    }
}

#[test]
fn everything_else_is_unreadable() {
    let cases = cases("bad");
    assert!(cases.len() > 10);
    for case in cases {
        assert_eq!(decoded(&case), Err(Problem::Unreadable), "{}", case["name"]);
    }
    for address in ["", "?", "https://shop.example/", "?data=AAAA", "?iv=0123456789abcdef"] {
        assert_eq!(decode(address, &"k".repeat(32)).map(drop), Err(Problem::Unreadable), "{address}");
    }
    assert!(matches!(decode("", "short"), Err(Problem::Key(_))));
}
