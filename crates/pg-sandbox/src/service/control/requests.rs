//! The newest requests and what was answered.

use serde_json::{Map, Value, json};

use super::listing::{Listing, Page};
use crate::journal::{Answered, Entry, Journal, Parameters};

pub(super) fn page(journal: &Journal, listing: &Listing) -> Page<Value> {
    // An invalid number sorts before everything.
    let before = listing.before().map(|before| before.parse().unwrap_or(0));
    let method = listing.method().and_then(pg_model::method::method);
    let wanted = |entry: &&Entry| {
        listing.merchant().is_none_or(|merchant| entry.merchant.as_deref() == Some(merchant))
            && method.is_none_or(|method| entry.info.is_some_and(|info| std::ptr::eq(info, method)))
            && listing.wants(|| view(entry))
    };
    let mut found = journal.newest(before).filter(wanted);
    let shown: Vec<&Entry> = found.by_ref().take(listing.limit()).collect();
    let next = found.next().and(shown.last()).map(|last| id(last));
    Page { entries: shown.into_iter().map(view).collect(), next }
}

pub(super) fn entry(journal: &Journal, key: &str) -> Option<Value> {
    journal.entry(key.parse().ok()?).map(view)
}

/// Digits that sort as the numbers do.
fn id(entry: &Entry) -> String {
    format!("{:010}", entry.id)
}

fn view(entry: &Entry) -> Value {
    let reply = entry.reply.as_ref();
    json!({
        "id": id(entry),
        "time": entry.at.to_string(),
        "peer": entry.peer.to_string(),
        "merchant": entry.merchant,
        "httpMethod": entry.http_method.as_str(),
        "path": entry.path,
        "method": entry.info.map(|info| format!("{info:?}")),
        "parameters": parameters(&entry.parameters),
        "parametersLeftOut": entry.parameters.left_out(),
        "fault": entry.fault.map(|fault| fault.name()),
        "status": reply.map(|reply| reply.status),
        "errorCode": reply.and_then(|reply| reply.error_code.as_deref()),
        "basis": reply.and_then(Answered::basis),
        "warnings": reply.map(Answered::warnings),
        "location": reply.and_then(Answered::location),
        "reply": reply.map(Answered::body),
    })
}

fn parameters(parameters: &Parameters) -> Value {
    parameters.iter().map(|(name, value)| (name.to_owned(), value.into())).collect::<Map<_, _>>().into()
}
