//! The sandbox, asked what the model was asked.

use bytes::Bytes;
use http::{Method, Response};
use proptest_state_machine::StateMachineTest;
use serde_json::json;

use super::{Card, Checkout, MINUTE, Order, Promise, Step};
use crate::models::service::{NO_KEY, Pairs, Service, before_newest, text};

/// A sandbox, and the keys of the model's tokens, forms and payments.
pub(crate) struct Beside<const WRONG: u8> {
    service: Service,
    tokens: Vec<String>,
    forms: Vec<String>,
    payments: Vec<String>,
}

impl<const WRONG: u8> StateMachineTest for Beside<WRONG> {
    type SystemUnderTest = Self;
    type Reference = Checkout<WRONG>;

    fn init_test(_: &Checkout<WRONG>) -> Self {
        Self { service: Service::open(), tokens: Vec::new(), forms: Vec::new(), payments: Vec::new() }
    }

    fn apply(mut beside: Self, model: &Checkout<WRONG>, step: Step) -> Self {
        let (forms, tokens) = (beside.forms.len(), beside.tokens.len());
        let (at_form, at_token) = (|form| before_newest(forms, form), |token| before_newest(tokens, token));
        match step {
            Step::GetToken(order) => beside.get_token(model, &order),
            Step::Visit(token) => {
                let path = beside.path(at_token(token));
                let page = beside.service.send(Method::GET, &path, &Pairs::new());
                beside.hold(model, &page);
            }
            // A form that was never shown has no token to be sent to.
            Step::Send { form, .. } if at_form(form) >= forms => {}
            Step::Send { form, card, times } => {
                let form = at_form(form);
                let sent = vec![("visit", beside.forms[form].clone())];
                beside.send(model, model.forms[form].token, sent, card, times);
            }
            Step::SendBare { token, card } => beside.send(model, at_token(token), Pairs::new(), card, 1),
            Step::SendElsewhere { form, token } => {
                let key = beside.forms.get(at_form(form)).map_or(NO_KEY, |key| key).to_owned();
                beside.send(model, at_token(token), vec![("visit", key)], Card::Good, 1);
            }
            Step::Cancel { who, token } => {
                let pairs = vec![("tokenid", beside.token(at_token(token)))];
                let answer = beside.service.version_5(who, "canceltoken", pairs).unwrap();
                let Promise::Status(wanted) = &model.promise else { panic!("{answer:?}") };
                assert_eq!(answer.text("status"), *wanted);
            }
            Step::Wait(seconds) => beside.service.wait(seconds),
        }
        beside.hold_lists(model);
        beside
    }
}

impl<const WRONG: u8> Beside<WRONG> {
    fn token(&self, at: usize) -> String {
        self.tokens.get(at).map_or_else(|| NO_KEY.to_owned(), Clone::clone)
    }

    fn path(&self, token: usize) -> String {
        format!("/pay/{}", self.token(token))
    }

    fn get_token(&mut self, model: &Checkout<WRONG>, order: &Order) {
        let mut pairs: Pairs = [
            ("currency", "GBP"),
            ("item_name[0]", "Tea"),
            ("item_price[0]", "4.99"),
            ("success_url", "https://shop.example/paid"),
            ("callback_url", "https://shop.example/callback"),
            ("trans_type", if order.reserve { "PreAuth" } else { "Auth" }),
            ("auto_redirect", if order.redirect { "1" } else { "0" }),
        ]
        .map(|(name, value)| (name, value.to_owned()))
        .into();
        let minutes = |minutes: u64| (model.now + minutes * MINUTE).to_string();
        pairs.extend(order.start.map(|start| ("token_start", minutes(start))));
        pairs.extend(order.expiry.map(|expiry| ("token_expiry", minutes(expiry))));
        pairs.extend(order.uses.map(|uses| ("token_uses", uses.to_string())));
        pairs.extend(order.visits.map(|visits| ("token_redemptions", visits.to_string())));
        match (&model.promise, self.service.version_5(order.who, "gettoken", pairs)) {
            (Promise::Refused(wanted), Err(code)) => assert_eq!(code, *wanted),
            (Promise::Made, Ok(made)) => self.tokens.push(made.text("tokenid")),
            (promise, answer) => panic!("{answer:?}, not {promise:?}"),
        }
    }

    /// Sends a form so often at once: the answers after the first are what the promise says.
    fn send(&mut self, model: &Checkout<WRONG>, token: usize, mut form: Pairs, card: Card, times: usize) {
        let inputs = [("cardNumber", card.number()), ("cardExpiryMonth", "12"), ("cardExpiryYear", "2049")];
        form.extend(inputs.map(|(name, value)| (name, value.to_owned())));
        form.push(("cardCV2", "917".to_owned()));
        let path = self.path(token);
        for page in self.service.send_often(Method::POST, &path, &form, times) {
            self.hold(model, &page);
        }
    }

    /// Holds a page against the promise.
    fn hold(&mut self, model: &Checkout<WRONG>, page: &Response<Bytes>) {
        let status = page.status().as_u16();
        let location = page.headers().get("location").map_or("", |location| location.to_str().unwrap());
        let html = std::str::from_utf8(page.body()).unwrap();
        match model.promise {
            Promise::Form(at) => {
                assert_eq!(status, 200, "{html}");
                hold_key(&mut self.forms, at, after(html, "name=\"visit\" value=\""));
            }
            Promise::Paid(at) => {
                assert!(status == 200 || location.starts_with("https://shop.example/paid?"), "{status} {html}");
                hold_key(&mut self.payments, at, after(&format!("{location} {html}"), "trans_key="));
            }
            Promise::Ended => assert_eq!((status, html.contains("trans_key=")), (410, false), "{html}"),
            Promise::Unknown => assert_eq!(status, 404, "{html}"),
            Promise::ToPage(token) => assert_eq!((status, location), (303, &*self.path(token)), "{html}"),
            ref promise => panic!("{status}, not {promise:?}"),
        }
    }

    /// What is left of every token, every payment, and a callback for each approval.
    fn hold_lists(&mut self, model: &Checkout<WRONG>) {
        let left = |count: i64| if count == -1 { json!("unlimited") } else { json!(count) };
        let shown = ["tokenid", "merchant", "usesLeft", "redemptionsLeft"];
        let wanted: Vec<_> = (model.tokens.iter().zip(&self.tokens))
            .map(|(token, key)| [json!(key), json!(token.owner.name()), left(token.uses), left(token.visits)])
            .collect();
        let held = self.service.list("checkouts");
        assert_eq!(held.iter().map(|held| shown.map(|name| held[name].clone())).collect::<Vec<_>>(), wanted);

        let held = self.service.list("transactions");
        assert_eq!(held.len(), model.payments.len(), "payments");
        let mut approved = 0;
        for ((held, payment), at) in held.iter().zip(&model.payments).zip(0..) {
            let token = &model.tokens[payment.token];
            hold_key(&mut self.payments, at, text(held, "transactionKey"));
            assert_eq!((text(held, "merchant"), &held["amount"]), (token.owner.name(), &json!(499)));
            assert_eq!(held["approved"], payment.approved);
            assert_eq!(text(held, "transactionType"), if token.reserve { "PreAuth" } else { "Auth" });
            approved += usize::from(payment.approved);
        }
        assert_eq!(self.service.list("callbacks").len(), approved, "callbacks");
    }
}

/// Remembers a key that is new, and holds one that is known against what it was.
fn hold_key(keys: &mut Vec<String>, at: usize, key: &str) {
    match keys.get(at) {
        Some(known) => assert_eq!(key, known),
        None => {
            assert!(!keys.iter().any(|known| known == key), "{key} was there before");
            keys.push(key.to_owned());
        }
    }
}

/// The letters and digits after a mark.
fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    let (_, rest) = text.split_once(mark).unwrap_or_else(|| panic!("no {mark} in {text}"));
    rest.split(|character: char| !character.is_ascii_alphanumeric()).next().unwrap()
}
