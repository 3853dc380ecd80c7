//! JSON is read as by serde_json, except that numbers keep all their digits.

use pg_fuzz::Tree;
use pg_model::{CardKeyDetail, DecodeError, Value, decode_into};
use proptest::prelude::*;

fn try_read(body: &str) -> Result<CardKeyDetail, DecodeError> {
    let mut record = CardKeyDetail::default();
    decode_into(body.as_bytes(), &mut record)?;
    Ok(record)
}

/// Reads a body without known fields, so that all of it is in `extra`.
fn read_here(body: &str) -> Option<Value> {
    try_read(body).ok().map(|record| Value::Record(record.extra))
}

fn read_by_serde_json(body: &str) -> Option<Value> {
    let tree = serde_json::from_str::<Tree>(body).ok().map(|Tree(value)| value);
    tree.filter(|value| matches!(value, Value::Record(_)))
}

const SCALARS: [&str; 28] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "12345678",
    "7.25",
    "2.50",
    "0.0",
    "-0.0",
    "1e2",
    "1E+2",
    "125e-2",
    "0.125E1",
    "-1.5",
    "0e5",
    "\"\"",
    "\"a b\"",
    "\"é€😀\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0041\\u00e9\"",
    "\"\\ud83d\\ude00x\"",
    "\"\\ud83d\"",
    "\"\\ude00\"",
    "\"\\ud83d\\u0041\"",
    "\"\u{7f}\"",
    "\"\\u0000\"",
];
const BLANKS: [&str; 5] = ["", "", "", " ", "\n\t\r "];
/// Inserted anywhere, these make most texts invalid and change the others.
const DAMAGE: [&str; 22] = [
    "{", "}", "[", "]", "\"", ",", ":", "\\", "u", "e", "E", ".", "-", "+", "0", "1", " ", "\n", "\u{1}", "é", "t", "/",
];

fn value() -> impl Strategy<Value = String> {
    let scalar = proptest::sample::select(&SCALARS[..]).prop_map(String::from);
    scalar.prop_recursive(4, 24, 5, |inner| {
        let blank = || proptest::sample::select(&BLANKS[..]);
        let name = proptest::sample::select(&["\"a\"", "\"b c\"", "\"\\u0061\"", "\"\""][..]);
        let list = (proptest::collection::vec(inner.clone(), 0..4), blank());
        let object = (proptest::collection::vec((name, inner), 0..4), blank());
        prop_oneof![
            list.prop_map(|(values, blank)| format!("[{blank}{}]{blank}", values.join(&format!("{blank},{blank}")))),
            object.prop_map(|(values, blank)| {
                let members: Vec<String> =
                    values.iter().map(|(name, value)| format!("{name}{blank}:{value}")).collect();
                format!("{blank}{{{}{blank}}}", members.join(","))
            }),
        ]
    })
}

/// A body and its damage: position, number of removed characters, and inserted text.
fn body() -> impl Strategy<Value = String> {
    let damage = (any::<prop::sample::Index>(), 0..2_usize, proptest::sample::select(&DAMAGE[..]));
    (proptest::collection::vec(value(), 0..3), proptest::option::of(damage)).prop_map(|(values, damage)| {
        let members: Vec<String> = values.iter().map(|value| format!("\"x\":{value}")).collect();
        let mut body: Vec<char> = format!("{{{}}}", members.join(",")).chars().collect();
        if let Some((place, gone, come)) = damage {
            let at = place.index(body.len());
            body.splice(at..(at + gone).min(body.len()), come.chars());
        }
        body.into_iter().collect()
    })
}

/// Whether the damage created an exponent that is not in [`SCALARS`].
fn has_another_exponent(body: &str) -> bool {
    let body = body.replace("\\u00e9", "");
    let mut words = body.split(|c: char| !c.is_ascii_digit() && !matches!(c, 'e' | 'E' | '.' | '+' | '-'));
    words.any(|word| {
        let is_number = word.contains(['e', 'E']) && word.contains(|c: char| c.is_ascii_digit());
        is_number && !SCALARS.contains(&word)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_as_serde_json_reads_it(body in body()) {
        // Binary floating point expands large exponents and has a limit; this reader keeps numbers as text.
        prop_assume!(!has_another_exponent(&body));
        prop_assert_eq!(read_here(&body), read_by_serde_json(&body), "{}", body);
    }
}

#[test]
fn no_digit_of_a_number_is_lost() {
    for (number, text) in [
        // Beyond the range of 64-bit integers and the precision of binary floating point.
        ("18446744073709551616", "18446744073709551616"),
        ("-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728"),
        ("0.1234567890123456789", "0.1234567890123456789"),
        ("1234567890123456.75", "1234567890123456.75"),
        // Insignificant zeros are removed; the values below are amounts.
        ("36.40", "36.4"),
        ("36.00", "36"),
        ("3640e-2", "36.4"),
        ("0.3640e+2", "36.4"),
        ("100e-2", "1"),
        ("5E-3", "0.005"),
        ("1e0", "1"),
        // Too long to be written out.
        ("1e400", "1e400"),
        ("-1.5E-99999999999", "-1.5E-99999999999"),
    ] {
        let record = try_read(&format!("{{\"cardKey\":{number},\"x\":{number}}}")).expect("a record");
        assert_eq!(record.card_key, text);
        assert_eq!(record.extra.get("x").and_then(Value::as_text), Some(text));
    }
    for wrong in ["01", "-", "1.", ".5", "1e", "1e+", "+1", "0x1", "1_000", "-01", "NaN", "Infinity"] {
        assert!(try_read(&format!("{{\"cardKey\":{wrong}}}")).is_err(), "{wrong}");
    }
}
