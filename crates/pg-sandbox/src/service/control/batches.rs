//! A batch with its cards, and `POST /_sandbox/batches/{key}/spoil`.

use serde_json::{Value, json};

use super::{Answer, Context, Refusal, not_here, shown};
use crate::records::{Batch, BatchCards, BatchEntry};

/// Returns the batch with the result of each card; `None` if it does not exist.
pub(super) fn whole(context: &mut Context<'_>, key: &str) -> Result<Option<Value>, Refusal> {
    let Some(batch) = context.records.get::<Batch>(key)? else { return Ok(None) };
    let cards = context.records.get::<BatchCards>(key)?;
    let mut view = batch.view();
    view["entries"] = cards.iter().flat_map(|cards| &cards.entries).map(entry).collect();
    Ok(Some(view))
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

/// Makes the batch's results unreadable: error 181 (A72).
pub(super) fn spoil(context: &mut Context<'_>, key: &str) -> Result<Answer, Refusal> {
    let Some(mut batch) = context.records.get::<Batch>(key)?.filter(|batch| context.concerns(&batch.merchant)) else {
        return Ok(not_here("there is no such batch; a batch"));
    };
    batch.spoiled = true;
    context.records.put(&batch)?;
    Ok(shown(batch.view()))
}
