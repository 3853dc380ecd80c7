//! The account updater: a batch, two minutes, its callback, its result.

use pg_hyper::Error;
use pg_model::{BatchKey, CardKey, ErrorCode, RequestAccountUpdater, RetrieveAccountUpdater};
use pg_sandbox::cards::Scenario;

use super::story::Story;

/// A new number, a new expiry, unchanged.
const CARDS: [Scenario; 3] = [Scenario::Updater700A, Scenario::Updater702, Scenario::Approved];
/// Seconds after which a batch has finished (spec 1 §8).
const TWO_MINUTES: u64 = 120;

impl Story {
    pub(super) async fn updater_batch(&mut self) {
        let mut cards: Vec<CardKey> = Vec::new();
        let mut batch: Option<BatchKey> = None;
        self.step(
            "Store three cards",
            "Each is charged a penny, then token/tokeniseTransactionKey stores it.",
            async |story| {
                for scenario in CARDS {
                    cards.push(story.stored(scenario).await?);
                }
                Ok(format!("{} card keys", cards.len()))
            },
        )
        .await;
        self.step(
            "Request an update",
            "token/requestAccountUpdater, with an address for the callback.",
            async |story| {
                let key = story.updater_key.clone().ok_or("the account has no accountUpdaterKey")?;
                let request =
                    RequestAccountUpdater::new(key, cards.clone()).callback_url(story.callback_address("updated"));
                let made = story.client.call(&request).await.map_err(|error| error.to_string())?;
                let seen = format!("batch {}", made.batch_key);
                batch = Some(made.batch_key);
                Ok(seen)
            },
        )
        .await;
        let Some(batch) = batch else { return };
        self.step(
            "Retrieve it too early",
            "Until the batch has finished, retrieveAccountUpdater returns error 182.",
            async |story| match story.client.call(&RetrieveAccountUpdater::new(batch.clone())).await {
                Err(Error::Refused(refused)) if *refused.code() == ErrorCode::BATCH_PENDING => {
                    Ok("pending: 182".to_owned())
                }
                Err(other) => Err(other.to_string()),
                Ok(_) => Err("finished already".to_owned()),
            },
        )
        .await;
        self.step("Let two minutes pass", "The batch finishes, and the service calls back.", async |story| {
            story.advance(TWO_MINUTES).await?;
            story.callback(batch.as_str(), 1).await?;
            Ok("called back".to_owned())
        })
        .await;
        self.step("Retrieve the result", "A callback is unsigned: only the retrieved result counts.", async |story| {
            let found = story.client.call(&RetrieveAccountUpdater::new(batch.clone())).await;
            let found = found.map_err(|error| error.to_string())?.card_key_details;
            let mut codes: Vec<&str> = found.iter().map(|card| card.response.as_str()).collect();
            codes.sort_unstable();
            let seen = codes.join(", ");
            if codes == ["700", "702", "706"] { Ok(seen) } else { Err(format!("{seen} instead of 700, 702, 706")) }
        })
        .await;
    }
}
