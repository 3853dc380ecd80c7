//! The stores of machines and of the throttle.

use std::{error::Error, sync::Arc};

use pg_proto::machine::SavedState;

use crate::clock::Pending;

/// Why a machine, or the throttle, could not be saved.
pub type StoreError = Box<dyn Error + Send + Sync>;

/// The function that saves a state.
#[derive(Clone)]
pub(crate) struct Store(Arc<dyn Fn(SavedState) -> Pending<Result<(), StoreError>> + Send + Sync>);

impl Store {
    pub(crate) fn new<F, Stored, E>(store: F) -> Self
    where
        F: Fn(SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<StoreError>,
    {
        Self(Arc::new(move |saved| {
            let stored = store(saved);
            Box::pin(async move { stored.await.map_err(Into::into) })
        }))
    }

    pub(crate) fn put(&self, saved: SavedState) -> Pending<Result<(), StoreError>> {
        (self.0)(saved)
    }
}
