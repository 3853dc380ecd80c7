//! The content of a redirect, in a form that a typed program can rely on even if the redirect is forged.

use alloc::{string::String, vec::Vec};
use core::mem;

use pg_model::{Cv2, Extra, Keyed, RedirectData, Value, json, mask};

/// Returns one object with the documented names, each a text. Unknown fields, and fields of another shape, are in a
/// member `extra`, also within each error. The collected inputs are in a member `collect`, as a list of a name, its value, the
/// next name and so on: members of an object with equal names would replace each other in JavaScript.
pub(crate) fn json(mut data: RedirectData) -> String {
    // The service masks the number and omits the CV2 (spec 2 §2.2). Forged data may contain both.
    data.card_number = mask::card_number(data.card_number.expose()).into();
    data.card_cv2 = Cv2::default();
    set_apart(&mut data.extra);
    let mut errors = Keyed::default();
    for (name, error) in data.errors.iter() {
        let mut error = error.clone();
        set_apart(&mut error.extra);
        errors.push(name, error);
    }
    data.errors = errors;
    let mut collected = Vec::new();
    for (name, value) in mem::take(&mut data.collect).iter() {
        collected.push(text(name));
        collected.push(text(value));
    }
    if !collected.is_empty() {
        data.extra.push("collect", Value::List(collected));
    }
    json::write(&data)
}

fn text(text: &str) -> Value {
    Value::Text(String::from(text).into())
}

fn set_apart(extra: &mut Extra) {
    if !extra.is_empty() {
        let unknown = mem::take(extra);
        extra.push("extra", Value::Record(unknown));
    }
}
