//! Compares outcomes with the ledger: when callers get them, and at the end.

use pg_intents::{IntentRow, IntentStatus, PaymentOutcome};
use pg_proto::machine::charge::RefusalScope;

use super::{
    checks::{CLAIMS, LOST, ONCE, OUTBOX, OWNED, STORED},
    orders::Order,
    shared::Shared,
};

/// Checks an outcome that a caller got.
pub(super) fn told(shared: &Shared, order: &Order, outcome: &PaymentOutcome, row: Option<&IntentRow>) {
    let name = &order.job.name;
    if row.is_none_or(|row| row.outcome.is_none()) {
        return shared.violated(STORED, format!("{name} is told to be {}, and its row has no outcome", outcome.name()));
    }
    matches_ledger(shared, order, outcome);
}

/// Checks that the claim of an outcome is true.
pub(super) fn matches_ledger(shared: &Shared, order: &Order, outcome: &PaymentOutcome) {
    let (name, paid) = (&order.job.name, order.done(shared));
    let says = outcome.name();
    let doubled = shared.state().notes.doubled.contains(name);
    let wrong = match outcome {
        PaymentOutcome::Approved(transaction) => {
            let key = transaction.transaction_key.as_str();
            (!paid.iter().any(|paid| paid == key)).then(|| format!("{key}, the ledger holds {paid:?}"))
        }
        PaymentOutcome::PaidOnPage { trans_key } => {
            (!paid.contains(trans_key)).then(|| format!("{trans_key}, the ledger holds {paid:?}"))
        }
        // A refusal of a payment for a temporary reason assumes that the network sends nothing twice, and nothing late.
        PaymentOutcome::Refused(refused)
            if refused.scope() == RefusalScope::WhileItLasts && doubled && order.job.kind.pays() =>
        {
            None
        }
        PaymentOutcome::Declined(_)
        | PaymentOutcome::Refused(_)
        | PaymentOutcome::NotSent
        | PaymentOutcome::NotPaid { .. } => paid.first().map(|paid| format!("and is paid: {paid}")),
        PaymentOutcome::Unknown { .. } => None,
    };
    if let Some(wrong) = wrong {
        shared.violated(CLAIMS, format!("{name} claims to be {says} {wrong}"));
    }
}

/// Checks the ledger and the intents at the end.
pub(super) fn at_the_end(shared: &Shared, order: &Order, row: Option<&IntentRow>, outcome: Option<&PaymentOutcome>) {
    let (name, done) = (&order.job.name, order.done(shared));
    let doubled = shared.state().notes.doubled.contains(name);
    // Follow-ups have no reference, so a duplicate of the network is executed.
    if done.len() > order.most() && (order.job.kind.pays() || !doubled) {
        return shared.violated(ONCE, format!("{name} was done {} times: {}", done.len(), done.join(", ")));
    }
    let Some(row) = row else {
        if let Some(paid) = done.first() {
            shared.violated(LOST, format!("{name} is paid, {paid}, and has no row"));
        }
        return;
    };
    let Some(outcome) = outcome else {
        return shared.violated(OWNED, format!("{name} has no outcome, and is {}", row.status.name()));
    };
    matches_ledger(shared, order, outcome);
    if row.status == IntentStatus::Unknown
        && order.job.kind.charges()
        && let Some(paid) = done.first()
        && order.was_looked_up_after_all(row, shared.time.now())
        && !doubled
        && shared.spoken.is_understood()
    {
        shared.violated(LOST, format!("{name} is paid, {paid}, and stays unknown"));
    }
    if row.told != row.event {
        shared.violated(OUTBOX, format!("outcome {} of {name} was never told", row.event));
    }
}
