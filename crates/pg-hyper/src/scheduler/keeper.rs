//! Saves the throttle, so that a restart remembers what the service has refused.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
};

use pg_proto::machine::SavedState;
use tokio::sync::Mutex;

use crate::{StoreError, clock::Pending, store::Store};

/// The store of the throttle, and its last saved state.
pub(super) struct Keeper {
    store: Store,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    last: Option<SavedState>,
    under_way: Option<(Pending<Result<(), StoreError>>, SavedState)>,
}

impl Keeper {
    pub(super) fn new(store: Store) -> Self {
        Self { store, kept: Mutex::default() }
    }

    /// Saves the present state of the throttle after all earlier saves, unless it is already saved. A failure does not
    /// stop requests: a lockout does less harm than a shop that accepts no payments.
    pub(super) async fn keep(&self, throttle: impl Fn() -> SavedState) {
        let mut kept = self.kept.lock().await;
        // A dropped future left this save pending. Two saves at once could end in either order.
        kept.finish().await;
        let saved = throttle();
        if kept.last.as_ref() != Some(&saved) {
            kept.under_way = Some((Box::pin(put(self.store.clone(), saved.clone())), saved));
            kept.finish().await;
        }
    }
}

/// Saves a state. A panic of the store is a failed save: it must reach neither the request that is about to be sent nor
/// the reply that has arrived.
async fn put(store: Store, saved: SavedState) -> Result<(), StoreError> {
    let mut storing = None;
    poll_fn(move |context| {
        let poll = || storing.get_or_insert_with(|| store.put(saved.clone())).as_mut().poll(context);
        catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|_| Poll::Ready(Err("the store panicked".into())))
    })
    .await
}

impl Kept {
    /// A pending save stays here when its caller is dropped.
    async fn finish(&mut self) {
        let Some((storing, _)) = &mut self.under_way else { return };
        let stored = storing.as_mut().await;
        let saved = self.under_way.take().map(|(_, saved)| saved);
        self.last = match stored {
            Ok(()) => saved,
            Err(error) => {
                let error = pg_model::mask::text(&error.to_string());
                tracing::warn!(target: "pg.drive", %error, "the throttle could not be saved");
                None
            }
        };
    }
}
