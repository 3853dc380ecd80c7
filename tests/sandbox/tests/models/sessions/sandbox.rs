//! The sandbox, asked what the model was asked.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Method, Response};
use pg_crypto::SessionCipher;
use proptest_state_machine::StateMachineTest;
use serde_json::{Value, json};

use super::{Collected, Customer, Form, Promise, Sessions, Step, expired};
use crate::models::service::{NO_KEY, Pairs, Service, Who, before_newest, text};

const NEXT_PAGE: &str = "https://shop.example/review";
const CURRENT_PAGE: &str = "https://shop.example/card";
const ERROR_PAGE: &str = "https://shop.example/error";

/// A sandbox, and the keys of the model's sessions.
pub(crate) struct Beside<const WRONG: u8> {
    service: Service,
    sessions: Vec<String>,
}

impl<const WRONG: u8> StateMachineTest for Beside<WRONG> {
    type SystemUnderTest = Self;
    type Reference = Sessions<WRONG>;

    fn init_test(_: &Sessions<WRONG>) -> Self {
        Self { service: Service::open(), sessions: Vec::new() }
    }

    fn apply(mut beside: Self, model: &Sessions<WRONG>, step: Step) -> Self {
        match step {
            Step::Open { who, customer } => beside.open(who, customer),
            Step::Post { session, form } => beside.post(model, session, &form),
            Step::Pay { who, session, customer } => beside.pay(model, who, session, customer),
            Step::Wait(seconds) => beside.service.wait(seconds),
        }
        beside.hold_sessions(model);
        beside.hold_payments(model);
        beside
    }
}

impl<const WRONG: u8> Beside<WRONG> {
    fn session(&self, which: usize) -> String {
        self.sessions.get(before_newest(self.sessions.len(), which)).map_or_else(|| NO_KEY.to_owned(), Clone::clone)
    }

    fn open(&mut self, who: Who, customer: Customer) {
        let mut pairs = vec![("errorPageUrl", ERROR_PAGE.to_owned())];
        pairs.extend(customer.map(|customer| ("merchantCustomerReference", customer.to_owned())));
        let opened = self.service.version_3(who, "session/initiate", pairs).unwrap();
        let key = text(&opened, "sessionKey").to_owned();
        assert!(key.len() == 32 && !self.sessions.contains(&key), "{key}");
        self.sessions.push(key);
    }

    fn post(&mut self, model: &Sessions<WRONG>, session: usize, form: &Form) {
        let inputs = [
            ("nextPageUrl", form.next_page.then_some(NEXT_PAGE)),
            ("currentPageUrl", form.current_page.then_some(CURRENT_PAGE)),
            ("cardNumber", form.number),
            ("cardExpiryMonth", Some("12")),
            ("cardExpiryYear", form.year),
            ("cardCV2", form.cv2),
            ("cardholderName", form.name),
        ];
        let mut pairs = vec![("sessionKey", self.session(session))];
        let inputs = inputs.into_iter().filter_map(|(name, value)| Some((name, value?)));
        pairs.extend(inputs.chain(form.collected()).map(|(name, value)| (name, value.to_owned())));
        let response = self.service.send(Method::POST, "/v3/session/postform/json", &pairs);
        assert_eq!(response.status(), 303);
        match &model.promise {
            Promise::Page { of, faults, collected } => {
                let page = if faults.is_empty() { NEXT_PAGE } else { CURRENT_PAGE };
                let data = self.landed(*of, page, &response);
                let found = data["errors"].as_object().into_iter().flatten();
                let found: Vec<_> = found.map(|(field, error)| (&**field, text(error, "errorCode"))).collect();
                assert!(found.len() == faults.len() && faults.iter().all(|fault| found.contains(fault)), "{data}");
                assert_eq!(text(&data, "cardNumber"), masked(form.number.unwrap()));
                assert_eq!((text(&data, "cardCV2"), text(&data, "cardExpiryYear")), ("", form.year.unwrap()));
                assert_eq!(text(&data, "cardholderName"), form.name.unwrap_or_default());
                let shown: Vec<_> =
                    data.as_object().unwrap().iter().filter(|(name, _)| name.starts_with("collect")).collect();
                let shown: Vec<_> = shown.into_iter().map(|(name, value)| (&**name, value.as_str().unwrap())).collect();
                assert_eq!(sorted(shown), sorted(collected.clone()));
            }
            Promise::ErrorPage { of, codes } => {
                let data = self.landed(*of, ERROR_PAGE, &response);
                assert!(codes.contains(&text(&data, "errorCode")), "{data}, not {codes:?}");
                assert_eq!(data.as_object().unwrap().len(), 3, "{data}");
            }
            Promise::OwnPage => assert_eq!(location(&response), "/session-error?errorCode=129"),
            promise => panic!("{response:?}, not {promise:?}"),
        }
    }

    /// The data of a redirect to a page of a merchant.
    fn landed(&self, who: Who, page: &str, response: &Response<Bytes>) -> Value {
        let (to, query) = location(response).split_once('?').unwrap();
        assert_eq!(to, page);
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap();
        let [(data_name, data), (iv_name, iv)] = &pairs[..] else { panic!("{query}") };
        assert_eq!([&**data_name, iv_name], ["data", "iv"]);
        let cipher = SessionCipher::new(self.service.merchant(who).api_key.expose()).unwrap();
        serde_json::from_str(cipher.decrypt(data, iv).unwrap().as_str()).unwrap()
    }

    fn pay(&mut self, model: &Sessions<WRONG>, who: Who, session: usize, customer: Customer) {
        let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
        let mut pairs: Pairs = order.map(|(name, value)| (name, value.to_owned())).into();
        pairs.push(("sessionKey", self.session(session)));
        pairs.extend(customer.map(|customer| ("merchantCustomerReference", customer.to_owned())));
        match (&model.promise, self.service.version_3(who, "transaction/authSessionKey", pairs)) {
            (Promise::Paid { status, cv2 }, Ok(paid)) => {
                assert_eq!(text(&paid, "transactionStatusCode"), *status);
                assert_eq!(self.service.rests_on("A101"), *cv2, "whether its CV2 was used");
            }
            (Promise::Refused(codes), Err(code)) => assert!(codes.contains(&&*code), "{code}, not {codes:?}"),
            (promise, answer) => panic!("{answer:?}, not {promise:?}"),
        }
    }

    /// Whose they are, and what they hold.
    fn hold_sessions(&mut self, model: &Sessions<WRONG>) {
        let list = self.service.list("sessions");
        assert_eq!(list.len(), model.sessions.len(), "sessions");
        for ((held, session), key) in list.iter().zip(&model.sessions).zip(&self.sessions) {
            let over = expired::<WRONG>(session, model.now);
            let posted = session.posted.as_ref().filter(|_| !over);
            let collected: Vec<Collected> = session.collected.iter().filter(|_| !over).copied().collect();
            let wanted = json!([
                key,
                session.owner.name(),
                over,
                session.customer,
                posted.map(|posted| masked(posted.number)),
                posted.and_then(|posted| posted.name),
                collected.into_iter().collect::<BTreeMap<_, _>>(),
            ]);
            let shown = json!([
                held["sessionKey"],
                held["merchant"],
                held["expired"],
                held["merchantCustomerReference"],
                held["card"]["cardNumber"],
                held["details"]["cardholderName"],
                held["collected"],
            ]);
            assert_eq!(shown, wanted);
        }
    }

    fn hold_payments(&mut self, model: &Sessions<WRONG>) {
        let list = self.service.list("transactions");
        assert_eq!(list.len(), model.payments.len(), "transactions");
        for (held, payment) in list.iter().zip(&model.payments) {
            let wanted =
                json!([payment.owner.name(), payment.approved, masked(payment.number), payment.customer, payment.name]);
            let shown = json!([
                held["merchant"],
                held["approved"],
                held["card"]["cardNumber"],
                held["merchantCustomerReference"],
                held["details"]["cardholderName"],
            ]);
            assert_eq!(shown, wanted);
        }
    }
}

fn location(response: &Response<Bytes>) -> &str {
    response.headers()["location"].to_str().unwrap()
}

fn masked(number: &str) -> String {
    format!("{}******{}", &number[..6], &number[12..])
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort();
    all
}
