//! The stop after wrong credentials, which holds over all processes.

use std::sync::PoisonError;

use pg_hyper::{Transport, proto::machine::Moment};

use super::Fleet;
use crate::{IntentStore, StoreError};

/// What the store said last, and when.
#[derive(Default)]
pub(super) struct LastStop {
    asked: Option<Moment>,
    reason: Option<String>,
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Lets all workers send again, once the credentials are correct. Other processes notice within a poll, and clients that
    /// were refused themselves need [`Client::resume_sending`](pg_hyper::Client::resume_sending) or a restart with the new
    /// credentials.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn resume_sending(&self) -> Result<(), StoreError> {
        self.0.store.stop(&self.0.account, None).await?;
        self.0.client.resume_sending();
        self.note(None);
        Ok(())
    }

    /// Why nothing may be sent: asked of the store at most once a poll, whatever the number of charges.
    pub(super) async fn why_stopped(&self) -> Result<Option<String>, StoreError> {
        let now = self.0.plan.clock.now();
        {
            let last = self.0.stopped.lock().unwrap_or_else(PoisonError::into_inner);
            if last.asked.is_some_and(|asked| now.since(asked) < self.0.plan.poll) {
                return Ok(last.reason.clone());
            }
        }
        let reason = self.0.store.stopped(&self.0.account).await?;
        self.note(reason.clone());
        Ok(reason)
    }

    /// Tells the other processes that this one was refused.
    pub(super) async fn share_stop(&self) {
        let Some(reason) = self.0.client.stopped() else { return };
        let reason = reason.to_string();
        match self.0.store.stop(&self.0.account, Some(&reason)).await {
            Ok(()) => self.note(Some(reason)),
            Err(error) => tracing::warn!(target: "pg.fleet", %error, "a stop was not shared with the other workers"),
        }
    }

    fn note(&self, reason: Option<String>) {
        let asked = Some(self.0.plan.clock.now());
        *self.0.stopped.lock().unwrap_or_else(PoisonError::into_inner) = LastStop { asked, reason };
    }
}
