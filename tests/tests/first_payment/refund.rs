//! The refund of docs/guide/first-payment.md. A test compares the two and runs it.

use pg_hyper::{
    Client, DurableFile,
    proto::{
        machine::retry::{RetryBounds, RetryOutcome},
        model::{Outcome, Refund, TransactionKey},
    },
};

/// Refunds 2.50 of a payment, once, and returns the outcome. Both files belong to this refund alone.
pub async fn refund(
    client: &Client,
    paid: TransactionKey,
    record: DurableFile,
    machine: DurableFile,
) -> Result<String, Box<dyn std::error::Error>> {
    // A refund that has ended is neither resumed nor sent again.
    if let Some(outcome) = record.read()? {
        return Ok(outcome);
    }
    let refund = Refund::new(paid).transaction_value(250).unique_merchant_reference("refund-7-1");
    let refunding = match machine.saved()? {
        Some(saved) => client.resume_retry(&saved, refund)?,
        None => client.retry(refund, RetryBounds::default())?,
    };
    let outcome = match refunding.store_in(machine.clone()).await {
        RetryOutcome::Answered(Outcome::Approved(done)) => format!("refunded: {}", done.transaction_key),
        RetryOutcome::Answered(Outcome::Declined(not)) => format!("declined: {}", not.transaction_status),
        RetryOutcome::Refused(refused) => format!("refused, not executed: {refused}"),
        RetryOutcome::NotSent => {
            // Nothing left, so the next run may begin again. With the machine it would not: it assumes that the request was sent.
            machine.remove()?;
            return Ok("not sent".to_owned());
        }
        // It may have been executed: the machine stays, so that no run sends it again. Make the lookup.
        RetryOutcome::Answered(Outcome::Other(open)) => return Ok(format!("unknown: {}", open.transaction_status)),
        RetryOutcome::Unknown { reconcile, why } => return Ok(format!("unknown: {why}; {reconcile:?}")),
    };
    // First the outcome is on the disk, then the machine may go.
    record.write(&outcome)?;
    machine.remove()?;
    Ok(outcome)
}
