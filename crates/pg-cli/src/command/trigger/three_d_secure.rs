//! 3-D Secure: initiate, the challenge page, the status, the payment.

use pg_model::{
    Auth, AuthThreeDSecure, AuthenticationKey, CardKey, Currency, GetAuthenticationStatus, InitiateThreeDSecureCardKey,
    Item, Order, TokeniseTransactionKey, Url,
};
use pg_sandbox::cards::Scenario;

use super::story::{Seen, Story, approved, card, declined};
use crate::command::walkthrough::browser;

const PRICE: u64 = 8900;
const RETURN_PAGE: &str = "https://shop.example/authenticated";

impl Story {
    /// The customer presses one of the challenge page's buttons.
    pub(super) async fn challenge(&mut self, button: &'static str) {
        let mut stored: Option<CardKey> = None;
        let mut opened: Option<(AuthenticationKey, Url)> = None;
        self.step(
            "Store a card",
            "The card is charged a penny, then token/tokeniseTransactionKey returns a card key that replaces it.",
            async |story| {
                // The bank of this card declines unless the challenge is passed.
                stored = Some(story.stored(Scenario::ChallengeRequired).await?);
                Ok("a card key".to_owned())
            },
        )
        .await;
        let Some(key) = stored else { return };
        self.step(
            "Initiate 3-D Secure",
            "transaction/initiate3DSecureCardKey: the bank requires a challenge.",
            async |story| {
                let request = InitiateThreeDSecureCardKey::new(key.clone(), story.order("Bicycle", PRICE))
                    .card_cv2("123")
                    .return_url(RETURN_PAGE);
                let made = story.client.call(&request).await.map_err(|error| error.to_string())?;
                if made.authentication_url.as_str().is_empty() {
                    return Err(format!("no challenge: {} {}", made.transaction_status_code, made.transaction_status));
                }
                opened = Some((made.authentication_key, made.authentication_url));
                Ok("an authentication key and a challenge page".to_owned())
            },
        )
        .await;
        let Some((key, page)) = opened else { return };
        self.step(
            "Answer the challenge",
            "The customer's browser opens the page and presses a button.",
            async |story| press(story, &page, button).await,
        )
        .await;
        self.step("Ask for the result", "transaction/getAuthenticationStatus.", async |story| {
            let status = story.client.call(&GetAuthenticationStatus::new(key.clone())).await;
            let status = status.map_err(|error| error.to_string())?;
            Ok(format!("{}, liability shift {}", status.transaction_status_code, status.liability_shift))
        })
        .await;
        self.step("Charge the card", "transaction/auth3DSecure with the authentication key.", async |story| {
            let paid = story.client.call(&AuthThreeDSecure::new(key.clone())).await;
            if button == "authenticate" {
                approved(paid).map(|paid| format!("approved: transaction {}", paid.transaction_key))
            } else {
                declined(paid)
            }
        })
        .await;
    }

    /// Pays a penny with a card and stores it.
    pub(super) async fn stored(&mut self, scenario: Scenario) -> Result<CardKey, String> {
        let order = Order::new(Currency::GBP).item(Item::new("Penny", 1)).merchant_reference(self.reference.as_str());
        let paid = approved(self.client.call(&Auth::new(card(scenario), order)).await)?;
        let stored = self.client.call(&TokeniseTransactionKey::new(paid.transaction_key)).await;
        let stored = stored.map_err(|error| error.to_string())?;
        stored.card_key_details.first().map(|one| one.card_key.clone()).ok_or_else(|| "no card key".to_owned())
    }
}

async fn press(story: &Story, address: &Url, button: &str) -> Seen {
    let (_, page) = browser::open(&story.wire, address.as_str()).await?;
    let location = browser::submit(&story.wire, address.as_str(), &page, &[("outcome", button)]).await?;
    if location == RETURN_PAGE {
        Ok(format!("pressed {button}, sent back to the shop"))
    } else {
        Err(format!("sent to {location}"))
    }
}
