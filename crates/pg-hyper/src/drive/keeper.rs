//! Stores the throttle, so that a restart does not forget what the service has refused.

use pg_proto::machine::SavedState;
use tokio::sync::Mutex;

use super::{Pending, StoreError, store::Store};

/// What the throttle is stored with, and what is stored.
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

    /// Stores the throttle as it is when all before are done, unless that is stored already. When it can't be stored, nothing
    /// is held back: a lockout is a smaller harm than a shop that takes no money.
    pub(super) async fn keep(&self, throttle: impl Fn() -> SavedState) {
        let mut kept = self.kept.lock().await;
        // A wait that was dropped left this behind. Two at once could end in either order.
        kept.finish().await;
        let saved = throttle();
        if kept.last.as_ref() != Some(&saved) {
            kept.under_way = Some((self.store.put(saved.clone()), saved));
            kept.finish().await;
        }
    }
}

impl Kept {
    /// What is under way stays in here when the one who waits is dropped.
    async fn finish(&mut self) {
        let Some((storing, _)) = &mut self.under_way else { return };
        let stored = storing.as_mut().await;
        let saved = self.under_way.take().map(|(_, saved)| saved);
        self.last = match stored {
            Ok(()) => saved,
            Err(error) => {
                let error = pg_model::mask::text(&error.to_string());
                tracing::warn!(target: "pg.drive", %error, "the throttle could not be stored");
                None
            }
        };
    }
}
