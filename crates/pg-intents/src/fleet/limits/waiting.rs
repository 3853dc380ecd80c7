//! The requests of this process that wait for a place, and the places that its other requests hand over to them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::places::Place;

#[derive(Default)]
pub(super) struct Waiting(Mutex<State>);

#[derive(Default)]
struct State {
    requests: u32,
    places: Vec<Place>,
}

impl Waiting {
    /// Counts one more waiting request.
    pub(super) fn begin(&self) {
        self.lock().requests += 1;
    }

    /// Removes one waiting request from the count, and returns places that no request needs any more.
    #[must_use]
    pub(super) fn end(&self) -> Vec<Place> {
        let mut state = self.lock();
        state.requests = state.requests.saturating_sub(1);
        if state.requests == 0 { std::mem::take(&mut state.places) } else { Vec::new() }
    }

    /// Leaves a place for a waiting request; returns the place if no request waits.
    pub(super) fn hand_over(&self, place: Place) -> Result<(), Place> {
        let mut state = self.lock();
        if state.requests == 0 {
            return Err(place);
        }
        state.places.push(place.hand_over());
        Ok(())
    }

    /// Takes a place that was handed over.
    pub(super) fn take(&self, is_proven: bool) -> Option<Place> {
        let mut state = self.lock();
        let at = state.places.iter().position(|place| place.suits(is_proven))?;
        Some(state.places.swap_remove(at))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
