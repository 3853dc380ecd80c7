//! A charge that meets a fault, and is looked up before it is resent.

use std::time::Duration;

use pg_hyper::Client;
use pg_model::{Auth, TransactionLookup};
use pg_proto::machine::charge::{ChargeBounds, ChargeOutcome};
use pg_sandbox::cards::Scenario;
use serde_json::json;

use super::story::{Seen, Story, card};
use crate::command::walkthrough::wire::Wire;

const PRICE: u64 = 998;
/// The time limit of the impatient client, and the delay of the reply.
const DEADLINE: Duration = Duration::from_millis(500);
const DELAY_MILLISECONDS: u64 = 1500;
/// Lookups of a charge whose bank does not answer; each waits longer than the one before.
const LOOKUPS: u32 = 2;

impl Story {
    /// One charge under a fault of this kind.
    pub(super) async fn settle(&mut self, kind: &'static str) {
        self.step("Add a fault", "It applies to the next transaction/auth of any client.", async move |story| {
            let more = match kind {
                "delay" => json!({ "milliseconds": DELAY_MILLISECONDS }),
                "status" => json!({ "status": 503 }),
                _ => json!({}),
            };
            story.fault("transaction/auth", kind, more).await
        })
        .await;
        self.step(
            "Charge the card",
            "The charge is not simply sent again: it is looked up, and sent again under the same reference only if it is not found.",
            async move |story| {
                let client = if kind == "delay" { story.impatient(DEADLINE) } else { story.client.clone() };
                story.charge(&client, kind).await
            },
        )
        .await;
        let expected = usize::from(kind != "no-response");
        self.step("Look the order up", "At most one charge, whatever went wrong.", async move |story| {
            let request = TransactionLookup::new().unique_merchant_reference(story.reference.as_str());
            let found = story.client.call(&request).await.map_err(|error| error.to_string())?.transactions.len();
            let seen = format!("{found} on record");
            if found == expected { Ok(seen) } else { Err(format!("{seen}, expected {expected}")) }
        })
        .await;
    }

    async fn charge(&mut self, client: &Client<Wire>, kind: &str) -> Seen {
        let payment = Auth::new(card(Scenario::Approved), self.order("Tea", PRICE));
        let charge = client.charge(payment).map_err(|misuse| misuse.to_string())?;
        let outcome = charge.bounds(ChargeBounds::default().lookups(LOOKUPS)).await;
        match outcome {
            ChargeOutcome::Approved(paid) => Ok(format!("approved: transaction {}", paid.transaction_key)),
            // The bank did not answer and nothing is on record: the charge may still be executed.
            ChargeOutcome::Unknown { why, .. } if kind == "no-response" => Ok(format!("outcome unknown: {why}")),
            other => Err(other.to_string()),
        }
    }
}
