//! Payments with the sandbox's test cards, directly and on the hosted page.

use pg_hyper::Error;
use pg_model::{CardDetails, Outcome, Transaction, TransactionKey, Url};
use pg_sandbox::cards::{CARDS, Scenario};

use super::{browser, page::Page, wire::Wire};

pub(crate) const SUCCESS_PAGE: &str = "https://shop.example/paid?order=9";
pub(crate) const CANCEL_PAGE: &str = "https://shop.example/basket";

/// Returns the number of the first test card with a scenario.
pub(crate) fn number(scenario: Scenario) -> &'static str {
    CARDS.iter().find(|card| card.scenario == scenario).map_or("", |card| card.number)
}

/// Returns a test card with a late expiry.
pub(crate) fn card(scenario: Scenario) -> CardDetails {
    CardDetails::new(number(scenario), "12", "49").cv2("123").cardholder_name("Ada Lovelace")
}

/// Returns the transaction of a payment that must be approved.
pub(crate) fn approved(result: Result<Outcome<Transaction>, Error>) -> Result<Transaction, String> {
    match result.map_err(|error| error.to_string())? {
        Outcome::Approved(transaction) => Ok(transaction),
        Outcome::Declined(not) | Outcome::Other(not) => Err(format!("not approved: {}", status(&not))),
    }
}

/// Returns the status of a payment, by code and in words.
pub(crate) fn status(transaction: &Transaction) -> String {
    format!("{} {}", transaction.transaction_status_code, transaction.transaction_status)
}

/// Enters a card on an open payment page and pays. Returns the key for the success page.
pub(crate) async fn pay_on_page(wire: &Wire, address: &Url, page: &Page) -> Result<TransactionKey, String> {
    let typed = [
        ("cardNumber", number(Scenario::Approved)),
        ("cardExpiry", "12 / 49"),
        ("cardCV2", "123"),
        ("cardholderName", "Ada Lovelace"),
    ];
    let location = browser::submit(wire, address.as_str(), page, &typed).await?;
    let key = location.strip_prefix(SUCCESS_PAGE).and_then(|rest| rest.strip_prefix("&trans_key="));
    key.map(TransactionKey::from).ok_or_else(|| format!("sent to {location}"))
}
