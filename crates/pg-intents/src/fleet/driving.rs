//! Drives one machine, renews its lease meanwhile, and tells it the events that reached other servers.

use std::sync::Arc;

use pg_hyper::{Drive, DriveStep, Transport, proto::machine::SavedState};

use super::{
    Fleet,
    keeper::{Keeper, Trouble},
};
use crate::{IntentKey, IntentStore, StoreError, machines::StoredMachine};

/// How a machine left its drive.
pub(super) enum Ran<D, O> {
    Done(O, SavedState),
    /// It asks its owner, and has taken the events up to this number.
    Asks(D, SavedState, i32),
    Trouble(Trouble),
    Stopping,
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    pub(super) async fn drive<M: StoredMachine>(
        &self,
        machine: M,
        keeper: &Arc<Keeper<S>>,
        key: &IntentKey,
    ) -> Ran<M::Demand, M::Outcome> {
        let saving = Arc::clone(keeper);
        let mut drive: Drive<M, T> = self.0.client.drive(machine).store(move |saved| {
            let keeper = Arc::clone(&saving);
            async move { keeper.save(saved).await }
        });
        let mut heard = 0;
        let mut listens = M::HEARS;
        loop {
            if std::mem::take(&mut listens)
                && let Err(error) = self.hear(&mut drive, key, &mut heard).await
            {
                return Ran::Trouble(Trouble::Store(error));
            }
            let mut beat = std::pin::pin!(self.sleep(self.0.plan.lease / 3));
            loop {
                tokio::select! {
                    biased;
                    step = drive.next() => {
                        if let Some(trouble) = keeper.trouble() {
                            return Ran::Trouble(trouble);
                        }
                        return match step {
                            DriveStep::Done(outcome) => Ran::Done(outcome, drive.saved()),
                            DriveStep::Ask(demand) => Ran::Asks(demand, drive.saved(), heard),
                        };
                    }
                    () = &mut beat => break,
                    () = self.0.store.changed(), if M::HEARS => {
                        if let Err(error) = self.hear(&mut drive, key, &mut heard).await {
                            tracing::warn!(target: "pg.fleet", %error, "events were not read");
                        }
                    }
                }
            }
            keeper.renew().await;
            self.keep_probing().await;
            if let Some(trouble) = keeper.trouble() {
                return Ran::Trouble(trouble);
            }
            if self.is_stopping() {
                return Ran::Stopping;
            }
            listens = M::HEARS;
        }
    }

    /// Tells the machine what came since it was asked last. It may hear an event again after a crash: for machines that is no news.
    async fn hear<M: StoredMachine>(
        &self,
        drive: &mut Drive<M, T>,
        key: &IntentKey,
        heard: &mut i32,
    ) -> Result<(), StoreError> {
        for (number, event) in self.0.store.events(key, *heard).await? {
            match serde_json::from_str(&event).ok().and_then(M::input) {
                Some(input) => drive.handle_input(input),
                None => tracing::warn!(target: "pg.fleet", "an event is not for this kind of payment"),
            }
            *heard = number;
        }
        Ok(())
    }
}
