//! `GET /_sandbox/batches/{key}`, `POST /_sandbox/batches/{key}/spoil`.

use http::StatusCode;
use serde_json::{Value, json};

use super::{Context, Refusal, Reply, error, shown};
use crate::records::{Batch, BatchCards, BatchEntry};

const UNKNOWN: &str = "there is no such batch";

pub(super) fn show(context: &mut Context<'_>, key: &str) -> Result<Reply, Refusal> {
    let Some(batch) = context.records.get::<Batch>(key)? else { return Ok(error(StatusCode::NOT_FOUND, UNKNOWN)) };
    let cards = context.records.get::<BatchCards>(key)?;
    let mut view = batch.view();
    view["entries"] = cards.iter().flat_map(|cards| &cards.entries).map(entry).collect();
    Ok(shown(&view))
}

fn entry(entry: &BatchEntry) -> Value {
    let mut view = json!({ "oldCardKey": entry.old_card_key });
    if !entry.response.is_empty() {
        view["response"] = entry.response.as_str().into();
    }
    if let Some(new) = &entry.new {
        view["cardKey"] = new.card_key.as_str().into();
        view["cardNumber"] = new.card_number.as_str().into();
        view["cardExpiry"] = format!("{}/{}", new.card_expiry_month, new.card_expiry_year).into();
    }
    view
}

/// From now on the batch's results cannot be read: error 181 (assumption 72).
pub(super) fn spoil(context: &mut Context<'_>, key: &str) -> Result<Reply, Refusal> {
    let Some(mut batch) = context.records.get::<Batch>(key)? else {
        return Ok(error(StatusCode::NOT_FOUND, UNKNOWN));
    };
    batch.spoiled = true;
    context.records.put(&batch)?;
    Ok(shown(&batch.view()))
}
