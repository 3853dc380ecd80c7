//! What is to be paid, as far as it is needed to recognise the transaction.

use std::collections::BTreeMap;

use pg_model::{ApiRequest, ParameterSink, Transaction, TransactionLookup, TransactionType, field::Field};
use serde::{Deserialize, Serialize};

use super::UnknownReason;

/// What is to be paid: enough to find the transaction and to recognise it, and no card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Intent {
    pub(super) method: String,
    pub(super) reference: String,
    pub(super) currency: String,
    /// Whole minor units; `None` when it can't be told, as in an order without items.
    pub(super) total: Option<u64>,
}

/// What a lookup found of a reference.
pub(super) enum Found {
    Nothing {
        /// The list was empty. Otherwise it named other references, as if it were not the list that was asked for.
        certain: bool,
    },
    One(Box<Transaction>),
    /// More than one payment leaves.
    Strange(UnknownReason),
}

impl Intent {
    pub(super) fn of<M: ApiRequest>(request: &M) -> Self {
        let mut reader = IntentReader::default();
        request.visit(&mut reader);
        Self {
            method: M::INFO.name.to_owned(),
            reference: reader.reference,
            currency: reader.currency,
            total: total(reader.items.values()),
        }
    }

    pub(super) fn lookup(&self) -> TransactionLookup {
        TransactionLookup::new().unique_merchant_reference(self.reference.as_str())
    }

    /// The transaction of this payment among those that a lookup of its reference returned.
    pub(super) fn among(&self, transactions: Vec<Transaction>) -> Found {
        let certain = transactions.is_empty();
        let (rest, mut payments): (Vec<_>, Vec<_>) =
            transactions.into_iter().filter(|found| self.bears_reference(found)).partition(follows_up);
        match (payments.pop(), rest.into_iter().next()) {
            (None, None) => Found::Nothing { certain },
            (None, Some(orphan)) => Found::Strange(UnknownReason::OtherPayment(Box::new(orphan), "type")),
            (Some(payment), _) if payments.is_empty() => Found::One(Box::new(payment)),
            (Some(last), _) => {
                let keys = payments.into_iter().chain([last]).map(|payment| payment.transaction_key);
                Found::Strange(UnknownReason::Several(keys.collect()))
            }
        }
    }

    /// Whether a transaction of this reference is this payment: unless something that both name differs.
    pub(super) fn recognise(&self, found: Box<Transaction>) -> Result<Box<Transaction>, UnknownReason> {
        let differs = |ours: &str, theirs: &str| !theirs.is_empty() && !ours.eq_ignore_ascii_case(theirs);
        let value: Option<u64> = found.transaction_value.parse().ok();
        let what = if differs(self.kind().as_str(), found.transaction_type.as_str()) {
            "type"
        } else if differs(&self.currency, found.currency.as_str()) {
            "currency"
        } else if self.total.zip(value).is_some_and(|(ours, theirs)| ours != theirs) {
            "amount"
        } else {
            return Ok(found);
        };
        Err(UnknownReason::OtherPayment(found, what))
    }

    /// Whether a transaction can be one of this reference: those that do not say which they have, do.
    pub(super) fn bears_reference(&self, found: &Transaction) -> bool {
        found.unique_merchant_reference.is_empty() || found.unique_merchant_reference == self.reference.as_str()
    }

    fn kind(&self) -> TransactionType {
        if self.method.starts_with("preauth") { TransactionType::PRE_AUTH } else { TransactionType::AUTH }
    }
}

/// Captures, cancellations and refunds belong to a payment that is there itself.
fn follows_up(found: &Transaction) -> bool {
    [TransactionType::CAPTURE, TransactionType::CANCEL_PRE_AUTH, TransactionType::REFUND]
        .iter()
        .any(|kind| found.transaction_type.as_str().eq_ignore_ascii_case(kind.as_str()))
}

/// Takes from a request what an intent needs, and nothing else.
#[derive(Default)]
struct IntentReader {
    reference: String,
    currency: String,
    /// Price and quantity by the number of the item.
    items: BTreeMap<String, (u64, u64)>,
}

impl ParameterSink for IntentReader {
    fn credentials(&mut self) {}

    fn parameter(&mut self, _: &'static Field, name: &str, value: &str) {
        match name {
            "uniqueMerchantReference" => value.clone_into(&mut self.reference),
            "currency" => value.clone_into(&mut self.currency),
            _ => {
                let number = |text: &str| text.parse().unwrap_or(u64::MAX);
                if let Some(item) = name.strip_prefix("itemPrice") {
                    self.items.entry(item.to_owned()).or_insert((0, 1)).0 = number(value);
                } else if let Some(item) = name.strip_prefix("itemQuantity") {
                    self.items.entry(item.to_owned()).or_insert((0, 1)).1 = number(value);
                }
            }
        }
    }

    fn list(&mut self, _: &'static Field, _: &str, _: &mut dyn Iterator<Item = &str>) {}
}

/// The sum of price times quantity; `None` without items, or when it is too large.
fn total<'a>(items: impl Iterator<Item = &'a (u64, u64)>) -> Option<u64> {
    let amounts = items.map(|(price, quantity)| price.checked_mul(*quantity));
    amounts.reduce(|sum, amount| sum?.checked_add(amount?)).flatten()
}

#[cfg(test)]
mod tests {
    use pg_model::{AuthSessionKey, Currency, Item, Order, Preauth};

    use super::*;

    fn intent() -> Intent {
        let order = Order::new(Currency::GBP)
            .item(Item::new("Tea", 499).quantity(2))
            .item(Item::new("Milk", 100))
            .unique_merchant_reference("order-7");
        Intent::of(&AuthSessionKey::new("0123456789abcdef0123456789abcdef", order))
    }

    fn transaction(kind: &str, key: &str) -> Transaction {
        Transaction {
            transaction_type: kind.into(),
            transaction_key: key.into(),
            transaction_status_code: "600".into(),
            ..Transaction::default()
        }
    }

    #[test]
    fn it_is_read_from_the_request() {
        let expected = Intent {
            method: "authSessionKey".into(),
            reference: "order-7".into(),
            currency: "GBP".into(),
            total: Some(1098),
        };
        assert_eq!(intent(), expected);
        assert_eq!(total([].iter()), None);
        assert_eq!(total([(u64::MAX, 2)].iter()), None);
        assert_eq!(total([(u64::MAX, 1), (1, 1)].iter()), None);
        assert_eq!(Intent { method: Preauth::INFO.name.into(), ..intent() }.kind(), TransactionType::PRE_AUTH);
    }

    #[test]
    fn its_transaction_is_recognised() {
        let full = Transaction {
            unique_merchant_reference: "order-7".into(),
            currency: "GBP".into(),
            transaction_value: "1098".into(),
            ..transaction("Auth", "a")
        };
        for found in [full.clone(), transaction("Auth", "a"), transaction("", "a")] {
            assert!(matches!(intent().among(vec![found.clone()]), Found::One(_)));
            assert_eq!(intent().recognise(Box::new(found.clone())), Ok(Box::new(found)));
        }
        let foreign = Transaction { unique_merchant_reference: "order-8".into(), ..full.clone() };
        assert!(matches!(intent().among(vec![foreign.clone()]), Found::Nothing { certain: false }));
        assert!(matches!(intent().among(vec![foreign, full.clone(), transaction("Refund", "r")]), Found::One(_)));
        assert!(matches!(intent().among(Vec::new()), Found::Nothing { certain: true }));
    }

    #[test]
    fn another_payment_of_the_same_reference_is_not_taken_for_it() {
        for (other, what) in [
            (Transaction { transaction_value: "1097".into(), ..transaction("Auth", "a") }, "amount"),
            (Transaction { currency: "EUR".into(), ..transaction("Auth", "a") }, "currency"),
            (transaction("PreAuth", "a"), "type"),
            (transaction("3DSecureCheck", "a"), "type"),
        ] {
            assert_eq!(
                intent().recognise(Box::new(other.clone())),
                Err(UnknownReason::OtherPayment(Box::new(other), what))
            );
        }
        let orphan = intent().among(vec![transaction("Refund", "r")]);
        assert!(matches!(orphan, Found::Strange(UnknownReason::OtherPayment(_, "type"))));
        let both = vec![transaction("3DSecureCheck", "c"), transaction("Auth", "a")];
        let Found::Strange(UnknownReason::Several(keys)) = intent().among(both) else { panic!("one of two") };
        assert_eq!(keys, ["c", "a"]);
    }
}
