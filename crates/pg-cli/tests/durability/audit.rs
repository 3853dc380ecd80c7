//! Compares the final content of a sandbox with everything that was sent to it.

use std::collections::HashMap;

use serde_json::Value;

use crate::durability::{
    caller::Caller,
    writer::{Acknowledged, Write, Writer, text},
};

/// What is lost, there twice, there for no reason, or done to only one of two records.
pub(crate) fn audit(caller: &mut Caller, writers: &[Writer]) -> Vec<String> {
    let held = transactions(caller);
    let mut wrong = Vec::new();
    let mut unexplained: HashMap<&str, &Value> =
        held.iter().map(|held| (held["transactionKey"].as_str().unwrap(), held)).collect();
    if unexplained.len() != held.len() {
        wrong.push("a key is there twice".to_owned());
    }
    for acknowledged in writers.iter().flat_map(|writer| &writer.acknowledged) {
        match unexplained.remove(acknowledged.key.as_str()) {
            Some(held) if is(acknowledged, held) => {}
            other => wrong.push(format!("{acknowledged:?}: {other:?}")),
        }
    }
    // What was never answered may be there, once.
    for write in writers.iter().flat_map(|writer| &writer.unanswered) {
        let found = unexplained.iter().find(|(_, held)| may_be(write, held)).map(|(key, _)| *key);
        found.map(|key| unexplained.remove(key));
    }
    // The payment from which the card key was made.
    unexplained.retain(|_, held| held["transactionType"] != "Auth" || !held["uniqueMerchantReference"].is_null());
    wrong.extend(unexplained.values().map(|held| format!("never requested: {held}")));
    wrong.extend(half_done(&held));
    wrong
}

/// Operations, and the fields of their originals about them, are written together.
fn half_done(held: &[Value]) -> Vec<String> {
    let mut done: HashMap<(&str, &str), u64> = HashMap::new();
    for operation in held.iter().filter(|held| !held["parent"].is_null()) {
        let of = (operation["parent"].as_str().unwrap(), operation["transactionType"].as_str().unwrap());
        *done.entry(of).or_default() += operation["amount"].as_u64().unwrap();
    }
    let mut wrong = Vec::new();
    for original in held {
        let key = original["transactionKey"].as_str().unwrap();
        for (kind, member) in [("Capture", "captured"), ("Refund", "refunded")] {
            let done = done.remove(&(key, kind)).unwrap_or_default();
            if original[member] != done {
                wrong.push(format!("{done} {member} of {original}"));
            }
        }
    }
    wrong.extend(done.keys().map(|of| format!("an operation on nothing: {of:?}")));
    wrong
}

fn is(acknowledged: &Acknowledged, held: &Value) -> bool {
    held["transactionStatusCode"] == *acknowledged.status && may_be(&acknowledged.write, held)
}

fn may_be(write: &Write, held: &Value) -> bool {
    held["transactionType"] == write.kind
        && held["amount"] == write.amount
        && held["uniqueMerchantReference"].as_str() == write.reference.as_deref()
        && held["parent"].as_str() == write.parent.as_deref()
}

/// All of them, page by page.
pub(crate) fn transactions(caller: &mut Caller) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let before = all.last().map(|last| text(last, "transactionKey")).unwrap_or_default();
        let page = caller.show(&format!("transactions?limit=1000&before={before}"));
        let page = page.as_array().unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend_from_slice(page);
    }
}
