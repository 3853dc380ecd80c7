//! What tells the requests of a drill from those that a running shop still sends for an earlier one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::Exchange;
use crate::shop::Call;

/// The order of a drill, and what it is told from.
#[derive(Default)]
pub(crate) struct Own {
    /// The end of all orders of the run.
    pub(crate) run: String,
    pub(crate) order: String,
    /// What the drills have given to the shop.
    pub(crate) given: Arc<Given>,
}

impl Own {
    /// Whether a request is about the order of another drill of this run: by its reference, or by the session, the card or the
    /// key that the other drill gave.
    pub(super) fn is_of_another(&self, exchange: &Exchange) -> bool {
        let is_other = |value: &str| value.contains(&*self.run) && !value.contains(&*self.order);
        let names_other = exchange.parameter("uniqueMerchantReference").is_some_and(is_other);
        let parameters = GIVEN.iter().map(|(_, parameter)| parameter).chain(&KEYS);
        let mut given = parameters.filter_map(|parameter| exchange.parameter(parameter));
        !self.run.is_empty() && (names_other || given.any(|value| self.given.is_of_another(value, &self.order)))
    }
}

/// Where a job's input and the callback about a batch have what a drill gives, and the parameters of requests that have it.
const GIVEN: [(&str, &str); 6] = [
    ("/sessionKey", "sessionKey"),
    ("/cardKey", "cardKey"),
    ("/card/number", "cardNumber"),
    ("/transactionKey", "transactionKey"),
    ("/authenticationKey", "authenticationKey"),
    ("/batchKey", "batchKey"),
];
/// The parameters of requests that have the key of a callback about a payment, or of a customer who comes back.
const KEYS: [&str; 2] = ["trans_key", "prev_trans_key"];
/// A key has 32 characters.
const MOST_OF_A_KEY: usize = 64;

/// What drills that run one after the other have given to a shop, with the order of the last one.
#[derive(Default)]
pub(crate) struct Given(Mutex<BTreeMap<String, String>>);

impl Given {
    /// Takes the input of a job for an order.
    pub(crate) fn take(&self, input: &Value, order: &str) {
        let values = GIVEN.iter().filter_map(|(place, _)| input.pointer(place)?.as_str());
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.extend(values.map(|value| (value.to_owned(), order.to_owned())));
    }

    /// Takes a callback, or the address of a success page.
    pub(crate) fn take_call(&self, call: &Call, order: &str) {
        if let Ok(batch) = serde_json::from_slice(&call.body) {
            self.take(&batch, order);
        }
        let query = call.url.split_once('?').map_or("", |(_, query)| query);
        let parameters = form_urlencoded::parse(query.as_bytes()).chain(form_urlencoded::parse(&call.body));
        let is_key = |value: &str| !value.is_empty() && value.len() <= MOST_OF_A_KEY;
        let keys = parameters.filter(|(name, value)| name == KEYS[0] && is_key(value));
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.extend(keys.map(|(_, key)| (key.into_owned(), order.to_owned())));
    }

    fn is_of_another(&self, value: &str, order: &str) -> bool {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.get(value).is_some_and(|other| other != order)
    }
}
