//! Changed cards: a batch for the account updater, its callback, and the new card keys (spec 1 §2.4, §6).

use bytes::Bytes;
use http::{Request, header::CONTENT_TYPE};
use pg_hyper::{Error, Transport};
use pg_model::{
    Auth, BatchKey, CardKey, CardRetrievalCode, ErrorCode, RequestAccountUpdater, RetrieveAccountUpdater,
    TokeniseTransactionKey, UpdatedCard,
};
use pg_proto::UpdaterHint;
use pg_sandbox::cards::Scenario;

use super::{Seen, Tour, approved, card, left, order};
use crate::command::walkthrough::wire::Wire;

/// Cards for which the card schemes answer 700, 702 and 706, in the order of the batch.
const CHANGING: [(Scenario, CardRetrievalCode); 3] = [
    (Scenario::Updater700A, CardRetrievalCode::ACCOUNT_NUMBER_UPDATED),
    (Scenario::Updater702, CardRetrievalCode::EXPIRY_CHANGED),
    (Scenario::Approved, CardRetrievalCode::UNCHANGED),
];

/// Seconds after which the simulator has finished a batch (spec 1 §8).
const TWO_MINUTES: u64 = 120;

/// Results of earlier steps for later ones.
#[derive(Default)]
pub(super) struct Left {
    cards: Vec<CardKey>,
    batch: Option<BatchKey>,
    hint: Option<UpdaterHint>,
}

impl Tour<'_> {
    pub(super) async fn update_cards(&mut self) {
        self.step(
            "Store cards that will change",
            "One gets a new number, one gets a new expiry date, and one stays the same. Each is charged a penny, \
             then tokeniseTransactionKey stores it.",
            Self::store_cards,
        )
        .await;
        self.step(
            "Request an update (requestAccountUpdater)",
            "A batch with a callback URL. If it is retrieved at once, it is still pending: error 182.",
            Self::request_update,
        )
        .await;
        self.step(
            "Let two minutes pass, and receive the callback",
            "The control interface advances the clock; the callback arrives at a listener in this process.",
            Self::be_called_back,
        )
        .await;
        self.step(
            "Fetch the new card keys (retrieveAccountUpdater)",
            "The callback is not signed, so any program could have sent it: only the fetched result counts.",
            Self::take_over,
        )
        .await;
    }

    async fn store_cards(&mut self) -> Seen {
        for (scenario, _) in CHANGING {
            let paid = approved(self.client.call(&Auth::new(card(scenario), order("Penny", 1))).await)?;
            let request = TokeniseTransactionKey::new(paid.transaction_key);
            let stored = self.client.call(&request).await.map_err(|error| error.to_string())?;
            let [one] = stored.card_key_details.as_slice() else {
                return Err(format!("{} records instead of one", stored.card_key_details.len()));
            };
            self.updater.cards.push(one.card_key.clone());
        }
        Ok(format!("{} card keys", self.updater.cards.len()))
    }

    async fn request_update(&mut self) -> Seen {
        let key = self.merchant.account_updater_key.as_ref().ok_or("the account has no key for it")?;
        let request = RequestAccountUpdater::new(key.expose(), self.updater.cards.clone())
            .callback_url(self.listener.url("updated"));
        let batch = self.client.call(&request).await.map_err(|error| error.to_string())?.batch_key;
        self.updater.batch = Some(batch.clone());
        match self.client.call(&RetrieveAccountUpdater::new(batch)).await {
            Err(Error::Refused(refused)) if *refused.code() == ErrorCode::BATCH_PENDING => {
                Ok(format!("a batch of {}, still pending: 182", self.updater.cards.len()))
            }
            Err(other) => Err(other.to_string()),
            Ok(_) => Err("the batch is finished already".to_owned()),
        }
    }

    async fn be_called_back(&mut self) -> Seen {
        let batch = left(&self.updater.batch, "batch")?;
        advance(&self.wire, self.base.as_str(), TWO_MINUTES).await?;
        let callback = self.callback().await?;
        let hint = UpdaterHint::read(&callback).map_err(|error| error.to_string())?;
        if hint.claimed().batch_key != batch {
            return Err("the callback names another batch".to_owned());
        }
        self.updater.hint = Some(hint);
        Ok("callback received for that batch".to_owned())
    }

    async fn take_over(&mut self) -> Seen {
        let request = left(&self.updater.hint, "callback")?.confirm();
        let batch = self.client.call(&request).await.map_err(|error| error.to_string())?;
        let cards = batch.card_key_details;
        self.findings = cards.iter().map(|card| (card.response.to_string(), news(card))).collect();
        for (asked, (_, expected)) in self.updater.cards.iter().zip(CHANGING) {
            let found = cards.iter().find(|card| card.old_card_key == *asked);
            let card = found.ok_or("a card of the batch is missing")?;
            if card.response != expected {
                return Err(format!("{} instead of {expected}", card.response));
            }
            if (card.card_key == *asked || card.card_key.is_empty()) != (expected == CardRetrievalCode::UNCHANGED) {
                return Err(format!("{expected} and the card key do not match"));
            }
        }
        let codes: Vec<&str> = cards.iter().map(|card| card.response.as_str()).collect();
        Ok(format!("{}: new card keys where something changed", codes.join(", ")))
    }
}

/// Returns the result of a card, for people.
fn news(updated: &UpdatedCard) -> String {
    let (old, new, card) = (&updated.old_card_key, &updated.card_key, &updated.card);
    if new.is_empty() || new == old {
        return format!("{old} stays");
    }
    format!("{old} → {new}: {}, {}/{}", card.card_number, card.card_expiry_month, card.card_expiry_year)
}

/// Advances the sandbox's clock.
async fn advance(wire: &Wire, base: &str, seconds: u64) -> Result<(), String> {
    let request = Request::post(format!("{base}/_sandbox/clock"))
        .header(CONTENT_TYPE, "application/json")
        .body(Bytes::from(format!("{{\"advanceSeconds\": {seconds}}}")))
        .map_err(|error| error.to_string())?;
    let response = wire.send(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    if status.is_success() { Ok(()) } else { Err(format!("the clock request returned HTTP {}", status.as_u16())) }
}
