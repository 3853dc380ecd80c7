//! The expected payment, as far as the machine needs it to recognise the transaction.

use std::collections::BTreeMap;

use pg_model::{
    ApiRequest, Dialect, ParameterSink, Parameters, StatusCode, StatusMeaning, StatusRecord as _, Transaction,
    TransactionLookup, TransactionType, field::Field, method::MethodInfo,
};
use serde::{Deserialize, Serialize};

use super::UnknownReason;

/// The data that finds and recognises the transaction of the expected payment, without a card.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::machine) struct Expected {
    pub(in crate::machine) method: String,
    pub(in crate::machine) reference: String,
    pub(in crate::machine) currency: String,
    /// In minor units. `None` if it is unknown, as in an order without items.
    pub(in crate::machine) total: Option<u64>,
    #[serde(default, skip_serializing_if = "SharedWith::is_nothing")]
    pub(in crate::machine) shared: SharedWith,
}

/// Currency and amount of a payment, as far as they are known.
#[derive(Clone, Copy, Debug)]
pub(in crate::machine) struct Money<'a> {
    pub(in crate::machine) currency: &'a str,
    /// In minor units.
    pub(in crate::machine) total: Option<u64>,
}

/// Other transactions that may have the same `uniqueMerchantReference`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::machine) enum SharedWith {
    /// Only later operations on the payment: captures, cancellations, refunds.
    #[default]
    Nothing,
    /// Also the check of a 3-D Secure authentication (assumption A109).
    Check,
}

/// The result of a lookup by reference.
#[derive(Debug)]
pub(super) enum Found {
    Nothing {
        /// Whether the list contained nothing else. Otherwise it named a transaction whose type does not say whether it is a
        /// payment.
        certain: bool,
    },
    /// The list names other references, and no payment of this one: it answers another lookup.
    Others,
    One(Box<Transaction>),
    /// No single payment can be identified.
    Strange(UnknownReason),
}

impl Money<'_> {
    /// Returns how a transaction of version 3 differs. An amount that is there and not a whole number is another amount: the
    /// documents do not show the fields of a lookup.
    pub(in crate::machine) fn differs_from_text(self, currency: &str, value: &str) -> Option<&'static str> {
        let amount = value.parse().ok();
        let unreadable = self.total.is_some() && amount.is_none() && !value.is_empty();
        self.differs_from(currency, amount).or(unreadable.then_some("amount"))
    }

    /// Returns how a transaction differs. A field that either side lacks does not count as a difference.
    pub(in crate::machine) fn differs_from(self, currency: &str, value: Option<u64>) -> Option<&'static str> {
        if differs(self.currency, currency) {
            return Some("currency");
        }
        self.total.zip(value).filter(|(ours, theirs)| ours != theirs).map(|_| "amount")
    }
}

fn differs(ours: &str, theirs: &str) -> bool {
    !theirs.is_empty() && !ours.eq_ignore_ascii_case(theirs)
}

impl SharedWith {
    fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

impl Expected {
    pub(in crate::machine) fn of<M: ApiRequest>(request: &M) -> Self {
        let mut reader = ExpectedReader::default();
        request.visit(&mut reader);
        reader.expected(M::INFO)
    }

    pub(in crate::machine) fn of_parameters(info: &MethodInfo, parameters: &Parameters) -> Self {
        let mut reader = ExpectedReader::default();
        parameters.iter().for_each(|(name, value)| reader.read(name, value));
        reader.expected(info)
    }

    pub(in crate::machine) fn lookup(&self) -> TransactionLookup {
        TransactionLookup::new().unique_merchant_reference(self.reference.as_str())
    }

    /// Finds the transaction of this payment among those that a lookup of its reference returned.
    pub(super) fn among(&self, transactions: Vec<Transaction>, dialect: &Dialect) -> Found {
        let (ours, others): (Vec<_>, Vec<_>) = transactions.into_iter().partition(|found| self.bears_reference(found));
        let (ours, unknown) = self.without_checks(ours, dialect);
        let is_approved = |found: &Transaction| found.status_meaning(dialect) == StatusMeaning::Approved;
        if let Some(odd) = unknown.iter().find(|found| is_approved(found))
            && !ours.iter().any(|found| is_payment(found) && is_approved(found))
        {
            return Found::Strange(UnknownReason::OtherPayment(Box::new(odd.clone()), "type"));
        }
        let (rest, mut payments): (Vec<_>, Vec<_>) = ours.into_iter().partition(follows_up);
        let reverses = |found: &&Transaction| {
            is_any(found, &[TransactionType::REFUND, TransactionType::CANCEL_PRE_AUTH])
                && found.status_meaning(dialect) != StatusMeaning::Declined
        };
        let reversed = rest.iter().find(reverses).cloned();
        let found = if payments.len() > 1 {
            self.one_of(payments, dialect)
        } else {
            match (payments.pop(), rest.into_iter().next()) {
                (None, None) if !others.is_empty() => Found::Others,
                (None, None) => Found::Nothing { certain: unknown.is_empty() },
                (None, Some(orphan)) => Found::Strange(UnknownReason::OtherPayment(Box::new(orphan), "type")),
                (Some(payment), _) => Found::One(Box::new(payment)),
            }
        };
        match (found, reversed) {
            (Found::One(_), Some(by)) => Found::Strange(UnknownReason::Reversed(Box::new(by))),
            (found, _) => found,
        }
    }

    /// Drops the checks of authentications. The second list has the transactions whose type is missing or unknown, and whose
    /// status is not that of a check either: the documents name the types only as those seen (spec 2 §2.3).
    fn without_checks(&self, found: Vec<Transaction>, dialect: &Dialect) -> (Vec<Transaction>, Vec<Transaction>) {
        if self.shared == SharedWith::Nothing {
            return (found, Vec::new());
        }
        let (known, unknown): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|found| is_payment(found) || follows_up(found));
        (known, unknown.into_iter().filter(|found| !is_check(found, dialect)).collect())
    }

    /// Handles several payments with the reference: the right one cannot be identified, or the service charged twice.
    /// The approved payment counts if the others were declined, and there is a reason for them: a check, whose reference
    /// several authentications may share, or a service that may record a rejected copy like a declined payment.
    fn one_of(&self, mut payments: Vec<Transaction>, dialect: &Dialect) -> Found {
        let means = |payment: &Transaction, meaning| payment.status_meaning(dialect) == meaning;
        let approved = payments.iter().position(|payment| means(payment, StatusMeaning::Approved));
        let declined = payments.iter().filter(|payment| means(payment, StatusMeaning::Declined)).count();
        let several = self.shared == SharedWith::Check || !dialect.refuses_used_references();
        match approved {
            Some(at) if several && declined + 1 == payments.len() => Found::One(Box::new(payments.swap_remove(at))),
            _ => {
                let keys = payments.into_iter().map(|payment| payment.transaction_key).collect();
                Found::Strange(UnknownReason::Several(keys))
            }
        }
    }

    /// Whether a transaction of this reference is this payment: all fields that both have are equal.
    pub(super) fn recognise(&self, found: Box<Transaction>) -> Result<Box<Transaction>, UnknownReason> {
        let money = Money { currency: &self.currency, total: self.total };
        let what = if differs(self.kind().as_str(), found.transaction_type.as_str()) {
            Some("type")
        } else {
            money.differs_from_text(found.currency.as_str(), &found.transaction_value)
        };
        match what {
            Some(what) => Err(UnknownReason::OtherPayment(found, what)),
            None => Ok(found),
        }
    }

    /// Whether a transaction can have this reference. Transactions without a reference can.
    pub(super) fn bears_reference(&self, found: &Transaction) -> bool {
        found.unique_merchant_reference.is_empty() || found.unique_merchant_reference == self.reference.as_str()
    }

    fn kind(&self) -> TransactionType {
        if self.method.starts_with("preauth") { TransactionType::PRE_AUTH } else { TransactionType::AUTH }
    }
}

fn is_payment(found: &Transaction) -> bool {
    is_any(found, &[TransactionType::AUTH, TransactionType::PRE_AUTH])
}

/// Whether it is the check of an authentication: by its type, or by its status if it has an unknown type or none.
fn is_check(found: &Transaction, dialect: &Dialect) -> bool {
    let code = &found.transaction_status_code;
    // The dialect may list one code for payments and for authentications.
    let of_payments = dialect.is_pending(code) || dialect.is_declined(code);
    let by_status = *code == StatusCode::THREE_D_SECURE_SUCCESS
        || *code == StatusCode::THREE_D_SECURE_FAILED
        || (*code != StatusCode::APPROVED && !of_payments && dialect.authentication_state(code).is_some());
    by_status
        || is_any(found, &[TransactionType::THREE_D_SECURE_CHECK, TransactionType::THREE_D_SECURE_AUTHENTICATED_ONLY])
}

/// Captures, cancellations and refunds, which belong to a payment that exists separately.
fn follows_up(found: &Transaction) -> bool {
    is_any(found, &[TransactionType::CAPTURE, TransactionType::CANCEL_PRE_AUTH, TransactionType::REFUND])
}

/// The case of a type carries no meaning.
fn is_any(found: &Transaction, kinds: &[TransactionType]) -> bool {
    kinds.iter().any(|kind| found.transaction_type.as_str().eq_ignore_ascii_case(kind.as_str()))
}

/// Reads from a request what recognition needs, and nothing else.
#[derive(Default)]
struct ExpectedReader {
    reference: String,
    currency: String,
    /// Price and quantity by the number of the item.
    items: BTreeMap<String, (u64, u64)>,
}

impl ExpectedReader {
    fn read(&mut self, name: &str, value: &str) {
        let number = |text: &str| text.parse().unwrap_or(u64::MAX);
        if name == "uniqueMerchantReference" {
            value.clone_into(&mut self.reference);
        } else if name == "currency" {
            value.clone_into(&mut self.currency);
        } else if let Some(item) = name.strip_prefix("itemPrice") {
            self.items.entry(item.to_owned()).or_insert((0, 1)).0 = number(value);
        } else if let Some(item) = name.strip_prefix("itemQuantity") {
            self.items.entry(item.to_owned()).or_insert((0, 1)).1 = number(value);
        }
    }

    fn expected(self, info: &MethodInfo) -> Expected {
        Expected {
            method: info.name.to_owned(),
            total: total(self.items.values()),
            reference: self.reference,
            currency: self.currency,
            shared: SharedWith::Nothing,
        }
    }
}

impl ParameterSink for ExpectedReader {
    fn credentials(&mut self) {}

    fn parameter(&mut self, _: &'static Field, name: &str, value: &str) {
        self.read(name, value);
    }

    fn list(&mut self, _: &'static Field, _: &str, _: &mut dyn Iterator<Item = &str>) {}
}

/// Returns the sum of price times quantity. `None` without items, or on overflow.
fn total<'a>(items: impl Iterator<Item = &'a (u64, u64)>) -> Option<u64> {
    let amounts = items.map(|(price, quantity)| price.checked_mul(*quantity));
    amounts.reduce(|sum, amount| sum?.checked_add(amount?)).flatten()
}

#[cfg(test)]
mod tests {
    use pg_model::{
        AuthSessionKey, Currency, Item, Order, Preauth,
        dialect::{AuthenticationEntry, AuthenticationState, ErrorEntry, StatusEntry},
    };

    use super::*;

    fn ours() -> Expected {
        let order = Order::new(Currency::GBP)
            .item(Item::new("Tea", 499).quantity(2))
            .item(Item::new("Milk", 100))
            .unique_merchant_reference("order-7");
        Expected::of(&AuthSessionKey::new("0123456789abcdef0123456789abcdef", order))
    }

    fn among(found: Vec<Transaction>) -> Found {
        ours().among(found, &Dialect::documented())
    }

    fn transaction(kind: &str, key: &str) -> Transaction {
        Transaction::default().with(|record| {
            record.transaction_type = kind.into();
            record.transaction_key = key.into();
            record.transaction_status_code = "600".into();
        })
    }

    fn with_amount(value: &str) -> Transaction {
        transaction("Auth", "a").with(|record| record.transaction_value = value.into())
    }

    #[test]
    fn the_expected_payment_is_read_from_the_request() {
        let expected = Expected {
            method: "authSessionKey".into(),
            reference: "order-7".into(),
            currency: "GBP".into(),
            total: Some(1098),
            shared: SharedWith::Nothing,
        };
        assert_eq!(ours(), expected);
        assert_eq!(total([].iter()), None);
        assert_eq!(total([(u64::MAX, 2)].iter()), None);
        assert_eq!(total([(u64::MAX, 1), (1, 1)].iter()), None);
        assert_eq!(Expected { method: Preauth::INFO.name.into(), ..ours() }.kind(), TransactionType::PRE_AUTH);
    }

    #[test]
    fn its_transaction_is_recognised() {
        let full = transaction("Auth", "a").with(|record| {
            record.unique_merchant_reference = "order-7".into();
            record.currency = "GBP".into();
            record.transaction_value = "1098".into();
        });
        for found in [full.clone(), transaction("Auth", "a"), transaction("", "a")] {
            assert!(matches!(among(vec![found.clone()]), Found::One(_)));
            assert_eq!(ours().recognise(Box::new(found.clone())), Ok(Box::new(found)));
        }
        let foreign = full.clone().with(|record| {
            record.unique_merchant_reference = "order-8".into();
        });
        assert!(matches!(among(vec![foreign.clone()]), Found::Others));
        let spelt_otherwise = full.clone().with(|record| record.unique_merchant_reference = "Order-7".into());
        assert!(matches!(among(vec![spelt_otherwise]), Found::Others));
        assert!(matches!(among(vec![foreign, full.clone(), transaction("Capture", "r")]), Found::One(_)));
        assert!(matches!(among(Vec::new()), Found::Nothing { certain: true }));
    }

    /// The money was given back while the outcome was unknown.
    #[test]
    fn a_payment_with_a_refund_or_a_cancellation_does_not_count_as_paid() {
        let mut dialect = Dialect::documented();
        dialect.declined.push(StatusEntry::new("651", 11));
        for kind in ["Refund", "refund", "CancelPreAuth"] {
            for status in ["600", "650"] {
                let follower = transaction(kind, "r").with(|record| record.transaction_status_code = status.into());
                let found = ours().among(vec![transaction("Auth", "a"), follower], &dialect);
                let Found::Strange(UnknownReason::Reversed(by)) = found else { panic!("{kind}: {found:?}") };
                assert_eq!(by.transaction_key, "r");
            }
            // Beside a declined attempt of a 3-D Secure payment.
            let three_d_secure = Expected { shared: SharedWith::Check, ..ours() };
            let declined = transaction("Auth", "d").with(|record| record.transaction_status_code = "651".into());
            let all = vec![declined, transaction("Auth", "a"), transaction(kind, "r")];
            let found = three_d_secure.among(all, &dialect);
            assert!(matches!(found, Found::Strange(UnknownReason::Reversed(_))), "{kind}: {found:?}");
            let failed = transaction(kind, "r").with(|record| record.transaction_status_code = "651".into());
            assert!(matches!(ours().among(vec![transaction("Auth", "a"), failed], &dialect), Found::One(_)), "{kind}");
        }
    }

    #[test]
    fn another_payment_of_the_same_reference_is_not_taken_for_it() {
        for (other, what) in [
            (
                transaction("Auth", "a").with(|record| {
                    record.transaction_value = "1097".into();
                }),
                "amount",
            ),
            (
                transaction("Auth", "a").with(|record| {
                    record.currency = "EUR".into();
                }),
                "currency",
            ),
            (with_amount("5000.00"), "amount"),
            (with_amount("10,98"), "amount"),
            (with_amount("-1098"), "amount"),
            (with_amount("99999999999999999999999"), "amount"),
            (transaction("PreAuth", "a"), "type"),
            (transaction("3DSecureCheck", "a"), "type"),
        ] {
            assert_eq!(
                ours().recognise(Box::new(other.clone())),
                Err(UnknownReason::OtherPayment(Box::new(other), what))
            );
        }
        let orphan = among(vec![transaction("Refund", "r")]);
        assert!(matches!(orphan, Found::Strange(UnknownReason::OtherPayment(_, "type"))));
        let both = vec![transaction("3DSecureCheck", "c"), transaction("Auth", "a")];
        let Found::Strange(UnknownReason::Several(keys)) = among(both) else { panic!("one of two") };
        assert_eq!(keys, ["c", "a"]);
    }

    #[test]
    fn the_check_of_an_authentication_is_no_payment() {
        let three_d_secure = Expected { shared: SharedWith::Check, ..ours() };
        let among = |found: Vec<Transaction>| three_d_secure.among(found, &Dialect::documented());
        let check = || transaction("3DSAuthenticatedOnly", "c");
        assert!(matches!(among(vec![check()]), Found::Nothing { certain: true }));
        assert!(
            matches!(among(vec![check(), transaction("auth", "a")]), Found::One(found) if found.transaction_key == "a")
        );
        let Found::One(other) = among(vec![check(), transaction("PreAuth", "p")]) else { panic!("a payment") };
        assert!(matches!(three_d_secure.recognise(other), Err(UnknownReason::OtherPayment(_, "type"))));
        let foreign = transaction("Auth", "a").with(|record| {
            record.unique_merchant_reference = "order-8".into();
        });
        assert!(matches!(among(vec![check(), foreign]), Found::Others));
    }

    // spec: 2 §2.3, A109
    #[test]
    fn an_approved_transaction_of_an_unknown_type_may_be_the_3_d_secure_payment() {
        let three_d_secure = Expected { shared: SharedWith::Check, ..ours() };
        let among = |found: Vec<Transaction>| three_d_secure.among(found, &Dialect::documented());
        let with = |kind: &str, code: &str| {
            transaction(kind, code).with(|record| {
                record.transaction_status_code = code.into();
            })
        };
        let check = || with("3DSAuthenticatedOnly", "607");
        for kind in ["Auth3DSecure", "Sale", ""] {
            let found = among(vec![check(), with(kind, "600")]);
            let Found::Strange(UnknownReason::OtherPayment(odd, "type")) = found else { panic!("{kind}: {found:?}") };
            assert_eq!(odd.transaction_key, "600");
            // A status that is not known to be final.
            assert!(matches!(among(vec![check(), with(kind, "650")]), Found::Nothing { certain: false }), "{kind}");
            // One status for payments and for authentications says nothing either.
            let mut dialect = Dialect::documented();
            dialect.pending.push(StatusEntry::new("650", 11));
            dialect.authentication.push(AuthenticationEntry::new("650", AuthenticationState::Pending, 106));
            let found = three_d_secure.among(vec![check(), with(kind, "650")], &dialect);
            assert!(matches!(found, Found::Nothing { certain: false }), "{kind}");
            // Nor does a dialect make the status of approved payments that of a check.
            dialect.authentication.push(AuthenticationEntry::new("600", AuthenticationState::Pending, 106));
            let found = three_d_secure.among(vec![check(), with(kind, "600")], &dialect);
            assert!(matches!(found, Found::Strange(UnknownReason::OtherPayment(_, "type"))), "{kind}");
            // By its status it is the check.
            assert!(matches!(among(vec![with(kind, "607")]), Found::Nothing { certain: true }), "{kind}");
            assert!(matches!(among(vec![with(kind, "608")]), Found::Nothing { certain: true }), "{kind}");
            // Beside the approved payment it is something else.
            let found = among(vec![with(kind, "600"), transaction("Auth", "a")]);
            assert!(matches!(found, Found::One(payment) if payment.transaction_key == "a"), "{kind}");
            // Beside a declined one it may be the payment.
            let mut dialect = Dialect::documented();
            dialect.declined.push(StatusEntry::new("651", 11));
            let found = three_d_secure.among(vec![with("Auth", "651"), with(kind, "600")], &dialect);
            assert!(matches!(found, Found::Strange(UnknownReason::OtherPayment(_, "type"))), "{kind}");
        }
    }

    #[test]
    fn the_approved_one_of_several_counts_when_the_others_were_declined_for_a_reason() {
        let mut dialect = Dialect::documented();
        dialect.declined.push(StatusEntry::new("651", 11));
        let mut named = dialect.clone();
        let mut used = ErrorEntry::new("199", 92);
        used.situations = vec!["duplicate-unique-reference".into()];
        named.errors.push(used);
        let with = |code: &str, key: &str| {
            transaction("Auth", key).with(|record| {
                record.transaction_status_code = code.into();
            })
        };
        let three_d_secure = Expected { shared: SharedWith::Check, ..ours() };
        let all = || vec![with("651", "a"), with("600", "b"), with("651", "c")];
        for found in [three_d_secure.among(all(), &named), ours().among(all(), &dialect)] {
            assert!(matches!(found, Found::One(payment) if payment.transaction_key == "b"));
        }
        let Found::Strange(UnknownReason::Several(keys)) = ours().among(all(), &named) else { panic!("three") };
        assert_eq!(keys, ["a", "b", "c"]);
        for expected in [&three_d_secure, &ours()] {
            let twice = vec![with("600", "a"), with("651", "b"), with("600", "c")];
            let found = expected.among(twice, &dialect);
            assert!(matches!(found, Found::Strange(UnknownReason::Several(keys)) if keys.len() == 3));
        }
        for others in [["600", "600"], ["600", "699"], ["651", "651"]] {
            for expected in [&three_d_secure, &ours()] {
                let found = expected.among(vec![with(others[0], "a"), with(others[1], "b")], &dialect);
                assert!(matches!(found, Found::Strange(UnknownReason::Several(keys)) if keys.len() == 2), "{others:?}");
            }
        }
    }
}
