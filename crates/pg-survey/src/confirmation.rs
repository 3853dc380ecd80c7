//! Confirms observations by later requests, or withdraws observations that have another explanation.

use pg_proto::model::{Transactions, mask};

use crate::{answer::Answer, notes::Notes, point::Seen};

/// Confirms the status of a declined payment by a later lookup of that payment.
///
/// A service may give every payment the same status at first, and settle the payment later (spec 2 §7 leaves statuses
/// open). Clients report a payment with a status in `[[declined]]` as not charged, so a wrong entry loses money.
pub(crate) fn decline(point: &'static str, answer: &Answer, notes: &mut Notes) {
    let Some(status) = notes.suspected_status(point) else { return };
    let later = statuses(answer);
    let why = if notes.is_ordinary(status) {
        format!("the approved card got status {status} too")
    } else if notes.text("payment").is_err() {
        format!("no payment with the approved card was approved, so every payment may have status {status}")
    } else if let Some(other) = later.iter().find(|later| *later != status) {
        format!("the payment had status {status} at first, and {other} in a later lookup")
    } else if later.is_empty() {
        format!("the payment had status {status}, and a later lookup does not show the payment")
    } else {
        return notes.confirm(point);
    };
    notes.retract(point, &why);
}

pub(crate) const NOTHING: &str = "lookup.nothing";

/// Confirms the refusal of a lookup that finds nothing, if the lookup of an approved payment finds it. Withdraws the reply to a
/// lookup that finds nothing, if the lookup of an approved payment gets it too.
pub(crate) fn lookups(answer: &Answer, notes: &mut Notes) {
    let found = statuses(answer);
    found.iter().for_each(|status| notes.ordinary(status));
    if !found.is_empty() {
        notes.confirm(NOTHING);
        notes.confirm("unknown-transaction-key");
        return;
    }
    if !notes.is_same("lookup", answer) {
        return;
    }
    let why = "the lookup of a payment that was made got the same reply";
    notes.retract(NOTHING, why);
    if notes.observed("unknown-transaction-key") == Some(&answer.seen()) {
        notes.retract("unknown-transaction-key", why);
    }
}

const PENDING: &str = "authentication.pending";
const NOT_ENROLLED: &str = "authentication.not-enrolled";

/// Confirms the status of an authentication by a payment with it. With an unfinished authentication the payment is
/// refused; with a finished one it is approved.
pub(crate) fn authentication(point: &'static str, is_shown: bool, notes: &mut Notes) {
    let Some(status) = notes.suspected_status(point).map(str::to_owned) else { return };
    if !is_shown {
        let paid = if point == PENDING {
            "a payment with it was not refused for that"
        } else {
            "no payment with it was approved"
        };
        return notes.retract(point, &format!("the authentication had status {status}, but {paid}"));
    }
    notes.confirm(point);
    // The challenge page of a finished one may not have been opened.
    let seen = |point: &str| notes.sighting(point).map(|sighting| sighting.seen.clone());
    if let Some(same) = seen(PENDING).filter(|pending| Some(pending) == seen(NOT_ENROLLED).as_ref()) {
        [PENDING, NOT_ENROLLED].into_iter().for_each(|point| notes.retract(point, &of_both(&same)));
    }
}

/// Whether a finished authentication has the status of the unfinished one, which then decides neither, whatever a payment
/// shows. An authentication whose challenge page could not be opened is not known to be finished.
pub(crate) fn is_of_both(seen: &Seen, notes: &mut Notes) -> bool {
    let is_same = notes.observed(PENDING) == Some(seen) && notes.is_answered("visit");
    if is_same {
        notes.retract(PENDING, &of_both(seen));
        notes.undecided(&[NOT_ENROLLED], &of_both(seen));
    }
    is_same
}

/// Returns the point of the authentication whose status a point's status is compared with, and the probe that asks for it.
pub(crate) fn compared_with(point: &str) -> Option<(&'static str, &'static str)> {
    match point {
        PENDING => Some((NOT_ENROLLED, "finished")),
        NOT_ENROLLED => Some((PENDING, "pending")),
        _ => None,
    }
}

fn of_both(seen: &Seen) -> String {
    format!("an unfinished and a finished authentication both have {seen}")
}

/// Returns the statuses of the transactions that a lookup found.
fn statuses(answer: &Answer) -> Vec<String> {
    let found = answer.record::<Transactions>().unwrap_or_default().transactions;
    found.iter().map(|one| mask::text(one.transaction_status_code.as_str())).collect()
}
