//! Customers who have signed in, their stored cards and their orders. A real shop has them in its database.

use std::{collections::HashMap, error::Error, fmt, fs};

use axum::http::{HeaderMap, header::COOKIE};
use serde::Deserialize;

/// The customers, each under a secret. A browser gets the secret in the cookie `customer` when its user signs in, with
/// `HttpOnly`, `Secure` and `SameSite=Lax`, so that no other page can pay with it. The shop checks the page that posts an order, too.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub struct Customers(HashMap<String, Customer>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Customer {
    /// The `merchantCustomerReference` with which the card was stored.
    pub(crate) reference: String,
    pub(crate) card_key: String,
    /// What each order of this customer costs, in pence.
    #[serde(default)]
    orders: HashMap<String, u64>,
}

impl Customer {
    /// Returns what an order costs; `None` if there is no such order of this customer. The number of the order comes from a browser,
    /// which may send the number of another customer's order, and its amount is never taken from the browser.
    pub(crate) fn pence(&self, order: &str) -> Option<u64> {
        self.orders.get(order).copied()
    }
}

impl Customers {
    /// Reads customers from a file: `{"SECRET": {"reference": "customer-7", "cardKey": "…", "orders": {"order-1": 499}}}`.
    ///
    /// # Errors
    /// If the file cannot be read, or contains something else, or the number of an order that the shop's addresses and references
    /// cannot contain.
    pub fn read(file: &str) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let customers: Self = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        let mut orders = customers.0.values().flat_map(|customer| customer.orders.keys());
        match orders.find(|order| !is_order(order)) {
            None => Ok(customers),
            Some(order) => Err(format!(
                "{file}: {order:?} cannot be the number of an order: it must have 1 to {LONGEST_ORDER} letters, digits and hyphens"
            )
            .into()),
        }
    }

    /// Returns the customer whose browser sent these headers.
    pub(crate) fn signed_in(&self, headers: &HeaderMap) -> Option<&Customer> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|header| header.to_str().ok());
        let mut secrets = cookies.flat_map(|header| header.split(';')).filter_map(|cookie| {
            let (name, secret) = cookie.trim().split_once('=')?;
            (name == "customer").then_some(secret)
        });
        secrets.find_map(|secret| self.0.get(secret))
    }
}

/// With the number of the attempt behind it, a number has at most the 32 characters of a reference of the hosted page.
const LONGEST_ORDER: usize = 29;

fn is_order(number: &str) -> bool {
    (1..=LONGEST_ORDER).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

impl fmt::Debug for Customers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Customers").field("number", &self.0.len()).finish_non_exhaustive()
    }
}
