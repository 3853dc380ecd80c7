//! What an operator tells the workers to do with one payment.

use pg_intents::{Directive, IntentRow, IntentStore};

use super::{Arguments, failure, find, not_known, stops, told, waiting};
use crate::{
    failure::{Exit, Failure},
    output,
};

/// What follows a reconciliation.
pub(super) const TAKEN: &str = "a worker takes it as soon as one is free";

pub(super) async fn give<S: IntentStore>(
    store: &S,
    arguments: &Arguments,
    reference: &str,
    directive: Directive,
    json: bool,
) -> Result<Exit, Failure> {
    let row = find(store, arguments.account.clone(), reference).await?;
    let account = &row.key.account;
    // It is read first, so that a failure to read it is not reported as a failure of a directive that was stored.
    let stop = match directive {
        Directive::Park => None,
        Directive::Reconcile => store.stopped(account).await.map_err(failure)?,
    };
    let (name, text) = match directive {
        Directive::Park => {
            store_it(store, &row, directive).await?;
            ("park", "parked: no worker touches it until `pg intents reconcile`")
        }
        Directive::Reconcile => {
            let note = reconcile(store, &row).await;
            if let Some(reason) = stop {
                stops::say(account, &reason);
            }
            if let Some(note) = note? {
                output::say(note);
            }
            ("reconcile", TAKEN)
        }
    };
    told(text, json, &serde_json::json!({ "account": account, "reference": reference, "directive": name }))
}

/// Hands a payment to the next free worker. Returns a note if that alone does not find out about it.
pub(super) async fn reconcile<S: IntentStore>(store: &S, row: &IntentRow) -> Result<Option<&'static str>, Failure> {
    store_it(store, row, Directive::Reconcile).await?;
    waiting::ask(store, row).await
}

async fn store_it<S: IntentStore>(store: &S, row: &IntentRow, directive: Directive) -> Result<(), Failure> {
    if store.direct(&row.key, directive).await.map_err(|error| not_known(&error))? {
        return Ok(());
    }
    let outcome = if row.sealed_with().is_some() { None } else { row.outcome.as_deref() };
    let outcome = outcome.unwrap_or("its outcome is sealed");
    Err(Failure::new(Exit::Refused, format!("{}: it has ended: {outcome}", row.key.reference)))
}
