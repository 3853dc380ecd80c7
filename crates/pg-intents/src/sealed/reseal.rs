//! Seals every intent with the newest key.

use super::{SealedStore, rows::Sealer, text::Unopened};
use crate::{IntentRow, IntentStatus, RewritableStore, StoreError};

/// The number of intents that are read at once.
const PAGE: u32 = 500;

/// The result of sealing a store again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resealed {
    /// The number of intents that are now sealed with the newest key.
    pub sealed: u64,
    /// The number of intents that were already sealed with the newest key.
    pub current: u64,
    /// The number of intents that cannot be opened, and are unchanged.
    pub unopened: u64,
    /// Why the first of them cannot be opened.
    pub first_unopened: Option<StoreError>,
}

impl<S: RewritableStore> SealedStore<S> {
    /// Seals every intent with the newest key, including ended ones, while workers continue. A worker that stores an unknown outcome again
    /// meanwhile can put back its text under the older key. So when every process seals with the newest key, repeat this after a minute
    /// until it has sealed nothing: if every intent can be opened, the older keys are then no longer needed.
    ///
    /// # Errors
    /// If the store does not respond. The intents that were sealed until then remain sealed.
    pub async fn reseal(&self) -> Result<Resealed, StoreError> {
        let mut resealed = Resealed::default();
        let mut last = None;
        loop {
            let page = self.inner().scan(last.as_ref(), PAGE).await?;
            let Some(end) = page.last() else { return Ok(resealed) };
            last = Some(end.key.clone());
            for row in page {
                self.reseal_one(row, &mut resealed).await?;
            }
        }
    }

    async fn reseal_one(&self, mut row: IntentRow, resealed: &mut Resealed) -> Result<(), StoreError> {
        loop {
            // An ended intent keeps no events.
            let events = match row.status {
                IntentStatus::Ended => Vec::new(),
                _ => self.inner().events(&row.key, 0).await?,
            };
            let (new, events) = match self.sealed_anew(&row, events) {
                Ok((_, events)) if events.is_empty() && self.sealing.is_current(&row) => {
                    resealed.current += 1;
                    return Ok(());
                }
                Ok(sealed) => sealed,
                Err(unopened) => {
                    resealed.unopened += 1;
                    let error = unopened.of(&row.key);
                    tracing::error!(target: "pg.fleet", %error, "an intent was not sealed with the newest key");
                    resealed.first_unopened.get_or_insert(error);
                    return Ok(());
                }
            };
            if self.inner().rewrite(&row, &new, &events).await? {
                resealed.sealed += 1;
                return Ok(());
            }
            // A worker has saved it meanwhile.
            match self.inner().find(&row.key).await? {
                Some(found) => row = found,
                None => return Ok(()),
            }
        }
    }

    /// Returns the row, and the events that change.
    fn sealed_anew(
        &self,
        row: &IntentRow,
        events: Vec<(i32, String)>,
    ) -> Result<(IntentRow, Vec<(i32, String)>), Unopened> {
        let sealer = Sealer { key: self.sealing.newest(), of: &row.key };
        let new = sealer.row(&self.sealing.opened(row)?);
        let mut sealed = Vec::with_capacity(events.len());
        for (number, event) in events {
            if self.sealing.is_current_event(&event) {
                continue;
            }
            match self.sealing.opened_event(&row.key, &event) {
                Ok(event) => sealed.push((number, sealer.event(&event))),
                Err(unopened @ Unopened::MissingKey(_)) => return Err(unopened),
                // It is read as an empty event, also without the key that it names.
                Err(Unopened::Altered(_)) => sealed.push((number, sealer.event(""))),
                // The event is unchanged, and is skipped when events are read.
                Err(Unopened::Clear) => {}
            }
        }
        Ok((new, sealed))
    }
}
