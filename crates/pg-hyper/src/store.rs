//! The stores of machines and of the throttle.

use std::{
    error::Error,
    sync::{Arc, Mutex, PoisonError},
};

use pg_proto::machine::SavedState;

use crate::clock::Pending;

/// Why a machine, or the throttle, could not be saved.
pub type StoreError = Box<dyn Error + Send + Sync>;

/// The stored state is not one that the drive knows.
#[derive(Debug, thiserror::Error)]
#[error(
    "the stored state is not that of this machine; resume the stored state, or remove it once the outcome of its machine is recorded"
)]
pub(crate) struct Superseded;

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

    /// Saves only if `store` returns that it has replaced the last state, which is `first` in the beginning.
    pub(crate) fn comparing<F, Stored, E>(first: Option<SavedState>, store: F) -> Self
    where
        F: Fn(Option<SavedState>, SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<bool, E>> + Send + 'static,
        E: Into<StoreError>,
    {
        let last = Arc::new(Mutex::new(first));
        Self::new(move |saved| {
            let previous = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let (storing, last) = (store(previous, saved.clone()), Arc::clone(&last));
            async move {
                if !storing.await.map_err(Into::into)? {
                    return Err(StoreError::from(Superseded));
                }
                *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(saved);
                Ok(())
            }
        })
    }

    pub(crate) fn put(&self, saved: SavedState) -> Pending<Result<(), StoreError>> {
        (self.0)(saved)
    }
}
