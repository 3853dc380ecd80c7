//! The hosted checkout and utility service as merchants and their customers meet it: through requests
//! and answers alone, in memory, on a clock that the test turns.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that it calls")]

mod address;
mod at_rest;
mod callbacks;
mod credentials;
mod ended;
mod fields;
mod gettoken;
mod hostile;
mod isolation;
mod journey;
mod lookup;
mod one_browser;
mod operations;
mod pages;
mod repeat;
mod sms;
mod twice;

use std::path::Path;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use pg_model::{Record, decode_into};
use pg_sandbox::{Sandbox, Settings};
use pg_support::{MerchantDesk, body_of, element, enterprise_form, header, request};
use serde_json::Value;

pub(crate) use pg_support::with;

/// A number that occurs in no test but as a card number: it must never come back whole.
pub(crate) const PAN: &str = "4000000000001000";
pub(crate) const DECLINED: &str = "4000000000002008";
pub(crate) const POOR: &str = "4000000000003006";
pub(crate) const SILENT: &str = "4000000000004004";
/// Its charge is made, and the bank's answer is lost.
pub(crate) const UNHEARD: &str = "4000000000011009";
pub(crate) const CV2: &str = "9173";
/// A key of the right form that no record has.
pub(crate) const NO_KEY: &str = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
pub(crate) const SUCCESS: &str = "https://shop.example/paid?order=7#end";
pub(crate) const CANCEL: &str = "https://shop.example/basket?order=7";
/// The parameters of a token of 10.98.
pub(crate) const ORDER: &[(&str, &str)] = &[
    ("currency", "GBP"),
    ("item_name[0]", "Tea"),
    ("item_price[0]", "4.99"),
    ("item_quantity[0]", "2"),
    ("item_name[1]", "Spoon"),
    ("item_price[1]", "1"),
    ("success_url", SUCCESS),
    ("cancel_url", CANCEL),
];
/// A card form that is right.
pub(crate) const CARD: &[(&str, &str)] = &[
    ("cardNumber", PAN),
    ("cardExpiryMonth", "12"),
    ("cardExpiryYear", "2030"),
    ("cardCV2", CV2),
    ("cardholderName", "A Customer"),
];

pub(crate) struct Shop(MerchantDesk);

pg_support::is_a_desk!(Shop);

/// An answer of the service: XML.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) xml: String,
    pub(crate) basis: String,
}

/// A page, or a redirect.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) html: String,
    pub(crate) headers: HeaderMap,
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::over(pg_stores::sandbox())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::over(pg_stores::sandbox_with(settings, [0; 32]))
    }

    pub(crate) fn in_file(path: &Path) -> Self {
        Self::over(Sandbox::open(path, Settings::default(), [7; 32]).unwrap())
    }

    fn over(sandbox: Sandbox) -> Self {
        Self(MerchantDesk::at(sandbox).hiding(&[PAN, "4000 0000 0000 1000", "\"9173\"", "9173<", ">9173"]))
    }

    /// A call with the right credentials.
    pub(crate) fn call(&mut self, method: &str, pairs: &[(&str, &str)]) -> Answer {
        let body = enterprise_form(&self.merchant, pairs);
        self.call_raw(method, body)
    }

    /// A call with these parameters and no other.
    pub(crate) fn call_bare(&mut self, method: &str, pairs: &[(&str, &str)]) -> Answer {
        self.call_raw(method, body_of(pairs))
    }

    pub(crate) fn call_raw(&mut self, method: &str, body: impl Into<Bytes>) -> Answer {
        Answer::of(&self.ask(Method::POST, &format!("/enterprise/{method}"), body))
    }

    /// A call that succeeds.
    pub(crate) fn done(&mut self, method: &str, pairs: &[(&str, &str)]) -> Answer {
        let answer = self.call(method, pairs);
        assert_eq!(answer.status, 200, "{method} {answer:?}");
        answer
    }

    /// The error code of a call that is refused.
    pub(crate) fn refused(&mut self, method: &str, pairs: &[(&str, &str)]) -> String {
        let answer = self.call(method, pairs);
        assert_ne!(answer.status, 200, "{method} {answer:?}");
        answer.code()
    }

    /// The id of a token of [`ORDER`] with these changes.
    pub(crate) fn token(&mut self, changes: &[(&str, &str)]) -> String {
        self.done("gettoken", &with(ORDER, changes)).text("tokenid")
    }

    pub(crate) fn visit(&mut self, token: &str) -> Page {
        Page::of(self.ask(Method::GET, &format!("/pay/{token}"), ""))
    }

    /// Posts a form as it is.
    pub(crate) fn post(&mut self, token: &str, pairs: &[(&str, &str)]) -> Page {
        Page::of(self.ask(Method::POST, &format!("/pay/{token}"), body_of(pairs)))
    }

    /// Posts the form of a page that was shown.
    pub(crate) fn submit(&mut self, token: &str, page: &Page, pairs: &[(&str, &str)]) -> Page {
        let visit = page.form_key();
        self.post(token, &[&[("visit", visit.as_str())], pairs].concat())
    }

    /// Visits a token and pays it with this card.
    pub(crate) fn pay(&mut self, token: &str, number: &str) -> Page {
        let page = self.visit(token);
        assert_eq!(page.status, 200, "{}", page.html);
        self.submit(token, &page, &with(CARD, &[("cardNumber", number)]))
    }

    /// The `trans_key` of a fresh token with these changes that was paid.
    pub(crate) fn paid(&mut self, changes: &[(&str, &str)]) -> String {
        let token = self.token(&with(changes, &[("auto_redirect", "1")]));
        self.pay(&token, PAN).trans_key()
    }

    /// A signed call of version 3 and its answer in JSON.
    pub(crate) fn version_3(&mut self, method: &str, pairs: &[(&str, &str)]) -> Value {
        self.0.call(method, pairs).1
    }

    /// What the control interface answers.
    pub(crate) fn control(&mut self, path: &str) -> Value {
        serde_json::from_slice(self.ask(Method::GET, &format!("/_sandbox/{path}"), "").body()).unwrap()
    }

    /// The status of a transaction by `transaction_lookup`.
    pub(crate) fn status_of(&mut self, trans_key: &str) -> String {
        self.done("transaction_lookup", &[("trans_key", trans_key)]).text("status")
    }

    pub(crate) fn ask(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> Response<Bytes> {
        self.send(request(method, path, body))
    }

    /// Sends any request. No response contains the card's number or its CV2.
    pub(crate) fn send(&mut self, request: Request<Bytes>) -> Response<Bytes> {
        let response = self.handle(request);
        assert!(response.headers()["cache-control"] == "no-store", "{response:?}");
        response
    }
}

impl Answer {
    fn of(response: &Response<Bytes>) -> Self {
        assert_eq!(response.headers()["content-type"], "application/xml; charset=utf-8");
        Self {
            status: response.status().as_u16(),
            xml: String::from_utf8(response.body().to_vec()).unwrap(),
            basis: header(response, "pg-basis"),
        }
    }

    /// The text of an element without children; empty when it is not there.
    pub(crate) fn text(&self, name: &str) -> String {
        element(&self.xml, name)
    }

    /// The names of the elements in their order.
    pub(crate) fn names(&self) -> Vec<&str> {
        let tags = self.xml.split('<').filter(|tag| !tag.starts_with(['/', '?']) && !tag.is_empty());
        tags.filter_map(|tag| tag.split(['>', '/']).next()).collect()
    }

    pub(crate) fn record<R: Record + Default>(&self) -> R {
        let mut record = R::default();
        decode_into(self.xml.as_bytes(), &mut record).unwrap();
        record
    }

    /// The code of an error, which has no other content.
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.names(), ["serviceResponse", "errorcode"], "{self:?}");
        assert!(self.basis.starts_with("3 7, "), "{self:?}");
        self.text("errorcode")
    }
}

impl Page {
    pub(crate) fn of(response: Response<Bytes>) -> Self {
        let (parts, body) = response.into_parts();
        Self { status: parts.status.as_u16(), html: String::from_utf8(body.to_vec()).unwrap(), headers: parts.headers }
    }

    /// Where the browser is sent; empty when it stays.
    pub(crate) fn location(&self) -> &str {
        self.headers.get("location").map(|location| location.to_str().unwrap()).unwrap_or_default()
    }

    pub(crate) fn says(&self, text: &str) -> bool {
        self.html.contains(text)
    }

    /// The hidden input that says which form it is.
    pub(crate) fn form_key(&self) -> String {
        let (_, rest) = self.html.split_once("name=\"visit\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }

    /// The key in the address that a paid form opens, by a redirect or by a button.
    pub(crate) fn trans_key(&self) -> String {
        let all = format!("{} {}", self.location(), self.html);
        let (_, rest) = all.split_once("trans_key=").unwrap_or_else(|| panic!("{} {}", self.status, self.html));
        rest.chars().take_while(char::is_ascii_alphanumeric).collect()
    }

    /// The names of the inputs that are marked as wrong, each of which says why.
    pub(crate) fn faults(&self) -> Vec<&str> {
        let inputs = self.html.split("<input ").skip(1).map(|rest| rest.split('>').next().unwrap());
        let wrong = inputs.filter(|input| input.contains(" aria-invalid=\"true\""));
        let names = wrong.map(|input| input.split("name=\"").nth(1).unwrap().split('"').next().unwrap());
        names.inspect(|name| assert!(!self.fault(name).is_empty(), "{name}")).collect()
    }

    /// What is said about an input, which refers to it.
    pub(crate) fn fault(&self, name: &str) -> &str {
        let Some((_, rest)) = self.html.split_once(&format!(" id=\"{name}-error\">")) else { return "" };
        let described = self.html.split(&format!("<input id=\"{name}\"")).nth(1).unwrap();
        assert!(described.split('>').next().unwrap().contains(&format!("{name}-error")), "{name}");
        rest.split('<').next().unwrap()
    }

    /// The title of the page.
    pub(crate) fn title(&self) -> &str {
        self.html.split_once("<title>").unwrap().1.split("</title>").next().unwrap()
    }

    /// What has the focus when the page opens: the `id` of an input, `alert`, or nothing.
    pub(crate) fn focus(&self) -> &str {
        let Some((before, _)) = self.html.split_once(" autofocus>") else { return "" };
        assert_eq!(self.html.matches(" autofocus>").count(), 1);
        let tag = before.rsplit('<').next().unwrap();
        tag.split(" id=\"").nth(1).map_or("alert", |rest| rest.split('"').next().unwrap())
    }

    /// The value of an input as a browser would show it.
    pub(crate) fn value(&self, name: &str) -> &str {
        let (_, rest) = self.html.split_once(&format!("name=\"{name}\" type=\"text\" value=\"")).unwrap();
        rest.split('"').next().unwrap()
    }
}
