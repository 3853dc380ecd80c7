//! All parked payments at once.

use pg_intents::{IntentFilter, IntentKey, IntentRow, IntentStatus, IntentStore};
use serde::Serialize;

use super::{
    Arguments,
    directives::{self, TAKEN},
    failure, find, stops,
};
use crate::{
    failure::{Exit, Failure},
    output,
};

const NOT_PARKED: &str = "it is no longer parked";

/// What became of one payment.
#[derive(Serialize)]
struct Reconciled<'a> {
    account: &'a str,
    reference: &'a str,
    directive: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(flatten)]
    failure: Option<Failure>,
}

#[derive(Serialize)]
struct All<'a> {
    payments: Vec<Reconciled<'a>>,
}

/// Reconciles every payment that is parked now, whatever becomes of the others. The one that changed first begins.
pub(super) async fn reconcile<S: IntentStore>(store: &S, arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    let filter = IntentFilter {
        account: arguments.account.clone(),
        statuses: vec![IntentStatus::Parked],
        most: u32::MAX,
        ..IntentFilter::default()
    };
    let parked = store.list(filter).await.map_err(failure)?;
    stops::Stops::default().tell(store, arguments, &parked, false).await?;
    let has_accounts = parked.iter().any(|row| row.key.account != parked[0].key.account);
    let mut payments = Vec::with_capacity(parked.len());
    let mut away = None;
    for IntentRow { key: IntentKey { account, reference }, .. } in parked.iter().rev() {
        let found = find(store, Some(account.clone()), reference).await;
        let result = match found {
            Err(failure) if failure.exit() == Exit::NotReachable => {
                away = Some(failure);
                break;
            }
            Err(failure) => Err(failure),
            // Another operator was faster, and a worker may have it.
            Ok(row) if row.status != IntentStatus::Parked => Ok(Some(NOT_PARKED)),
            Ok(row) => directives::reconcile(store, &row).await,
        };
        if !json {
            let of_account = if has_accounts { format!(" of {account}") } else { String::new() };
            output::data(&format!("{reference}{of_account}: {}", text(&result, reference)))?;
        }
        let (note, failure) = result.map_or_else(|failure| (None, Some(failure)), |note| (note, None));
        payments.push(Reconciled { account, reference, directive: "reconcile", note, failure });
    }
    report(payments, parked.len(), away, json)
}

/// Ends the command. `away`: why the rest was not tried.
fn report(payments: Vec<Reconciled<'_>>, all: usize, away: Option<Failure>, json: bool) -> Result<Exit, Failure> {
    let failed = payments.iter().filter(|one| one.failure.is_some()).count();
    let ended = match away {
        Some(failure) => {
            let left = all - payments.len();
            Err(failure.with(&format!("; {left} of {all} parked payments are unchanged: repeat the command")))
        }
        None if failed > 0 => {
            Err(Failure::new(Exit::Refused, format!("{failed} of {all} parked payments were not reconciled")))
        }
        None => Ok(Exit::Done),
    };
    if json {
        return output::result(&All { payments }, ended);
    }
    match (&ended, all) {
        (Ok(_), 0) => output::say("no payment is parked"),
        (Ok(_), all) => {
            // Of the others, a worker or another operator was faster.
            let taken = payments.iter().filter(|one| one.note != Some(NOT_PARKED)).count();
            output::say(&format!("{taken} of {all} parked payments reconciled"));
        }
        (Err(_), _) => {}
    }
    ended
}

/// Returns what follows, without the reference, with which some failures begin.
fn text<'a>(result: &'a Result<Option<&'static str>, Failure>, reference: &str) -> &'a str {
    match result {
        Ok(note) => note.unwrap_or(TAKEN),
        Err(failure) => {
            let text = failure.message();
            text.strip_prefix(reference).and_then(|text| text.strip_prefix(": ")).unwrap_or(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payments_that_were_not_tried_are_counted() {
        let gone = Failure::new(Exit::NotReachable, "the database is gone");
        let (account, reference) = ("shop", "order-1");
        let one = Reconciled { account, reference, directive: "reconcile", note: None, failure: None };
        let failure = report(vec![one], 3, Some(gone), false).unwrap_err();
        assert_eq!(failure.exit(), Exit::NotReachable);
        assert_eq!(failure.message(), "the database is gone; 2 of 3 parked payments are unchanged: repeat the command");
    }
}
