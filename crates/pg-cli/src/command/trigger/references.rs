//! A reference that is used twice.

use pg_model::Auth;
use pg_sandbox::cards::Scenario;

use super::story::{Story, approved, card, refused};

const PRICE: u64 = 998;

impl Story {
    pub(super) async fn duplicate_reference(&mut self) {
        self.step("Charge the card", "transaction/auth with a uniqueMerchantReference.", async |story| {
            let paid =
                approved(story.client.call(&Auth::new(card(Scenario::Approved), story.order("Tea", PRICE))).await)?;
            Ok(format!("approved: transaction {}", paid.transaction_key))
        })
        .await;
        self.step("Charge again under the same reference", "The service accepts a reference once.", async |story| {
            refused(story.client.call(&Auth::new(card(Scenario::Approved), story.order("Tea", PRICE))).await)
        })
        .await;
        self.look_up(1).await;
    }
}
