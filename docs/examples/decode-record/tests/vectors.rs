//! The vectors of `pg-crypto` that hold a record, from address to fields.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use decode_record::{Problem, Returned, decode};
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
