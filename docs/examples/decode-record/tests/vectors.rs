//! The vectors of `pg-crypto` that hold a record, from address to fields.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use decode_record::{Problem, Returned, decode};
use pg_crypto::{SessionCipher, TextEncoding};
use serde_json::Value;

fn case(key: &str, name: &str) -> Value {
    let file: Value = serde_json::from_str(include_str!("../../../../tests/vectors/session.json")).unwrap();
    let cases = file[key].as_array().unwrap();
    cases.iter().find(|case| case["name"] == name).unwrap_or_else(|| panic!("no vector {name}")).clone()
}

fn decoded(case: &Value) -> Result<Returned, Problem> {
    decode(case["redirect"].as_str().unwrap(), case["apiKey"].as_str().unwrap())
}

#[test]
fn xml_and_json_are_read() {
    for (name, holder, notes) in [("XML", "A N Other", "ring & wait"), ("JSON", "Zoë Müller", "50% + 1 = ?")] {
        let Returned::Accepted(data) = decoded(&case("good", name)).unwrap() else { panic!("{name}") };
        assert_eq!(data.card_number.expose(), "411111******1111");
        assert_eq!(data.cardholder_name, holder);
        assert_eq!(data.collect.get("collectNotes"), Some(notes));
    }
}

#[test]
fn errors_are_found_by_field() {
    let Returned::Invalid(data) = decoded(&case("good", "JSON with validation errors")).unwrap() else { panic!() };
    assert_eq!(data.errors.get("cardNumber").unwrap().error_message, "Invalid card number");
}

// spec: 2 §2.2: Errors are present only if a field is invalid.
#[test]
fn errors_of_another_shape_are_errors() {
    let key = "0123456789abcdef0123456789abcdef";
    let iv = "fedcba9876543210";
    let returned = |text: &str| {
        let data = SessionCipher::new(key).unwrap().encode_as(TextEncoding::Hex).encrypt(text, iv).unwrap();
        decode(&format!("https://shop.example/review?data={data}&iv={iv}"), key).unwrap()
    };
    for text in [
        r#"{"errors":[{"field":"cardNumber","errorCode":"108"}]}"#,
        r#"{"errors":"108"}"#,
        r#"{"errors":{"cardNumber":"108"}}"#,
        "<serviceResponse><errors>108</errors></serviceResponse>",
    ] {
        assert!(matches!(returned(text), Returned::Invalid(_)), "{text}");
    }
    for text in [r#"{"errorCode":["136"]}"#, r#"{"errorCode":{"0":"136"}}"#] {
        assert!(matches!(returned(text), Returned::Failed(_)), "{text}");
    }
    for text in [r#"{"errors":[]}"#, r#"{"errors":{}}"#, r#"{"errors":null,"errorCode":null}"#, r#"{"errorCode":[]}"#] {
        assert!(matches!(returned(text), Returned::Accepted(_)), "{text}");
    }
}

#[test]
fn everything_else_is_unreadable() {
    for (key, name) in [
        ("good", "no text"),
        ("good", "16 bytes"),
        ("bad", "wrong key"),
        ("bad", "wrong iv"),
        ("bad", "bit flipped in the middle"),
        ("bad", "truncated by a block"),
        ("bad", "no iv"),
    ] {
        assert_eq!(decoded(&case(key, name)).map(drop), Err(Problem::Unreadable), "{name}");
    }
    assert!(matches!(decode("", "short"), Err(Problem::Key(_))));
}
