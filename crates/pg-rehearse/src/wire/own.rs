//! What tells the requests of a drill from those that a running shop still sends for an earlier one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;

use super::Exchange;

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
        let mut given = GIVEN.iter().filter_map(|(_, parameter)| exchange.parameter(parameter));
        !self.run.is_empty() && (names_other || given.any(|value| self.given.is_of_another(value, &self.order)))
    }
}

/// Where a job's input has what a drill gives, and the parameters of requests that have it.
const GIVEN: [(&str, &str); 5] = [
    ("/sessionKey", "sessionKey"),
    ("/cardKey", "cardKey"),
    ("/card/number", "cardNumber"),
    ("/transactionKey", "transactionKey"),
    ("/authenticationKey", "authenticationKey"),
];

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

    fn is_of_another(&self, value: &str, order: &str) -> bool {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.get(value).is_some_and(|other| other != order)
    }
}
