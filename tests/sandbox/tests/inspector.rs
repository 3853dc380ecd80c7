//! The inspector as a developer's browser meets it: through pages and forms alone.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that it calls")]

mod access;
mod accounts;
mod buttons;
mod canaries;
mod decoder;
mod journey;
mod lists;
mod pages;
mod search;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use pg_sandbox::Settings;
use pg_support::{FORM, MerchantDesk, body_of, request as form, signed_form};
use serde_json::Value;

/// A number that occurs in no test but as a card number: it must never come back whole.
pub(crate) const PAN: &str = "4000000000002008";
pub(crate) const APPROVED: &str = "4111111111111111";
pub(crate) const CV2: &str = "9173";
/// Where the sandbox's tests say it is.
pub(crate) const HOST: &str = "127.0.0.1:8480";

pub(crate) struct Shop(MerchantDesk);

pg_support::is_a_desk!(Shop);

/// A page, or a redirect to one.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) html: String,
    pub(crate) headers: HeaderMap,
}

impl Page {
    pub(crate) fn of(response: &Response<Bytes>) -> Self {
        let html = String::from_utf8(response.body().to_vec()).unwrap();
        Self { status: response.status().as_u16(), html, headers: response.headers().clone() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// What a reader sees: the text without tags, and every run of blanks as one.
    pub(crate) fn text(&self) -> String {
        let body = self.html.split_once("<main").map_or("", |(_, rest)| rest);
        let parts = body.split('<').map(|part| part.split_once('>').map_or("", |(_, text)| text));
        parts.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn says(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    /// The paths of all links and forms, of the navigation too.
    pub(crate) fn paths(&self) -> Vec<String> {
        let starts = ["href=\"", "action=\""];
        let found = starts.iter().flat_map(|start| self.html.split(start).skip(1));
        found.map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&")).collect()
    }

    /// The paths of links and forms below this one.
    pub(crate) fn paths_below(&self, start: &str) -> Vec<String> {
        self.paths().into_iter().filter(|path| path.starts_with(start)).collect()
    }
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self(MerchantDesk::at(pg_stores::sandbox_with(settings, [0; 32])))
    }

    /// A page of the inspector, as a link or an address line asks for it.
    pub(crate) fn page(&mut self, path: &str) -> Page {
        let request = Request::get(format!("/_sandbox/{path}")).header("host", HOST);
        self.send(request.body(Bytes::new()).unwrap())
    }

    /// A page that is there.
    pub(crate) fn shown(&mut self, path: &str) -> Page {
        let page = self.page(path);
        assert_eq!(page.status, 200, "{path} {}", page.text());
        page
    }

    /// A form of the inspector, as its own pages send it.
    pub(crate) fn press(&mut self, path: &str, pairs: &[(&str, &str)]) -> Page {
        self.post(path, pairs, &[("host", HOST), ("origin", &format!("http://{HOST}"))])
    }

    /// Presses a button that succeeds, and returns the page that it opens.
    pub(crate) fn done(&mut self, path: &str, pairs: &[(&str, &str)]) -> Page {
        let page = self.press(path, pairs);
        assert_eq!(page.status, 303, "{path} {}", page.text());
        let location = page.header("location").strip_prefix("/_sandbox/").unwrap().to_owned();
        self.shown(&location)
    }

    pub(crate) fn post(&mut self, path: &str, pairs: &[(&str, &str)], headers: &[(&str, &str)]) -> Page {
        let request = Request::post(format!("/_sandbox/{path}"));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        self.send(request.header("content-type", FORM).body(body_of(pairs).into()).unwrap())
    }

    /// Sends any request. Nothing that comes back holds the card's number, which is published with the test cards, or
    /// its CV2.
    pub(crate) fn send(&mut self, request: Request<Bytes>) -> Page {
        let published =
            matches!(request.uri().path(), "/_sandbox/" | "/_sandbox" | "/_sandbox/pages" | "/_sandbox/pages/");
        let page = Page::of(&self.handle(request));
        let shown = format!("{:?} {}", page.headers, page.html);
        let secrets = [PAN, "4000 0000 0000 2008", "4000-0000-0000-2008", CV2];
        assert!(published || secrets.iter().all(|secret| !shown.contains(secret)), "{shown}");
        page
    }

    /// A signed call of version 3 of the account `main`, answered in JSON.
    pub(crate) fn call(&mut self, method: &str, pairs: &[(&str, &str)]) -> Value {
        self.call_as("main", method, pairs)
    }

    pub(crate) fn call_as(&mut self, merchant: &str, method: &str, pairs: &[(&str, &str)]) -> Value {
        let response = self.send_as(merchant, method, pairs);
        serde_json::from_slice(response.body()).unwrap()
    }

    /// The same call, whatever comes back.
    pub(crate) fn send_as(&mut self, merchant: &str, method: &str, pairs: &[(&str, &str)]) -> Response<Bytes> {
        let body = signed_form(&self.account(merchant), pairs);
        self.handle(form(Method::POST, &format!("/v3/{method}/json"), body))
    }

    /// A call of version 5 of the account `main`, and the text of an element of its answer.
    pub(crate) fn enterprise(&mut self, method: &str, pairs: &[(&str, &str)], element: &str) -> String {
        let response = self.send_enterprise(method, pairs);
        let xml = String::from_utf8(response.body().to_vec()).unwrap();
        let rest = xml.split_once(&format!("<{element}>")).unwrap_or_else(|| panic!("{xml}")).1;
        rest.split('<').next().unwrap().to_owned()
    }

    /// The same call, whatever comes back.
    pub(crate) fn send_enterprise(&mut self, method: &str, pairs: &[(&str, &str)]) -> Response<Bytes> {
        self.version_5(method, pairs)
    }

    pub(crate) fn ask(&mut self, method: Method, path: &str, pairs: &[(&str, &str)]) -> Response<Bytes> {
        self.handle(form(method, path, body_of(pairs)))
    }

    /// Pays this amount in pence, and returns the transaction's key.
    pub(crate) fn pay(&mut self, method: &str, price: &str, reference: &str) -> String {
        let paid = self.call(method, &order(price, reference));
        paid["transactionKey"].as_str().unwrap_or_else(|| panic!("{paid}")).to_owned()
    }

    /// A session into which a customer has posted a card; gives its key and where the browser was sent.
    pub(crate) fn session(&mut self, number: &str) -> (String, String) {
        let opened = self.call("session/initiate", &[("errorPageUrl", "https://shop.example/error")]);
        let key = opened["sessionKey"].as_str().unwrap().to_owned();
        let form = [
            ("sessionKey", &*key),
            ("cardNumber", number),
            ("cardCV2", CV2),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "2030"),
            ("cardholderName", "Ada Customer"),
            ("nextPageUrl", "https://shop.example/next?order=7"),
            ("currentPageUrl", "https://shop.example/card"),
            ("collectSize", "M"),
        ];
        let response = self.ask(Method::POST, "/v3/session/postform", &form);
        let location = response.headers()["location"].to_str().unwrap().to_owned();
        (key, location)
    }

    /// A token of a card that is approved.
    pub(crate) fn token(&mut self) -> String {
        let paid = self.pay("transaction/auth", "100", "token");
        let made = self.call("token/tokeniseTransactionKey", &[("transactionKey", &paid)]);
        let text = made.to_string();
        let rest = text.split_once("\"cardKey\":\"").unwrap_or_else(|| panic!("{text}")).1;
        rest.split('"').next().unwrap().to_owned()
    }

    /// A batch of this token, which calls back.
    pub(crate) fn batch(&mut self, token: &str) -> String {
        let made = self.call(
            "token/requestAccountUpdater",
            &[
                ("accountUpdaterKey", "MainSandboxUpdaterKey00000000000"),
                ("cardKey", token),
                ("callbackUrl", "https://shop.example/callback"),
            ],
        );
        made["batchKey"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    }
}

/// The parameters of a payment with a raw card that is approved.
pub(crate) fn order<'a>(price: &'a str, reference: &'a str) -> [(&'a str, &'a str); 10] {
    [
        ("cardNumber", APPROVED),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "30"),
        ("cardCV2", CV2),
        ("cardholderName", "Ada Customer"),
        ("currency", "GBP"),
        ("itemName0", "Tea"),
        ("itemPrice0", price),
        ("itemQuantity0", "1"),
        ("merchantReference", reference),
    ]
}
