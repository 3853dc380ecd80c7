//! Compares the service's ledger with a client's claims.

use pg_hyper::{Client, Transport};
use pg_model::{Transaction, TransactionLookup};
use pg_proto::machine::charge::ChargeOutcome;

/// Everything that the service has under a reference.
///
/// # Panics
/// If the lookup fails.
pub async fn under<T: Transport>(client: &Client<T>, reference: &str) -> Vec<Transaction> {
    let lookup = TransactionLookup::new().unique_merchant_reference(reference);
    client.call(&lookup).await.expect("a lookup").transactions
}

/// Compares a claim with the ledger: at most one payment, and every certain claim is true.
///
/// # Errors
/// The difference.
pub fn contradiction(charged: &ChargeOutcome, ledger: &[Transaction]) -> Result<(), String> {
    let fits = match (charged, ledger) {
        (ChargeOutcome::Approved(claimed), [held]) => {
            held.transaction_key == claimed.transaction_key && held.transaction_status_code == "600"
        }
        (ChargeOutcome::Declined(claimed), [held]) => {
            held.transaction_key == claimed.transaction_key && held.transaction_status_code != "600"
        }
        (ChargeOutcome::Refused(_) | ChargeOutcome::NotSent, []) | (ChargeOutcome::Unknown { .. }, [] | [_]) => true,
        _ => false,
    };
    if fits { Ok(()) } else { Err(format!("{} payments, and the client says {charged:?}", ledger.len())) }
}
