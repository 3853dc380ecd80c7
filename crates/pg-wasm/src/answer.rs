//! The content of a redirect, in a shape that a typed program can rely on even if the redirect is forged.

use alloc::string::String;
use core::mem;

use pg_model::{Cv2, Extra, Keyed, RedirectData, Value, json, mask};

/// One object of the documented names, each a text. What the tables do not know, and what had another shape than theirs,
/// is in a member `extra`, of each error too.
pub(crate) fn json(mut data: RedirectData) -> String {
    // The service masks the number and keeps the CV2 to itself (spec 2 §2.2); forged data may not.
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
