//! The content of a redirect, in a form that a typed program can rely on even if the redirect is forged.

use alloc::string::String;
use core::mem;

use pg_model::{Cv2, Extra, Keyed, RedirectData, Value, json, mask};

/// Returns one object with the documented names, each a text. Unknown fields, and fields of another shape, are in a
/// member `extra`, also within each error.
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
    json::write(&data)
}

fn set_apart(extra: &mut Extra) {
    if !extra.is_empty() {
        let unknown = mem::take(extra);
        extra.push("extra", Value::Record(unknown));
    }
}
