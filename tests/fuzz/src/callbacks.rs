//! Callbacks from unknown senders: they are hints, which only cause a lookup.

use bytes::Bytes;
use http::{Request, Uri};
use pg_proto::{CallbackError, CallbackOutline, CheckoutHint, UpdaterHint};

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
    let paid = checkout(&request);
    let text = String::from_utf8_lossy(body);
    let returned = CheckoutHint::returned(&text);
    assert_eq!(returned, CheckoutHint::returned(&text));
    // The same bytes in the query, if an address can have them.
    let address = format!("/paid?{text}").parse::<Uri>().ok();
    let asked = address.map(|uri| checkout(&Request::builder().method(method).uri(uri).body(Bytes::new()).unwrap()));
    for hint in [Some(&paid), Some(&returned), asked.as_ref()].into_iter().flatten().flatten() {
        let key = hint.trans_key();
        assert!(!key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()), "{key:?}");
        assert!(account().request(&hint.confirm()).is_ok(), "{key:?} cannot be looked up");
    }
    for error in [updated.err(), paid.err(), returned.err()].into_iter().flatten() {
        assert!(!error.to_string().contains('\n'));
    }
}

/// Reads a request as the callback of a checkout, and outlines it.
fn checkout(request: &Request<Bytes>) -> Result<CheckoutHint, CallbackError> {
    let paid = CheckoutHint::read(request);
    assert_eq!(paid, CheckoutHint::read(request));
    assert!(paid.is_err() || ["GET", "POST"].contains(&request.method().as_str()));
    shown_in_a_line(&CallbackOutline::of(request).to_string());
    paid
}

/// What is logged of a refused callback is short and has no card number.
fn shown_in_a_line(outline: &str) {
    assert!(outline.len() < 4_096 && outline.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{outline:?}");
    assert!(!pg_model::mask::has_card_number(outline), "{outline:?}");
}

/// Keys may be digits; card numbers are masked wherever `Debug` shows them.
fn no_digits_of_a_card(shown: &str, body: &[u8]) {
    if body.windows(10).any(|part| part == b"cardNumber") && !body.windows(3).any(|part| part == b"Key") {
        no_digits(shown);
    }
}
