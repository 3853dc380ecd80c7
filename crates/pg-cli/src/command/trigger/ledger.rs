//! The ledger at the end of a scenario: its transactions, and the amounts charged and refunded.

use std::collections::{BTreeMap, BTreeSet};

use pg_model::{Amount, Currency};
use serde_json::{Value, json};

use crate::{
    command::{sandbox::remote, walkthrough::report::Ledger},
    control::Control,
    failure::Failure,
};

/// Everything that belongs to a reference or to one of these transactions.
pub(super) async fn of(control: &Control, reference: &str, payments: &[String]) -> Result<Ledger, Failure> {
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    let mut asked: BTreeSet<String> = BTreeSet::new();
    let mut to_ask: Vec<String> = std::iter::once(reference.to_owned()).chain(payments.iter().cloned()).collect();
    while let Some(text) = to_ask.pop() {
        if !asked.insert(text.clone()) {
            continue;
        }
        let query: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let page = control.get(&format!("transactions?limit=1000&find={query}")).await?;
        for transaction in page.as_array().into_iter().flatten() {
            // Another reference may begin with this one.
            let members = ["uniqueMerchantReference", "merchantReference", "transactionKey", "parent"];
            if !members.iter().any(|name| transaction[*name] == text.as_str()) {
                continue;
            }
            let key = transaction["transactionKey"].as_str().unwrap_or_default().to_owned();
            to_ask.push(key.clone());
            found.insert(key, transaction.clone());
        }
    }
    // Keys are ordered by time.
    let transactions: Vec<Value> = found.into_values().collect();
    let money = money(&transactions);
    let lines: Vec<String> = money.iter().map(|(currency, sums)| sums.line(currency)).collect();
    let lines = if lines.is_empty() { "nothing was charged".to_owned() } else { lines.join("\n") };
    let page =
        if transactions.is_empty() { lines } else { format!("{}\n{lines}", remote::transactions(&transactions)) };
    let money: BTreeMap<&String, Value> = money.iter().map(|(currency, sums)| (currency, sums.json())).collect();
    Ok(Ledger { json: json!({ "reference": reference, "transactions": transactions, "money": money }), page })
}

/// Minor units of one currency.
#[derive(Default)]
struct Sums {
    charges: u64,
    taken: u64,
    refunded: u64,
    reserved: u64,
}

impl Sums {
    fn line(&self, currency: &str) -> String {
        let shown = |minor| Amount::new(minor, Currency::from(currency)).to_string();
        let charges = if self.charges == 1 { "1 charge".to_owned() } else { format!("{} charges", self.charges) };
        let kept = shown(self.taken.saturating_sub(self.refunded));
        format!(
            "{charges}: {} taken, {} refunded, {kept} kept, {} still reserved",
            shown(self.taken),
            shown(self.refunded),
            shown(self.reserved)
        )
    }

    fn json(&self) -> Value {
        let Self { charges, taken, refunded, reserved } = self;
        json!({ "charges": charges, "taken": taken, "refunded": refunded, "reserved": reserved })
    }
}

/// Returns the amounts of approved transactions.
fn money(transactions: &[Value]) -> BTreeMap<String, Sums> {
    let mut money: BTreeMap<String, Sums> = BTreeMap::new();
    for transaction in transactions.iter().filter(|transaction| transaction["approved"] == true) {
        let amount = transaction["amount"].as_u64().unwrap_or_default();
        let sums = money.entry(transaction["currency"].as_str().unwrap_or_default().to_owned()).or_default();
        match transaction["transactionType"].as_str() {
            Some("Auth" | "Capture") => {
                sums.charges += 1;
                sums.taken += amount;
            }
            Some("Refund") => sums.refunded += amount,
            Some("PreAuth") => sums.reserved += transaction["capturable"].as_u64().unwrap_or_default(),
            _ => {}
        }
    }
    money
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approved_transactions_are_added_up() {
        let entry = |kind: &str, amount: u64, approved: bool| json!({ "transactionType": kind, "amount": amount, "approved": approved, "currency": "GBP", "capturable": amount });
        let money = money(&[
            entry("Auth", 998, true),
            entry("Auth", 500, false),
            entry("Refund", 300, true),
            entry("PreAuth", 50, true),
            entry("Capture", 2, true),
        ]);
        assert_eq!(money["GBP"].json(), json!({ "charges": 2, "taken": 1000, "refunded": 300, "reserved": 50 }));
        assert!(money["GBP"].line("GBP").starts_with("2 charges: "), "{}", money["GBP"].line("GBP"));
    }
}
