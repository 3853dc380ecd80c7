//! Signals that the disk has failed permanently.

use serde_json::json;
use tokio::sync::watch;

use super::system;
use crate::{Log, store::StoreError};

/// The error after which the store executes no request.
pub(super) struct Failure {
    told: watch::Sender<Option<StoreError>>,
    log: Option<Log>,
}

impl Failure {
    pub(super) fn new(log: Option<Log>) -> Self {
        Self { told: watch::Sender::new(None), log }
    }

    /// Logs the first error, and tells those who wait for it.
    pub(super) fn tell(&self, error: &StoreError) {
        self.told.send_if_modified(|known| {
            let is_first = known.is_none();
            if is_first {
                if let Some(log) = &self.log {
                    log.event(system::now(), "error", "store-failed", json!({ "problem": error.to_string() }));
                }
                *known = Some(error.clone());
            }
            is_first
        });
    }

    /// Returns the error once there is one.
    pub(super) fn watch(&self) -> watch::Receiver<Option<StoreError>> {
        self.told.subscribe()
    }
}
