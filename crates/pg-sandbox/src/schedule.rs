//! Tasks that no request triggers, and their times: in memory, so that checking costs nothing.

use std::collections::BTreeMap;

use crate::timestamp::Timestamp;

/// The maximum number of callbacks in flight.
pub(crate) const IN_FLIGHT: usize = 32;

/// The next due times of batches, callbacks and session ends, on the sandbox's clock. A time may be too early, which
/// costs a query of the store, but never too late.
#[derive(Debug)]
pub(crate) struct Schedule {
    batches: Option<Timestamp>,
    callbacks: Option<Timestamp>,
    sessions: Option<Timestamp>,
    /// With the real time at which the claim of each ends, if several processes share the store.
    in_flight: BTreeMap<String, Option<Timestamp>>,
}

impl Default for Schedule {
    fn default() -> Self {
        let unknown = Some(Timestamp::MIN);
        Self { batches: unknown, callbacks: unknown, sessions: unknown, in_flight: BTreeMap::new() }
    }
}

impl Schedule {
    /// Forgets the times read from the store, because the transaction was rolled back.
    pub(crate) fn look_again(&mut self) {
        self.batches = Some(Timestamp::MIN);
        self.callbacks = Some(Timestamp::MIN);
        self.sessions = Some(Timestamp::MIN);
    }

    /// Records that a batch is due at this time.
    pub(crate) fn note_batch(&mut self, due: Timestamp) {
        self.batches = Some(self.batches.map_or(due, |known| known.min(due)));
    }

    /// Records that a callback is due at this time.
    pub(crate) fn note_callback(&mut self, due: Timestamp) {
        self.callbacks = Some(self.callbacks.map_or(due, |known| known.min(due)));
    }

    /// Records that a session with a card ends at this time.
    pub(crate) fn note_session(&mut self, end: Timestamp) {
        self.sessions = Some(self.sessions.map_or(end, |known| known.min(end)));
    }

    /// Records a query's result: the next batch is due at this time.
    pub(crate) fn next_batch_is(&mut self, due: Option<Timestamp>) {
        self.batches = due;
    }

    /// Records a query's result: the next callback that is not in flight is due at this time.
    pub(crate) fn next_callback_is(&mut self, due: Option<Timestamp>) {
        self.callbacks = due;
    }

    /// Records a query's result: the next session with a card ends at this time.
    pub(crate) fn next_session_is(&mut self, end: Option<Timestamp>) {
        self.sessions = end;
    }

    /// Whether a session with a card may have ended.
    pub(crate) fn has_session(&self, now: Timestamp) -> bool {
        self.sessions.is_some_and(|end| end <= now)
    }

    /// Whether a batch may be due.
    pub(crate) fn has_batch(&self, now: Timestamp) -> bool {
        self.batches.is_some_and(|due| due <= now)
    }

    /// Whether a callback may be due and there is room for another one in flight.
    pub(crate) fn has_callback(&self, now: Timestamp) -> bool {
        self.room() > 0 && self.callbacks.is_some_and(|due| due <= now)
    }

    /// Returns the earliest time of any task.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        let callbacks = self.callbacks.filter(|_| self.room() > 0);
        self.batches.into_iter().chain(callbacks).chain(self.sessions).min()
    }

    /// Returns how many more callbacks can be in flight.
    pub(crate) fn room(&self) -> usize {
        IN_FLIGHT.saturating_sub(self.in_flight.len())
    }

    /// Whether a callback is in flight.
    pub(crate) fn is_in_flight(&self, id: &str) -> bool {
        self.in_flight.contains_key(id)
    }

    /// Returns until when a callback in flight is claimed, over a store that several processes share.
    pub(crate) fn claim(&self, id: &str) -> Option<Timestamp> {
        self.in_flight.get(id).copied().flatten()
    }

    /// Records that a callback was handed out, until its result is recorded or its claim ends.
    pub(crate) fn depart(&mut self, id: &str, claimed_until: Option<Timestamp>) {
        self.in_flight.insert(id.to_owned(), claimed_until);
    }

    /// Releases callbacks whose claim has ended without a result: any process may send them now.
    pub(crate) fn release(&mut self, real_now: Timestamp) {
        self.in_flight.retain(|_, claimed_until| claimed_until.is_none_or(|until| real_now < until));
    }

    /// Records that a callback is no longer in flight.
    pub(crate) fn arrive(&mut self, id: &str) {
        self.in_flight.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn the_earliest_due_callback_counts_and_excess_ones_wait() {
        let mut schedule = Schedule::default();
        assert!(schedule.has_batch(Timestamp::MIN) && schedule.has_callback(Timestamp::MIN));
        assert!(schedule.has_session(Timestamp::MIN));
        schedule.next_session_is(None);
        schedule.next_batch_is(None);
        schedule.next_callback_is(None);
        assert_eq!(schedule.next(), None);
        schedule.note_batch(at(30));
        schedule.note_callback(at(20));
        schedule.note_callback(at(40));
        assert_eq!(schedule.next(), Some(at(20)));
        assert!(schedule.has_callback(at(20)) && !schedule.has_callback(at(19)) && !schedule.has_batch(at(29)));
        (0..IN_FLIGHT).for_each(|number| schedule.depart(&number.to_string(), None));
        assert!(schedule.is_in_flight("0") && !schedule.has_callback(at(20)));
        assert_eq!(schedule.next(), Some(at(30)));
        schedule.arrive("0");
        assert!(!schedule.is_in_flight("0") && schedule.has_callback(at(20)));
        schedule.note_session(at(15));
        schedule.note_session(at(25));
        assert_eq!(schedule.next(), Some(at(15)));
        assert!(schedule.has_session(at(15)) && !schedule.has_session(at(14)));
    }
}
