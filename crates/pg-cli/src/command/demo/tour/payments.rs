//! Paying with a stored card, reserving, capturing, refunding, looking up.

use pg_model::{
    AuthCardKey, CapturePreauth, Preauth, Refund, TokeniseTransactionKey, Transaction, TransactionLookup,
    TransactionType,
};
use pg_sandbox::cards::Scenario;

use super::{Seen, Tour, approved, card, card_form, left, order, pounds};

/// The customer whose card is stored.
pub(super) const CUSTOMER: &str = "demo-customer";

// Whole pence.
const NEXT_BOX: u64 = 1250;
const DEPOSIT: u64 = 5000;
const CAPTURED: u64 = 3000;
const REFUNDED: u64 = 1000;

impl Tour<'_> {
    pub(super) async fn pay_again(&mut self) {
        self.step(
            "Store the card (tokeniseTransactionKey)",
            "The card of that payment becomes a card key.",
            Self::tokenise,
        )
        .await;
        self.step(
            "Pay with the stored card (authCardKey)",
            "No card number is sent: the card key replaces it.",
            Self::pay_with_card_key,
        )
        .await;
        self.step("Reserve (preauth)", "With a raw card number: a deposit is reserved, not debited.", Self::reserve)
            .await;
        self.step("Capture part of it (capturepreauth)", "Some of the deposit is debited.", Self::capture).await;
        self.step("Refund part of it (refund)", "Some of that is paid back.", Self::refund).await;
        self.step(
            "Look the first payment up (lookup)",
            "By its reference, as you would after a lost reply.",
            Self::look_up,
        )
        .await;
    }

    async fn tokenise(&mut self) -> Seen {
        let request =
            TokeniseTransactionKey::new(left(&self.payment, "payment")?).merchant_customer_reference(CUSTOMER);
        let stored = self.client.call(&request).await.map_err(|error| error.to_string())?;
        match stored.card_key_details.as_slice() {
            [one] => {
                self.card = Some(one.card_key.clone());
                Ok(format!("{} is stored behind a card key", one.card.card_number))
            }
            other => Err(format!("{} records instead of one", other.len())),
        }
    }

    async fn pay_with_card_key(&mut self) -> Seen {
        let order = order("Tea, the next box", NEXT_BOX).merchant_customer_reference(CUSTOMER);
        let paid = approved(self.client.call(&AuthCardKey::new(left(&self.card, "card key")?, order)).await)?;
        Ok(format!("approved: {} ({})", pounds(NEXT_BOX), paid.transaction_status_code))
    }

    async fn reserve(&mut self) -> Seen {
        let request = Preauth::new(card(Scenario::Approved), order("Deposit", DEPOSIT));
        let reserved = approved(self.client.call(&request).await)?;
        is(&reserved, &TransactionType::PRE_AUTH)?;
        self.preauth = Some(reserved.transaction_key);
        Ok(format!("approved: {} reserved", pounds(DEPOSIT)))
    }

    async fn capture(&mut self) -> Seen {
        let request = CapturePreauth::new(left(&self.preauth, "preauth")?).transaction_value(CAPTURED);
        let captured = approved(self.client.call(&request).await)?;
        is(&captured, &TransactionType::CAPTURE)?;
        self.capture = Some(captured.transaction_key);
        Ok(format!("approved: {} of {} captured", pounds(CAPTURED), pounds(DEPOSIT)))
    }

    async fn refund(&mut self) -> Seen {
        let request = Refund::new(left(&self.capture, "capture")?).transaction_value(REFUNDED);
        is(&approved(self.client.call(&request).await)?, &TransactionType::REFUND)?;
        Ok(format!("approved: {} of {} refunded", pounds(REFUNDED), pounds(CAPTURED)))
    }

    async fn look_up(&mut self) -> Seen {
        let request = TransactionLookup::new().unique_merchant_reference(card_form::ORDER);
        let found = self.client.call(&request).await.map_err(|error| error.to_string())?;
        match found.transactions.as_slice() {
            [one] if Some(&one.transaction_key) == self.payment.as_ref() => {
                Ok("found: exactly this payment".to_owned())
            }
            [_] => Err("found another payment".to_owned()),
            other => Err(format!("found {} payments instead of one", other.len())),
        }
    }
}

fn is(transaction: &Transaction, expected: &TransactionType) -> Result<(), String> {
    let found = &transaction.transaction_type;
    if found == expected { Ok(()) } else { Err(format!("a {found} instead of a {expected}")) }
}
