//! Callbacks from unknown senders: they are hints, which only cause a lookup.

use bytes::Bytes;
use http::Request;
use pg_proto::{CheckoutHint, UpdaterHint};

use crate::{dice::Dice, replies::account, secrets::no_digits};

/// Reads any request as every kind of callback.
pub fn callback(input: &[u8]) {
    let mut dice = Dice::new(input);
    let method = dice.one_of(&["POST", "GET", "PUT"]);
    let content_type = dice.one_of(&["application/x-www-form-urlencoded", "application/json", "text/xml", "\u{7f}"]);
    let body = dice.rest();
    let mut request = Request::builder().method(method).uri("/updated");
    if content_type.is_ascii() && !content_type.contains('\u{7f}') {
        request = request.header("content-type", content_type);
    }
    let request = request.body(Bytes::copy_from_slice(body)).unwrap();
    let updated = UpdaterHint::read(&request);
    assert_eq!(updated, UpdaterHint::read(&request));
    if let Ok(hint) = &updated {
        assert_eq!((method, hint.confirm().batch_key), ("POST", hint.claimed().batch_key.clone()));
        drop(account().request(&hint.confirm()));
        no_digits_of_a_card(&format!("{hint:?}"), body);
    }
    let paid = CheckoutHint::read(&request);
    assert_eq!(paid, CheckoutHint::read(&request));
    let text = String::from_utf8_lossy(body);
    let returned = CheckoutHint::returned(&text);
    assert_eq!(returned, CheckoutHint::returned(&text));
    for hint in [&paid, &returned].into_iter().flatten() {
        let key = hint.trans_key();
        assert!(!key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()), "{key:?}");
        assert!(account().request(&hint.confirm()).is_ok(), "{key:?} cannot be looked up");
    }
    for error in [updated.err(), paid.err(), returned.err()].into_iter().flatten() {
        assert!(!error.to_string().contains('\n'));
    }
}

/// Keys may be digits; card numbers are masked wherever `Debug` shows them.
fn no_digits_of_a_card(shown: &str, body: &[u8]) {
    if body.windows(10).any(|part| part == b"cardNumber") && !body.windows(3).any(|part| part == b"Key") {
        no_digits(shown);
    }
}
