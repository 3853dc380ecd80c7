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

    /// Saves only if `store` returns that it has replaced the last state, which is `first` in the beginning. A save that
    /// failed may have been done: a database may commit, and lose its reply. So its state may be the last one too.
    pub(crate) fn comparing<F, Stored, E>(first: Option<SavedState>, store: F) -> Self
    where
        F: Fn(Option<SavedState>, SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<bool, E>> + Send + 'static,
        E: Into<StoreError>,
    {
        let (store, last) = (Arc::new(store), Arc::new(Mutex::new(vec![first])));
        Self::new(move |saved| {
            let (store, last) = (Arc::clone(&store), Arc::clone(&last));
            async move {
                let known = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                for previous in known {
                    let stored = store(previous, saved.clone()).await.map_err(Into::into);
                    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                    match stored {
                        Ok(false) => {}
                        Ok(true) => {
                            *last = vec![Some(saved)];
                            return Ok(());
                        }
                        Err(error) => {
                            last.push(Some(saved));
                            return Err(error);
                        }
                    }
                }
                Err(StoreError::from(Superseded))
            }
        })
    }

    pub(crate) fn put(&self, saved: SavedState) -> Pending<Result<(), StoreError>> {
        (self.0)(saved)
    }
}
