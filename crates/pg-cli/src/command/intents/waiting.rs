//! Payments that wait for a customer.

use pg_hyper::proto::machine::{checkout, three_d_secure};
use pg_intents::{FleetEvent, IntentRow, IntentStatus, IntentStore};

use super::{Arguments, One, failure, find, not_known, stops, told};
use crate::failure::{Exit, Failure};

const OPEN_PAGE: &str = "its hosted page is open: it is looked up after a callback or the customer's return, or when its time is over; \
                         `pg intents withdraw` closes the page and looks for a payment on it";
const NO_KEY: &str =
    "it waits for its customer in a sealed store: give the key with --store-key FILE or PG_INTENTS_KEY";

/// Makes the machine of a 3-D Secure payment ask for the result of the challenge, as the customer's return does. Returns a
/// note if no lookup finds out about it: of an open page.
pub(super) async fn ask<S: IntentStore>(store: &S, row: &IntentRow) -> Result<Option<&'static str>, Failure> {
    match row.plain_kind() {
        _ if row.asks.is_none() => {}
        checkout::NAME => return Ok(Some(OPEN_PAGE)),
        three_d_secure::NAME if row.sealed_with().is_some() => {
            let text = "a worker takes it, but does not ask for the result of its challenge";
            let text = format!("{}: {text}, since {NO_KEY}, and reconcile it again", row.key.reference);
            return Err(Failure::new(Exit::Refused, text));
        }
        three_d_secure::NAME => drop(deliver(store, row, &FleetEvent::Returned).await?),
        _ => {}
    }
    Ok(None)
}

pub(super) async fn withdraw<S: IntentStore>(
    store: &S,
    arguments: &Arguments,
    one: &One,
    json: bool,
) -> Result<Exit, Failure> {
    let row = find(store, arguments.account.clone(), &one.reference).await?;
    let (account, reference) = (&row.key.account, &row.key.reference);
    let kind = row.plain_kind();
    if kind != checkout::NAME {
        return Err(Failure::misuse(format!("{reference}: only a checkout has a page to withdraw; this is: {kind}")));
    }
    if row.sealed_with().is_some() {
        return Err(Failure::misuse(format!("{reference}: {NO_KEY}")));
    }
    if row.status == IntentStatus::Parked {
        return Err(Failure::new(Exit::Refused, format!("{reference}: it is parked: reconcile it first")));
    }
    // It is read first, so that a failure to read it is not reported as a failure of a directive that was stored.
    let stop = store.stopped(account).await.map_err(failure)?;
    if !deliver(store, &row, &FleetEvent::Cancelled).await? {
        return Err(Failure::new(Exit::Refused, format!("{reference}: it has ended")));
    }
    if let Some(reason) = stop {
        stops::say(account, &reason);
    }
    let text = "a worker closes its page as soon as one is free, unless the service has cancelled it before, then looks \
                for a payment on it";
    told(text, json, &serde_json::json!({ "account": account, "reference": reference, "directive": "withdraw" }))
}

async fn deliver<S: IntentStore>(store: &S, row: &IntentRow, event: &FleetEvent) -> Result<bool, Failure> {
    let event = serde_json::to_string(event).map_err(|error| Failure::misuse(error.to_string()))?;
    store.deliver(&row.key, &event).await.map_err(|error| not_known(&error))
}
