//! Scenarios of payments, a reference that is used twice, declines, captures, refunds, and a session that is used too
//! late.

use pg_model::{Auth, AuthSessionKey, CapturePreauth, Initiate, Preauth, Refund, TransactionKey, TransactionLookup};
use pg_sandbox::cards::Scenario;

use super::story::{Story, approved, card, declined, number, refused};
use crate::command::walkthrough::browser;

const PRICE: u64 = 998;
const DEPOSIT: u64 = 5000;
const CAPTURED: u64 = 3000;

const REVIEW_PAGE: &str = "https://shop.example/review";
const CARD_PAGE: &str = "https://shop.example/card";
const ERROR_PAGE: &str = "https://shop.example/card-error";

/// More than the half hour that a session lasts.
const THIRTY_ONE_MINUTES: u64 = 31 * 60;

impl Story {
    pub(super) async fn payment(&mut self) {
        self.step("Charge the card", "transaction/auth, under a reference that is accepted once.", async |story| {
            let paid =
                approved(story.client.call(&Auth::new(card(Scenario::Approved), story.order("Tea", PRICE))).await)?;
            Ok(format!("approved: transaction {}", paid.transaction_key))
        })
        .await;
        self.look_up(1).await;
    }

    pub(super) async fn duplicate_reference(&mut self) {
        self.step("Charge the card", "transaction/auth with a uniqueMerchantReference.", async |story| {
            let paid =
                approved(story.client.call(&Auth::new(card(Scenario::Approved), story.order("Tea", PRICE))).await)?;
            Ok(format!("approved: transaction {}", paid.transaction_key))
        })
        .await;
        self.step("Charge again under the same reference", "The service accepts each reference once.", async |story| {
            refused(story.client.call(&Auth::new(card(Scenario::Approved), story.order("Tea", PRICE))).await)
        })
        .await;
        self.look_up(1).await;
    }

    pub(super) async fn decline(&mut self, scenario: Scenario) {
        self.step("Charge the card", "The bank says no. A decline is an outcome, not an error.", async move |story| {
            declined(story.client.call(&Auth::new(card(scenario), story.order("Tea", PRICE))).await)
        })
        .await;
        self.look_up(1).await;
    }

    /// Looks the order up by its reference, and expects this number of transactions.
    pub(super) async fn look_up(&mut self, expected: usize) {
        self.step(
            "Look the order up",
            "transaction/lookup by the reference: what the service has on record.",
            async move |story| {
                let request = TransactionLookup::new().unique_merchant_reference(story.reference.as_str());
                let found = story.client.call(&request).await;
                let found = found.map_err(|error| error.to_string())?.transactions;
                let seen: Vec<String> = found
                    .iter()
                    .map(|one| {
                        format!("{} {} {}", one.transaction_type, one.transaction_status_code, one.transaction_status)
                    })
                    .collect();
                let seen = format!("{} on record: {}", found.len(), seen.join("; "));
                if found.len() == expected { Ok(seen) } else { Err(format!("{seen}, expected {expected}")) }
            },
        )
        .await;
    }

    pub(super) async fn partial_capture(&mut self) {
        let mut reserved = TransactionKey::from("");
        self.step("Reserve a deposit", "transaction/preauth: nothing is debited yet.", async |story| {
            let request = Preauth::new(card(Scenario::Approved), story.order("Deposit", DEPOSIT));
            reserved = approved(story.client.call(&request).await)?.transaction_key;
            Ok("approved: reserved".to_owned())
        })
        .await;
        self.step("Capture a part", "transaction/capturepreauth for less than was reserved.", async |story| {
            let request = CapturePreauth::new(reserved.clone()).transaction_value(CAPTURED);
            approved(story.client.call(&request).await)?;
            Ok("approved: part of it is captured".to_owned())
        })
        .await;
        self.step(
            "Capture the rest",
            "Usually one capture ends the reservation; an account with divisiblePreauths captures in parts.",
            async |story| {
                let request = CapturePreauth::new(reserved.clone()).transaction_value(DEPOSIT - CAPTURED);
                match story.client.call(&request).await {
                    Ok(outcome) => approved(Ok(outcome)).map(|_| "approved: captured in parts".to_owned()),
                    refusal => refused(refusal),
                }
            },
        )
        .await;
    }

    pub(super) async fn partial_refund(&mut self) {
        let mut paid = TransactionKey::from("");
        self.step("Charge the card", "transaction/auth.", async |story| {
            let request = Auth::new(card(Scenario::Approved), story.order("Tea", PRICE));
            paid = approved(story.client.call(&request).await)?.transaction_key;
            Ok("approved".to_owned())
        })
        .await;
        let half = PRICE / 2;
        for (title, about) in [
            ("Refund a half", "transaction/refund with a transactionValue."),
            ("Refund the other half", "This works as long as something is left to refund."),
        ] {
            self.step(title, about, async |story| {
                approved(story.client.call(&Refund::new(paid.clone()).transaction_value(half)).await)?;
                Ok("approved: half is refunded".to_owned())
            })
            .await;
        }
        self.step("Refund once more", "Nothing is left to refund.", async |story| {
            refused(story.client.call(&Refund::new(paid.clone()).transaction_value(half)).await)
        })
        .await;
    }

    pub(super) async fn expired_session(&mut self) {
        let mut session = None;
        self.step("Initiate a session", "session/initiate; the session lasts 30 minutes.", async |story| {
            let opened = story.client.call(&Initiate::new(ERROR_PAGE)).await.map_err(|error| error.to_string())?;
            session = Some(opened.session_key);
            Ok("a session key".to_owned())
        })
        .await;
        let Some(session) = session else { return };
        self.step(
            "Post the card",
            "The customer's browser posts the card form, and is sent to the review page.",
            async |story| {
                let form = story.client.account().card_form(session.clone(), REVIEW_PAGE, CARD_PAGE).form_id("card");
                let typed = [
                    ("cardholderName", "Ada Lovelace"),
                    ("cardNumber", number(Scenario::Approved)),
                    ("cardExpiryMonth", "12"),
                    ("cardExpiryYear", "2049"),
                    ("cardCV2", "123"),
                ];
                let location = browser::post(&story.wire, &form, &typed).await?;
                if location.starts_with(REVIEW_PAGE) {
                    Ok("sent to the review page".to_owned())
                } else {
                    Err("card refused".to_owned())
                }
            },
        )
        .await;
        self.step(
            "Let 31 minutes pass",
            "This advances the sandbox's clock, which all parts of the sandbox share.",
            async |story| {
                story.advance(THIRTY_ONE_MINUTES).await?;
                Ok("31 minutes later".to_owned())
            },
        )
        .await;
        self.step("Pay with the session", "transaction/authSessionKey, too late.", async |story| {
            refused(story.client.call(&AuthSessionKey::new(session.clone(), story.order("Tea", PRICE))).await)
        })
        .await;
    }
}
