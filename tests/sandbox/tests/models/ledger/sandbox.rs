//! The sandbox, asked what the model was asked.

use proptest_state_machine::StateMachineTest;
use serde_json::Value;

use super::{Card, Kind, Ledger, Promise, Step, Version};
use crate::models::service::{NO_KEY, Pairs, Service, Who, before_newest, text};

/// A sandbox, and the keys of the model's transactions.
pub(crate) struct Beside<const WRONG: u8> {
    service: Service,
    keys: Vec<String>,
}

impl<const WRONG: u8> StateMachineTest for Beside<WRONG> {
    type SystemUnderTest = Self;
    type Reference = Ledger<WRONG>;

    fn init_test(_: &Ledger<WRONG>) -> Self {
        Self { service: Service::open(), keys: Vec::new() }
    }

    fn apply(mut beside: Self, model: &Ledger<WRONG>, step: Step) -> Self {
        match step {
            Step::Wait(seconds) => beside.service.wait(seconds),
            Step::LookUp { who, which, unique, reference } => {
                let mut pairs = Pairs::new();
                pairs.extend(which.map(|which| ("transactionKey", beside.key(which))));
                pairs.extend(unique.map(|unique| ("uniqueMerchantReference", format!("unique-{unique}"))));
                pairs.extend(reference.map(|reference| ("merchantReference", format!("order-{reference}"))));
                let found = beside.service.version_3(who, "transaction/lookup", pairs);
                beside.hold(model, found.map(|found| found["transactions"].clone()));
            }
            Step::Status { who, which } => {
                let pairs = vec![("trans_key", beside.key(which))];
                let found = beside.service.version_5(who, "transaction_lookup", pairs);
                beside.hold(model, found.map(|found| Value::from(found.text("status"))));
            }
            step => {
                let recorded = beside.charge(model, step);
                beside.hold(model, recorded.map(Value::from));
            }
        }
        beside.hold_list(model);
        beside
    }
}

impl<const WRONG: u8> Beside<WRONG> {
    /// The key of the model's transaction.
    fn key(&self, which: usize) -> String {
        self.keys.get(before_newest(self.keys.len(), which)).map_or_else(|| NO_KEY.to_owned(), Clone::clone)
    }

    /// The key of what the sandbox has recorded, or the code of its error.
    fn charge(&mut self, model: &Ledger<WRONG>, step: Step) -> Result<String, String> {
        match step {
            Step::Pay(payment) => {
                let year = if payment.card == Card::Short { ("05", "26") } else { ("12", "49") };
                let mut pairs: Pairs = vec![
                    ("currency", payment.currency.to_owned()),
                    ("itemName0", "Tea".to_owned()),
                    ("itemPrice0", payment.price.to_string()),
                    ("itemQuantity0", payment.quantity.to_string()),
                    ("cardNumber", payment.card.number().to_owned()),
                    ("cardExpiryMonth", year.0.to_owned()),
                    ("cardExpiryYear", year.1.to_owned()),
                ];
                pairs.extend(payment.unique.map(|unique| ("uniqueMerchantReference", format!("unique-{unique}"))));
                pairs.extend(payment.reference.map(|reference| ("merchantReference", format!("order-{reference}"))));
                let method = if payment.kind == Kind::Auth { "transaction/auth" } else { "transaction/preauth" };
                self.version_3(payment.who, method, pairs)
            }
            Step::Operate { who, version: Version::Three, what, which, unique, reference, .. } => {
                let mut pairs = vec![("transactionKey", self.key(which))];
                pairs.extend(unique.map(|unique| ("uniqueMerchantReference", format!("unique-{unique}"))));
                pairs.extend(reference.map(|reference| ("merchantReference", format!("order-{reference}"))));
                pairs.extend(model.value.map(|value| ("transactionValue", value.to_string())));
                let method = match what {
                    Kind::Capture => "transaction/capturepreauth",
                    Kind::Cancel => "transaction/cancelpreauth",
                    _ => "transaction/refund",
                };
                self.version_3(who, method, pairs)
            }
            Step::Operate { who, what, which, .. } => {
                let method = match what {
                    Kind::Capture => "capture",
                    Kind::Cancel => "cancel",
                    _ => "refund",
                };
                self.version_5(model, who, method, which, model.value.unwrap(), None)
            }
            Step::Repeat { who, kind, which, value } => {
                let kind = if kind == Kind::Auth { "Auth" } else { "PreAuth" };
                self.version_5(model, who, "repeat", which, value, Some(kind))
            }
            other => panic!("{other:?} records nothing"),
        }
    }

    fn version_3(&mut self, who: Who, method: &str, pairs: Pairs) -> Result<String, String> {
        let reply = self.service.version_3(who, method, pairs)?;
        Ok(text(&reply, "transactionKey").to_owned())
    }

    fn version_5(
        &mut self,
        model: &Ledger<WRONG>,
        who: Who,
        method: &str,
        which: usize,
        value: u64,
        kind: Option<&str>,
    ) -> Result<String, String> {
        let key = self.key(which);
        let currency = model.entries.get(before_newest(self.keys.len(), which)).map_or("GBP", |entry| entry.currency);
        let mut pairs = vec![("prev_trans_key", key.clone()), ("trans_value", decimal(value, currency))];
        pairs.extend(kind.map(|kind| ("trans_type", kind.to_owned())));
        let reply = self.service.version_5(who, method, pairs)?;
        assert_eq!((reply.text("prev_trans_key"), reply.text("trans_value")), (key, decimal(value, currency)));
        let approved = model.entries.last().is_some_and(|entry| entry.status == "600");
        assert_eq!(reply.text("status"), if approved { "1" } else { "0" });
        Ok(reply.text("trans_key"))
    }

    /// Holds an answer against the promise.
    fn hold(&mut self, model: &Ledger<WRONG>, answer: Result<Value, String>) {
        match (&model.promise, answer) {
            (Promise::Refused(codes), Err(code)) => assert!(codes.contains(&&*code), "{code}, not {codes:?}"),
            (Promise::Unheard, Err(code)) => {
                assert_eq!(code, "119");
                let list = self.service.list("transactions");
                self.keys.push(text(list.last().unwrap(), "transactionKey").to_owned());
            }
            (Promise::Recorded, Ok(key)) => self.keys.push(key.as_str().unwrap().to_owned()),
            (Promise::Status(wanted), Ok(status)) => assert_eq!(status, *wanted),
            (Promise::Found(wanted), Ok(found)) => {
                let found = (0..).map_while(|at: usize| found.get(at.to_string())).collect::<Vec<_>>();
                assert_eq!(found.len(), wanted.len(), "{found:?}");
                for (found, at) in found.iter().zip(wanted) {
                    self.hold_record(model, found, *at);
                }
            }
            (promise, answer) => panic!("{answer:?}, not {promise:?}"),
        }
    }

    fn hold_record(&self, model: &Ledger<WRONG>, found: &Value, at: usize) {
        let entry = &model.entries[at];
        let value = entry.amount.to_string();
        let reference = entry.reference.map(|reference| format!("order-{reference}")).unwrap_or_default();
        let unique = entry.unique.map(|unique| format!("unique-{unique}")).unwrap_or_default();
        for (name, wanted) in [
            ("transactionKey", self.keys[at].as_str()),
            ("transactionStatusCode", entry.status),
            ("transactionType", kind(entry.kind)),
            ("currency", entry.currency),
            ("merchantReference", &reference),
            ("uniqueMerchantReference", &unique),
            ("originalTransactionKey", entry.parent.map_or("", |parent| &self.keys[parent])),
        ] {
            assert_eq!(text(found, name), wanted, "{name}");
        }
        assert_eq!(found["transactionValue"].to_string().trim_matches('"'), value);
    }

    /// Everything that is recorded: whose, what, and how much of it is left.
    fn hold_list(&mut self, model: &Ledger<WRONG>) {
        let list = self.service.list("transactions");
        assert_eq!(list.len(), model.entries.len(), "transactions");
        for (at, (held, entry)) in list.iter().zip(&model.entries).enumerate() {
            let left = model.left(at, Kind::Capture);
            let texts = ["transactionKey", "merchant", "transactionType", "transactionStatusCode"];
            let wanted = [&*self.keys[at], entry.owner.name(), kind(entry.kind), entry.status];
            assert_eq!(texts.map(|name| text(held, name)), wanted);
            let amounts = ["amount", "captured", "cancelled", "refunded", "capturable", "cancellable", "refundable"];
            let refundable = model.left(at, Kind::Refund);
            let wanted = [entry.amount, entry.captured, entry.cancelled, entry.refunded, left, left, refundable];
            assert_eq!(amounts.map(|name| held[name].as_u64().unwrap()), wanted, "{held}");
            self.hold_sums(&list, held);
        }
    }

    /// What was done to a transaction, added up from the operations alone, never exceeds it.
    fn hold_sums(&self, list: &[Value], held: &Value) {
        let of = |kinds: &[&str]| -> u64 {
            let mine = |other: &&Value| {
                other["parent"] == held["transactionKey"] && kinds.contains(&text(other, "transactionType"))
            };
            list.iter().filter(mine).map(|other| other["amount"].as_u64().unwrap()).sum()
        };
        let amount = held["amount"].as_u64().unwrap();
        assert!(of(&["Capture", "CancelPreAuth"]) <= amount && of(&["Refund"]) <= amount, "{held}");
    }
}

const fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Auth => "Auth",
        Kind::PreAuth => "PreAuth",
        Kind::Capture => "Capture",
        Kind::Cancel => "CancelPreAuth",
        Kind::Refund => "Refund",
    }
}

/// Minor units as version 5 writes them (spec 3 §2; A124).
fn decimal(minor: u64, currency: &str) -> String {
    let decimals = match currency {
        "JPY" => return minor.to_string(),
        "BHD" => 3,
        _ => 2,
    };
    let digits = format!("{minor:0>width$}", width = decimals + 1);
    let (whole, rest) = digits.split_at(digits.len() - decimals);
    format!("{whole}.{rest}")
}
