//! Stored cards of a sandbox, and what its control interface tells.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::Request;
use pg_hyper::{Client, Transport, blocking};
use pg_model::{Auth, CardDetails, Currency, Encoding, Item, Order, TokeniseTransactionKey};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, machine::throttle::ThrottleLimits};
use serde_json::Value;

use crate::command::sandbox::Running;

/// The account `main` of a sandbox.
pub(crate) struct Shop {
    pub(crate) client: blocking::Client,
    base: String,
}

impl Shop {
    pub(crate) fn of(sandbox: &Running) -> Self {
        let main = &sandbox.facts["merchants"][0];
        let text = |name: &str| main[name].as_str().unwrap();
        let base = sandbox.facts["baseUrl"].as_str().unwrap().to_owned();
        let enterprise = sandbox.facts["enterpriseBaseUrl"].as_str().unwrap();
        let credentials = Credentials::new(text("apiKey"), text("apiPassword"), text("shaKey"));
        let account = Account::new(BaseUrl::parse(&base).unwrap(), credentials)
            .encoding(Encoding::Json)
            .with_dialect(pg_sandbox::dialect())
            .enterprise(
                BaseUrl::parse(enterprise).unwrap(),
                EnterpriseCredentials::new(text("enterpriseApiKey"), text("enterpriseApiPassword")),
            );
        let client = Client::builder(account).unwrap().limits(ThrottleLimits::unlimited()).build();
        Self { client: blocking::Client::over(client).unwrap(), base }
    }

    /// Card keys of this many cards: the first gets a new number, the second a new expiry, all others stay.
    pub(crate) fn cards(&self, count: usize) -> Vec<String> {
        let numbers = ["4000000000008005".to_owned(), "4000000000010001".to_owned()];
        let numbers = numbers.into_iter().chain((0..).map(ordinary));
        numbers.take(count).map(|number| self.stored(&number)).collect()
    }

    /// Pays a penny with a card and stores it.
    pub(crate) fn stored(&self, number: &str) -> String {
        let order = Order::new(Currency::GBP).item(Item::new("Penny", 1));
        let paid = self.client.call(&Auth::new(CardDetails::new(number, "12", "49"), order)).unwrap();
        let key = match paid {
            pg_model::Outcome::Approved(paid) => paid.transaction_key,
            other => panic!("{other:?}"),
        };
        let stored = self.client.call(&TokeniseTransactionKey::new(key)).unwrap();
        stored.card_key_details[0].card_key.as_str().to_owned()
    }

    /// Posts to the control interface.
    pub(crate) fn control(&self, path: &str, body: &str) {
        let request = Request::post(format!("{}/_sandbox/{path}", self.base)).body(Bytes::from(body.to_owned()));
        let response = self.send(request.unwrap());
        assert!(response.status().is_success(), "{response:?}");
    }

    /// Reads a list of the control interface.
    pub(crate) fn list(&self, path: &str) -> Vec<Value> {
        match self.get(path) {
            Value::Array(list) => list,
            other => panic!("{path}: {other}"),
        }
    }

    /// Card keys that were submitted, and how often each.
    pub(crate) fn submitted(&self) -> BTreeMap<String, usize> {
        let mut submitted = BTreeMap::new();
        for batch in self.list("batches?limit=1000") {
            let whole = self.get(&format!("batches/{}", batch["batchKey"].as_str().unwrap()));
            for entry in whole["entries"].as_array().unwrap() {
                *submitted.entry(entry["oldCardKey"].as_str().unwrap().to_owned()).or_default() += 1;
            }
        }
        submitted
    }

    pub(crate) fn send(&self, request: Request<Bytes>) -> http::Response<Bytes> {
        self.client.wait(self.client.inner().transport().send(request)).unwrap()
    }

    fn get(&self, path: &str) -> Value {
        let request = Request::get(format!("{}/_sandbox/{path}", self.base)).body(Bytes::new());
        serde_json::from_slice(self.send(request.unwrap()).body()).unwrap()
    }
}

/// A card number that the sandbox does not list.
fn ordinary(count: usize) -> String {
    let start = format!("400001{count:09}");
    let sum = start.bytes().rev().enumerate().map(|(at, digit)| match u32::from(digit - b'0') {
        digit if at % 2 == 0 => digit * 2 / 10 + digit * 2 % 10,
        digit => digit,
    });
    format!("{start}{}", (10 - sum.sum::<u32>() % 10) % 10)
}
