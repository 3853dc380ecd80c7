//! From the card form to the first payment.

use pg_model::{AuthSessionKey, Currency, Initiate, Item, Order};
use pg_proto::CardFormResult;
use pg_sandbox::cards::Scenario;

use super::{Seen, Tour, approved, left, number, pounds};
use crate::command::walkthrough::{browser, fields};

pub(super) const REVIEW_PAGE: &str = "https://shop.example/review";
pub(super) const CARD_PAGE: &str = "https://shop.example/card";
pub(super) const ERROR_PAGE: &str = "https://shop.example/card-error";

/// The reference under which the first payment can be found.
pub(super) const ORDER: &str = "demo-order-1";

/// Price of one box of tea in pence.
const TEA: u64 = 499;

impl Tour<'_> {
    pub(super) async fn pay_by_card_form(&mut self) {
        self.step("Initiate a session", "The merchant's server opens a session for a card form.", Self::initiate).await;
        self.step(
            "Post the card as a browser would",
            "The customer's browser posts the card to the service, not to the merchant, and is sent back with a 303.",
            Self::post_card,
        )
        .await;
        self.step(
            "Decrypt the redirect",
            "The review page decrypts the data with the API key: the card is masked, without CV2, and the data is never proof of a payment.",
            Self::decrypt,
        )
        .await;
        self.step(
            "Pay with the session (authSessionKey)",
            "Two boxes of tea. The reference allows a lookup later.",
            Self::pay_with_session,
        )
        .await;
    }

    async fn initiate(&mut self) -> Seen {
        let session = self.client.call(&Initiate::new(ERROR_PAGE)).await.map_err(|error| error.to_string())?;
        self.session = Some(session.session_key);
        Ok("a session key, valid for 30 minutes".to_owned())
    }

    async fn post_card(&mut self) -> Seen {
        let location = self.post(number(Scenario::Approved)).await?;
        if !location.starts_with(REVIEW_PAGE) {
            return Err("sent back to the card page, though everything was valid".to_owned());
        }
        self.redirect = Some(location);
        Ok("303 to the review page, with encrypted data".to_owned())
    }

    /// Posts the card form of the session with this number.
    pub(super) async fn post(&self, card_number: &str) -> Seen {
        let form =
            self.client.account().card_form(left(&self.session, "session")?, REVIEW_PAGE, CARD_PAGE).form_id("card");
        let typed = [
            ("cardholderName", "Ada Lovelace"),
            ("cardNumber", card_number),
            ("cardExpiryMonth", "12"),
            ("cardExpiryYear", "2049"),
            ("cardCV2", "123"),
        ];
        browser::post(&self.wire, &form, &typed).await
    }

    async fn decrypt(&mut self) -> Seen {
        let location = left(&self.redirect, "redirect")?;
        match self.client.account().redirect(&location) {
            Ok(CardFormResult::Accepted(data)) => {
                self.findings = fields::of_record(data.get());
                let shown = &data.get().card_number;
                if shown.expose() != shown.masked() {
                    return Err("the card number came back unmasked".to_owned());
                }
                Ok(format!("{} in the data, still masked", data.get().card_number))
            }
            Ok(_) => Err("the data contains errors, though everything was valid".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn pay_with_session(&mut self) -> Seen {
        let order = Order::new(Currency::GBP).item(Item::new("Tea", TEA).quantity(2)).unique_merchant_reference(ORDER);
        let paid = approved(self.client.call(&AuthSessionKey::new(left(&self.session, "session")?, order)).await)?;
        self.payment = Some(paid.transaction_key);
        Ok(format!("approved: {} ({})", pounds(2 * TEA), paid.transaction_status_code))
    }
}
