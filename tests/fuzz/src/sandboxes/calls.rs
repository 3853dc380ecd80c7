//! Requests: calls of methods, of the control interface and of pages, and arbitrary bytes.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode};
use pg_crypto::{ShaKey, sign};
use pg_model::{
    METHODS,
    method::{AuthScheme, MethodInfo},
};

use super::shop::Shop;
use crate::{dice::Dice, usual::VALUES};

const FORM: &str = "application/x-www-form-urlencoded";

/// Commands for the control interface.
const ORDERS: [(&str, &str); 10] = [
    ("clock", r#"{"advanceSeconds": 1860}"#),
    ("clock", r#"{"set": "2031-01-01T00:00:00Z"}"#),
    ("clock", r#"{"speed": 60}"#),
    ("faults", r#"{"method": "transaction/auth", "kind": "drop-reply", "times": 1}"#),
    ("faults", r#"{"method": "token/lookup", "kind": "duplicate"}"#),
    ("faults", r#"{"method": "session/initiate", "kind": "garble"}"#),
    ("faults", r#"{"method": "enterprise/gettoken", "kind": "status", "status": 503}"#),
    ("callbacks/behaviour", r#"{"kind": "late", "seconds": 60, "times": 1}"#),
    ("callbacks/behaviour", r#"{"kind": "twice"}"#),
    ("cards/updater", r#"{"cardNumber": "4000000000001000", "response": "705"}"#),
];

/// A call of a method, valid except for at most three parts.
pub(super) fn method(shop: &mut Shop, dice: &mut Dice<'_>) {
    let info = dice.one_of(METHODS);
    let mut pairs = shop.parameters(info);
    let mut credentials = shop.credentials(info);
    for _ in 0..dice.below(4) {
        damage(info, &mut pairs, &mut credentials, dice);
    }
    pairs.append(&mut credentials);
    if info.credentials == AuthScheme::Signed {
        let borrowed: Vec<(&str, &str)> = pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let signature = sign(&borrowed, &ShaKey::new(shop.merchant.sha_key.expose())).to_string();
        // Most calls are valid, so that they have an effect.
        match dice.below(16) {
            15 => pairs.push(("shaSignature".to_owned(), signature.to_uppercase())),
            14 => {}
            _ => pairs.push(("shaSignature".to_owned(), signature)),
        }
    }
    let path = path(info, dice);
    shop.peer = if dice.below(8) == 7 { 2 } else { 1 };
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish();
    let request = Request::post(path).header("content-type", FORM).header("host", "localhost");
    drop(shop.send(request.body(Bytes::from(body)).unwrap()));
    shop.peer = 1;
}

type Pairs = Vec<(String, String)>;

fn damage(info: &MethodInfo, pairs: &mut Pairs, credentials: &mut Pairs, dice: &mut Dice<'_>) {
    let at = dice.below(pairs.len().max(1));
    match dice.below(8) {
        0 => pairs.push((dice.text(20), dice.text(40))),
        1 if at < pairs.len() => drop(pairs.remove(at)),
        2 if at < pairs.len() => pairs.push(pairs[at].clone()),
        3 if at < pairs.len() => pairs[at].1 = dice.one_of(&VALUES).to_owned(),
        4 if at < pairs.len() => pairs[at].1 = dice.text(60),
        5 => drop(credentials.pop()),
        _ => {
            let field = dice.one_of(info.fields);
            let value = match dice.below(3) {
                0 => dice.one_of(&VALUES).to_owned(),
                1 if !field.values.is_empty() => field.values[dice.below(field.values.len())].to_owned(),
                _ => dice.text(30),
            };
            let name = field.wire.replace("{n}", dice.one_of(&["0", "1", "2"])).replace('*', "Field");
            pairs.retain(|(known, _)| *known != name);
            pairs.push((name, value));
        }
    }
}

fn path(info: &MethodInfo, dice: &mut Dice<'_>) -> String {
    if info.credentials == AuthScheme::Enterprise {
        return format!("/enterprise/{}", info.name);
    }
    let encoding = dice.one_of(&["/json", "/xml", "", "/json/", "/yaml"]);
    format!("{}{}{encoding}", info.service.prefix, info.name)
}

/// A command for the control interface, sometimes with a replaced text.
pub(super) fn control(shop: &mut Shop, dice: &mut Dice<'_>) {
    let (path, order) = dice.one_of(&ORDERS);
    let mut order = order.as_bytes().to_vec();
    if dice.flag() {
        let at = dice.below(order.len());
        let gone = dice.below(6).min(order.len() - at);
        order.splice(at..at + gone, dice.bytes(12).iter().copied());
    }
    let request = Request::post(format!("/_sandbox/{path}")).header("host", "localhost");
    let request = request.header("content-type", "application/json").body(Bytes::from(order)).unwrap();
    let response = shop.send(request);
    shop.faulty |= path == "faults" && response.status().is_success();
}

/// A page for customers, or one of its forms.
pub(super) fn page(shop: &mut Shop, dice: &mut Dice<'_>) {
    let key = |name: &str| shop.known.get(name).cloned().unwrap_or_else(|| "none".to_owned());
    let path = match dice.below(4) {
        0 => format!("/pay/{}", key("tokenid")),
        1 => format!("/3ds/{}", key("authenticationKey")),
        2 => format!("/pay/{}?visit={}", key("tokenid"), dice.below(3)),
        _ => "/session-error?errorCode=129".to_owned(),
    };
    let body = match dice.below(4) {
        0 => String::new(),
        1 => format!("outcome={}", dice.one_of(&["authenticate", "fail", "abandon", "other"])),
        2 => "cardNumber=4000000000001000&cardExpiryMonth=12&cardExpiryYear=49&cardCV2=917&cardholderName=A".to_owned(),
        _ => form_urlencoded::byte_serialize(dice.bytes(60)).collect(),
    };
    let method = if body.is_empty() { Method::GET } else { Method::POST };
    let request = Request::builder().method(method).uri(path).header("host", "localhost").header("content-type", FORM);
    drop(shop.send(request.body(Bytes::from(body)).unwrap()));
}

/// Any method, path, headers and body.
pub(super) fn anything(shop: &mut Shop, dice: &mut Dice<'_>) {
    const STARTS: [&str; 8] = [
        "/",
        "/v3/token/lookup",
        "/v3/transaction/auth/json",
        "/enterprise/",
        "/_sandbox/",
        "/_sandbox/pages/",
        "/pay/",
        "/3ds/",
    ];
    let target = format!("{}{}", dice.one_of(&STARTS), dice.text(48));
    let Ok(uri) = target.parse::<http::Uri>() else { return };
    let method = dice.one_of(&["POST", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]);
    let mut request = Request::builder().method(method).uri(uri).body(Bytes::new()).unwrap();
    for name in ["host", "content-type", "origin", "sec-fetch-site", "accept", "x-forwarded-for"] {
        if dice.flag() {
            let value = match dice.below(3) {
                0 => HeaderValue::from_static("localhost"),
                1 => HeaderValue::from_static(FORM),
                _ => HeaderValue::from_bytes(dice.bytes(30)).unwrap_or(HeaderValue::from_static("x")),
            };
            request.headers_mut().append(name, value);
        }
    }
    *request.body_mut() = Bytes::copy_from_slice(dice.bytes(120));
    shop.peer = 3;
    let deletes = request.method() == Method::DELETE || request.method() == Method::POST;
    let control = request.uri().path().starts_with("/_sandbox/");
    drop(shop.send(request));
    shop.faulty |= deletes && control;
    shop.peer = 1;
}

/// The due callbacks, with any response.
pub(super) fn callbacks(shop: &mut Shop, dice: &mut Dice<'_>) {
    for outgoing in shop.sandbox.due(shop.now) {
        let shown = format!("{:?} {}", outgoing.request.headers(), String::from_utf8_lossy(outgoing.request.body()));
        shop.hides("a callback", &shown);
        let result = match dice.below(4) {
            0 => Ok(StatusCode::OK),
            1 => Ok(StatusCode::SERVICE_UNAVAILABLE),
            2 => Ok(StatusCode::FOUND),
            _ => Err("no route".to_owned()),
        };
        shop.sandbox.delivered(shop.now, &outgoing.id, result);
    }
}

/// A form with bytes that were altered in transit.
pub(super) fn garbled(shop: &mut Shop, dice: &mut Dice<'_>) {
    let info = dice.one_of(METHODS);
    let mut pairs = shop.parameters(info);
    pairs.extend(shop.credentials(info));
    pairs.retain(|(name, _)| name != "cardNumber");
    let mut body = form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish().into_bytes();
    for _ in 0..=dice.below(3) {
        let at = dice.below(body.len().max(1)).min(body.len());
        let gone = dice.below(8).min(body.len() - at);
        body.splice(at..at + gone, dice.bytes(8).iter().copied());
    }
    let path = path(info, dice);
    // Damage may move a password to another parameter, whose value is shown unmasked.
    let secrets = [&shop.merchant.api_password, &shop.merchant.enterprise.as_ref().unwrap().api_password];
    let moved = |(name, value): (Cow<'_, str>, Cow<'_, str>)| {
        !matches!(&*name, "apiPassword" | "api_password")
            && secrets.iter().any(|secret| name.contains(secret.expose()) || value.contains(secret.expose()))
    };
    if form_urlencoded::parse(&body).any(moved) {
        return;
    }
    shop.peer = 4;
    let request = Request::post(path).header("content-type", FORM).header("host", "localhost");
    let _response = shop.sandbox.handle(shop.now, request.body(Bytes::from(body)).unwrap());
    shop.peer = 1;
}
