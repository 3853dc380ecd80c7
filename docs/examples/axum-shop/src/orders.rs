//! Orders: one file each, replaced as a whole, so that an order always agrees with its payment in progress.

use std::{
    collections::HashMap,
    fs, io,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use pg_hyper::{
    DurableFile,
    proto::model::{Currency, StatusCode, Transaction, TransactionType},
};
use serde::{Deserialize, Serialize};

/// An order. Its id is part of its address, and everyone who knows the address may pay.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) id: String,
    pub(crate) pence: u64,
    /// The number of the attempt. Each attempt has its own reference, and begins only after the previous attempt has
    /// certainly failed.
    pub(crate) attempt: u32,
    pub(crate) status: Status,
}

/// The state of the payment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Status {
    /// No payment is in progress. The card form was shown with these sessions, one after the other.
    Open { sessions: Vec<String> },
    /// A card payment is in progress: the machine as last saved, and whether the customer has returned since then.
    Card { saved: String, returned: bool },
    /// A payment on the hosted page is in progress.
    Hosted(Hosted),
    /// The order is paid. Refunds need the key.
    Paid { transaction: String },
    /// This attempt has certainly not paid.
    NotPaid { why: String },
    /// The order may have been paid by card. No new attempt begins until a lookup or the operator has settled this.
    Unknown { why: String },
}

/// A payment on the hosted page, and the reports about it that the machine has not looked up yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hosted {
    /// The machine as last saved.
    pub(crate) saved: String,
    /// The token in the address for the callback.
    pub(crate) callback: String,
    /// Transactions that callbacks named. Only the service knows the address for callbacks.
    pub(crate) called: Vec<String>,
    /// Transactions that returning browsers named. Anyone who knows the address of the order can invent them.
    pub(crate) returned: Vec<String>,
    /// The customer wants to pay in another way.
    pub(crate) withdrawn: bool,
    /// Why the machine could not find out whether it was paid. A report may still settle it.
    #[serde(default)]
    pub(crate) unknown: Option<String>,
}

impl Hosted {
    pub(crate) const fn new(saved: String, callback: String) -> Self {
        Self { saved, callback, called: Vec::new(), returned: Vec::new(), withdrawn: false, unknown: None }
    }

    /// Returns the next report for a machine that was `given` these. The machine gets returns one at a time, so that a
    /// callback never waits behind many invented returns.
    pub(crate) fn report(&self, given: &[String]) -> Option<String> {
        let returned = self.returned.first().filter(|_| given.is_empty());
        self.called.iter().find(|called| !given.contains(called)).or(returned).cloned()
    }

    /// Returns whether a machine that waits for its customer has something to do, and if so, whether it withdraws the
    /// payment.
    pub(crate) fn news(&self) -> Option<bool> {
        let reported = !self.called.is_empty() || !self.returned.is_empty();
        (reported || self.withdrawn).then_some(!reported)
    }
}

impl Status {
    pub(crate) const fn hosted(&self) -> Option<&Hosted> {
        match self {
            Self::Hosted(hosted) => Some(hosted),
            _ => None,
        }
    }
}

impl Order {
    /// The `uniqueMerchantReference` of this attempt.
    pub(crate) fn reference(&self) -> String {
        format!("{}-{}", self.id, self.attempt)
    }

    /// Returns the name of a card form. The customer's redirect repeats it, and it tells which session has the card.
    pub(crate) fn form(&self, session: usize) -> String {
        format!("{}-{session}", self.attempt)
    }

    /// Returns the session of the form with this name, and whether the session is the newest.
    pub(crate) fn session(&self, form: &str) -> Option<(&str, bool)> {
        let Status::Open { sessions } = &self.status else { return None };
        let at = (0..sessions.len()).find(|at| self.form(*at) == form)?;
        Some((&sessions[at], at + 1 == sessions.len()))
    }

    /// Returns the payment of this attempt among those that a lookup of its reference lists, if there is any.
    ///
    /// # Errors
    /// If the list names another reference, as if it answered another lookup, or several payments, or a payment of another
    /// type, amount or currency. The documents do not list the fields of a lookup: a missing one does not count.
    pub(crate) fn payment(&self, mut listed: Vec<Transaction>) -> Result<Option<Transaction>, String> {
        let reference = self.reference();
        let differs = |found: &str, sent: &str| !found.is_empty() && found != sent;
        if let Some(other) = listed.iter().find(|found| differs(found.unique_merchant_reference.as_str(), &reference)) {
            return Err(format!("the lookup lists the payment {}, of another reference", other.transaction_key));
        }
        listed.retain(|found| !is_no_payment(found));
        let Some(payment) = listed.pop() else { return Ok(None) };
        let other = differs(&payment.transaction_value, &self.pence.to_string())
            || differs(payment.currency.as_str(), Currency::GBP.as_str())
            || payment.transaction_type != TransactionType::AUTH;
        if listed.is_empty() && !other {
            return Ok(Some(payment));
        }
        let key = payment.transaction_key;
        Err(format!("the payment {key} is not the only one, or of another type, amount or currency"))
    }
}

/// Whether it follows up a payment that has a row of its own, or is a check of 3-D Secure. A missing or unknown type may
/// be a payment.
fn is_no_payment(found: &Transaction) -> bool {
    let kinds = [
        TransactionType::CAPTURE,
        TransactionType::CANCEL_PRE_AUTH,
        TransactionType::REFUND,
        TransactionType::THREE_D_SECURE_CHECK,
        TransactionType::THREE_D_SECURE_AUTHENTICATED_ONLY,
    ];
    let checks = [StatusCode::THREE_D_SECURE_SUCCESS, StatusCode::THREE_D_SECURE_FAILED];
    kinds.contains(&found.transaction_type) || checks.contains(&found.transaction_status_code)
}

/// All orders: reads use the copy in memory; a change counts once it is on the disk.
pub(crate) struct Orders {
    folder: PathBuf,
    held: Mutex<HashMap<String, Order>>,
}

impl Orders {
    /// Reads the orders of a folder, and creates the folder if it is missing.
    pub(crate) fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let mut held = HashMap::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            // A half-written file has another extension.
            if path.extension().is_some_and(|extension| extension == "json") {
                let order: Order = serde_json::from_str(&fs::read_to_string(path)?)?;
                held.insert(order.id.clone(), order);
            }
        }
        Ok(Self { folder, held: Mutex::new(held) })
    }

    pub(crate) fn add(&self, pence: u64) -> io::Result<Order> {
        // 96 bits. Together with the attempt they fit into the 32 characters of a reference of the hosted page.
        let id = format!("{:016x}{:08x}", random()?, random()? >> 32);
        let order = Order { id, pence, attempt: 1, status: Status::Open { sessions: Vec::new() } };
        self.put(&mut self.lock(), order)
    }

    pub(crate) fn get(&self, id: &str) -> Option<Order> {
        self.lock().get(id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Order> {
        self.lock().values().cloned().collect()
    }

    /// Changes an order. When the function returns, the change is on the disk.
    pub(crate) fn change(&self, id: &str, change: impl FnOnce(&mut Order)) -> io::Result<Order> {
        let mut held = self.lock();
        let mut order = held.get(id).cloned().ok_or(io::ErrorKind::NotFound)?;
        change(&mut order);
        self.put(&mut held, order)
    }

    fn put(&self, held: &mut HashMap<String, Order>, order: Order) -> io::Result<Order> {
        let file = DurableFile::new(self.folder.join(format!("{}.json", order.id)));
        file.write(&serde_json::to_string(&order)?)?;
        held.insert(order.id.clone(), order.clone());
        Ok(order)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Order>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(clippy::disallowed_methods, reason = "the addresses of orders are unguessable")]
fn random() -> io::Result<u64> {
    getrandom::u64().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Orders of one shop often have one price, so that only the reference tells their payments apart.
    #[test]
    fn an_order_is_settled_only_by_the_single_payment_of_its_own_reference() {
        let order =
            Order { id: "a1".to_owned(), pence: 499, attempt: 2, status: Status::Open { sessions: Vec::new() } };
        let row = |reference: &str, kind: &'static str, code: &'static str, amount: &str| {
            let mut row = Transaction::default();
            row.unique_merchant_reference = reference.into();
            row.transaction_type = kind.into();
            row.transaction_status_code = code.into();
            row.transaction_value = amount.to_owned();
            row.currency = Currency::GBP;
            row
        };
        let ours = row("a1-2", "Auth", "600", "499");
        let told = |listed: &[&Transaction]| {
            order.payment(listed.iter().map(|row| (*row).clone()).collect()).map(|found| found.is_some()).ok()
        };
        assert_eq!(told(&[]), Some(false));
        assert_eq!(told(&[&ours]), Some(true));
        assert_eq!(told(&[&row("", "Auth", "901", "")]), Some(true));
        assert_eq!(
            told(&[&row("a1-2", "3DSecureCheck", "607", ""), &ours, &row("", "Refund", "600", "499")]),
            Some(true)
        );
        // Of another order or attempt, approved or declined, also beside this one.
        assert_eq!(told(&[&row("b2-1", "Auth", "600", "499")]), None);
        assert_eq!(told(&[&row("a1-1", "Auth", "901", "499")]), None);
        assert_eq!(told(&[&ours, &row("b2-1", "Refund", "600", "499")]), None);
        // Possible payments, whatever their type.
        assert_eq!(told(&[&row("a1-2", "Auth", "901", "499"), &row("a1-2", "", "600", "499")]), None);
        assert_eq!(told(&[&row("a1-2", "", "600", "499")]), None);
        assert_eq!(told(&[&row("a1-2", "PreAuth", "600", "499")]), None);
        assert_eq!(told(&[&ours, &ours]), None);
        assert_eq!(told(&[&row("a1-2", "Auth", "600", "498")]), None);
    }
}
