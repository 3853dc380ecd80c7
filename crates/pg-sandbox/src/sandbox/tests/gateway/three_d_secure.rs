//! 3-D Secure: initiation, challenge, status and payment (spec 2 §3.3).

use super::*;
use crate::records::{Authentication, AuthenticationEnd, PaymentKind};

mod challenges;
mod checkout;
mod initiations;
mod isolation;
mod payments;
mod statuses;

pub(super) const CHALLENGE: &str = "4000000000005001";
const MASTERCARD: &str = "5200000000005006";
const ALWAYS_FAILS: &str = "4000000000006009";
const INSISTS: &str = "4000000000012007";
const NOT_ENROLLED: &str = "4000000000007007";
const RETURN: &str = "https://shop.example/back";

/// The parameters of an initiation by session.
fn by_session<'a>(session: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    changed(&order(&[("sessionKey", session), ("returnUrl", RETURN)]), more)
}

/// An authentication that the account `main` has opened for a card, with its key.
fn open(shop: &mut Shop, number: &str, more: &[(&str, &str)]) -> String {
    let session = shop.session(number);
    let answer = shop.call("initiate3DSecureSessionKey", &by_session(&session, more));
    assert_eq!(answer.code(), "607", "{answer:?}");
    answer.text("authenticationKey").to_owned()
}

/// An authentication whose customer has pressed a button.
pub(super) fn answered(shop: &mut Shop, number: &str, outcome: &str, more: &[(&str, &str)]) -> String {
    let key = open(shop, number, more);
    assert_eq!(press(shop, &key, outcome).status(), 303);
    key
}

/// A browser opens the challenge.
fn visit(shop: &mut Shop, key: &str) -> Response<Bytes> {
    shop.sandbox.handle(shop.at, Request::get(format!("/3ds/{key}")).body(Bytes::new()).unwrap())
}

/// A browser posts the challenge.
fn press(shop: &mut Shop, key: &str, outcome: &str) -> Response<Bytes> {
    let body = format!("outcome={outcome}");
    shop.sandbox.handle(shop.at, request(Method::POST, &format!("/3ds/{key}"), body))
}

fn status_of(shop: &mut Shop, key: &str) -> Answer {
    let answer = shop.call("getAuthenticationStatus", &[("authenticationKey", key)]);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

fn pay_with(shop: &mut Shop, method: &str, key: &str) -> Answer {
    shop.call(method, &[("authenticationKey", key)])
}

fn end_of(shop: &mut Shop, key: &str) -> Option<AuthenticationEnd> {
    let at = shop.at;
    shop.stored::<Authentication>(key).unwrap().ended(at)
}

fn location(response: &Response<Bytes>) -> &str {
    assert_eq!(response.status(), 303);
    response.headers()["location"].to_str().unwrap()
}
