//! Stored states that were damaged: a truncated file, or an edited number.

use pg_fuzz::kinds::KINDS;
use serde_json::{Value, json};

#[test]
fn a_state_that_was_cut_short_is_refused() {
    for kind in KINDS {
        let stored = (kind.stored)();
        assert!(stored.len() > 3, "{}: {}", kind.name, stored.len());
        for text in &stored {
            assert!((kind.live)(text), "{text}");
            for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
                assert!(!(kind.live)(&text[..end]), "{text} cut at {end}");
            }
        }
    }
}

/// Replaces any value anywhere: a machine with an accepted state handles any reply.
#[test]
fn a_state_with_any_changed_value_is_handled_or_refused() {
    let others =
        [json!(-1), json!(u32::MAX), json!(u64::MAX), json!("\0é\u{10ffff}"), json!(true), Value::Null, json!({})];
    for kind in KINDS {
        let mut taken = 0;
        for text in (kind.stored)() {
            let state: Value = serde_json::from_str(&text).unwrap();
            for place in places(&state) {
                for other in &others {
                    let mut damaged = state.clone();
                    *damaged.pointer_mut(&place).unwrap() = other.clone();
                    taken += usize::from((kind.live)(&damaged.to_string()));
                }
            }
        }
        assert!(taken > 50, "{}: {taken}", kind.name);
    }
}

/// JSON pointers to all values. No name in a state contains a slash.
fn places(value: &Value) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Array(values) => values.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), value)).collect(),
        _ => Vec::new(),
    };
    let below = inner
        .into_iter()
        .flat_map(|(name, value)| places(value).into_iter().map(move |place| format!("/{name}{place}")));
    std::iter::once(String::new()).chain(below).collect()
}
