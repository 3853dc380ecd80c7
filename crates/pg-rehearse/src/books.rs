//! The ledger of the service: the real movements of money.

use pg_model::{Amount, Currency};
use serde_json::Value;

use crate::house::{House, SetupError};

/// A transaction in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) kind: String,
    pub(crate) approved: bool,
    pub(crate) status: String,
    pub(crate) amount: u64,
    pub(crate) currency: String,
    pub(crate) reference: String,
}

impl Entry {
    fn of(value: &Value) -> Self {
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Self {
            key: text("transactionKey"),
            kind: text("transactionType"),
            approved: value["approved"].as_bool().unwrap_or_default(),
            status: text("transactionStatusCode"),
            amount: value["amount"].as_u64().unwrap_or_default(),
            currency: text("currency"),
            reference: text("uniqueMerchantReference"),
        }
    }

    /// Whether it takes a customer's money or reserves it.
    pub(crate) fn is_charge(&self) -> bool {
        self.approved && matches!(self.kind.as_str(), "Auth" | "PreAuth")
    }

    /// Whether it gives a customer's money back, or what was reserved of it.
    pub(crate) fn gives_back(&self) -> bool {
        self.approved && matches!(self.kind.as_str(), "Refund" | "CancelPreAuth")
    }

    /// Returns a short description for the timeline.
    pub(crate) fn told(&self) -> String {
        let state = if self.approved { "approved" } else { "not approved" };
        format!("{} of {} {state} ({})", self.kind, self.money(), self.status)
    }

    /// Returns the amount as text: `9.98 GBP`.
    pub(crate) fn money(&self) -> String {
        money(self.amount, &self.currency)
    }
}

/// Returns minor units as a decimal text.
pub(crate) fn money(minor: u64, currency: &str) -> String {
    Amount::new(minor, Currency::from(currency)).to_string()
}

/// The ledger at one moment, the oldest entry first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Books(Vec<Entry>);

impl Books {
    pub(crate) fn read(house: &House) -> Result<Self, SetupError> {
        let list = house.control("transactions?limit=1000", None)?;
        let list = list.as_array().ok_or_else(|| format!("the ledger is not a list: {list}"))?;
        Ok(Self(list.iter().rev().map(Entry::of).collect()))
    }

    /// Returns the entries added since an earlier moment.
    pub(crate) fn since(&self, earlier: &Self) -> Vec<Entry> {
        self.0.iter().filter(|entry| earlier.0.iter().all(|known| known.key != entry.key)).cloned().collect()
    }
}
