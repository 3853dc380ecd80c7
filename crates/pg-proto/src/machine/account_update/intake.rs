//! Reads the source: drops duplicates, fills batches, and after a crash finds the keys of open batches again.

use pg_model::CardKey;

use super::{
    State,
    batch::Batch,
    key_set::{KeySet, Trail, print_of},
};

/// Maximum length of a card key. The documents give no limit; their examples have 36 characters.
const LONGEST: usize = 255;
/// Keys per demand when a source is read again.
const AGAIN: u64 = 5_000;

/// What was read. Not saved: after a crash the source is read again from its start.
#[derive(Default)]
pub(super) struct Intake {
    /// Keys that this process has read.
    position: u64,
    trail: Trail,
    seen: KeySet,
    keys: Vec<CardKey>,
    invalid: Vec<CardKey>,
    duplicates: u64,
}

/// Whether the source differs from the source that was read before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceChanged;

impl Intake {
    /// Returns the place and the number of the keys that are needed before anything else can be done.
    pub(super) fn replay(&self, state: &State) -> Option<(u64, usize)> {
        let needed = !state.open.is_empty() || !state.exhausted;
        let missing = state.taken.saturating_sub(self.position);
        (needed && missing > 0).then(|| (self.position, usize::try_from(missing.min(AGAIN)).unwrap_or(usize::MAX)))
    }

    /// Returns the place and the number of the keys that are needed to fill a batch.
    pub(super) fn wants(&self, batch_size: usize) -> (u64, usize) {
        (self.position, batch_size.saturating_sub(self.gathered()).max(1))
    }

    /// Takes keys that begin at `from`. Ignores keys from another place.
    pub(super) fn take(
        &mut self,
        state: &mut State,
        from: u64,
        keys: Vec<CardKey>,
        batch_size: usize,
    ) -> Result<(), SourceChanged> {
        if from != self.position {
            return Ok(());
        }
        if let Some((_, most)) = self.replay(state) {
            if keys.is_empty() {
                return Err(SourceChanged);
            }
            keys.into_iter().take(most).for_each(|key| self.again(state, key));
            return if self.position == state.taken { self.compare(state) } else { Ok(()) };
        }
        if state.exhausted {
            return Ok(());
        }
        state.exhausted = keys.is_empty();
        let (_, most) = self.wants(batch_size);
        for key in keys.into_iter().take(most) {
            match self.read(&key) {
                Read::New(key) => self.keys.push(key),
                Read::Known => self.duplicates += 1,
                Read::Invalid => self.invalid.push(key),
            }
        }
        if state.exhausted || self.gathered() >= batch_size {
            self.close(state);
        }
        Ok(())
    }

    /// Returns the keys that wait for a full batch, and the counts: read, duplicates, invalid.
    pub(super) fn waiting(&self, state: &State) -> (u64, u64, u64, u64) {
        let read = self.position.saturating_sub(state.taken);
        (self.keys.len() as u64, read, self.duplicates, self.invalid.len() as u64)
    }

    fn gathered(&self) -> usize {
        self.keys.len() + self.invalid.len()
    }

    /// Creates a batch of the waiting keys.
    fn close(&mut self, state: &mut State) {
        let (_, read, duplicates, invalid) = self.waiting(state);
        state.counts.read += read;
        state.counts.duplicates += duplicates;
        state.counts.invalid += invalid;
        self.duplicates = 0;
        if self.gathered() > 0 {
            let keys = std::mem::take(&mut self.keys);
            let range = (state.taken, self.position);
            state.open.push(Batch::new(state.next_number, range, keys, std::mem::take(&mut self.invalid)));
            state.next_number += 1;
        }
        (state.taken, state.trail) = (self.position, self.trail);
    }

    /// Handles a key that was read before the machine was saved. The key belongs to the batch of its place, if that
    /// batch is still open.
    fn again(&mut self, state: &mut State, key: CardKey) {
        let place = self.position;
        let read = self.read(&key);
        let batch = state.open.iter_mut().find(|batch| (batch.first..batch.end).contains(&place));
        match (read, batch) {
            (Read::New(key), Some(batch)) => batch.keys.push(key),
            (Read::Invalid, Some(batch)) => batch.invalid.push(key),
            _ => {}
        }
    }

    fn compare(&self, state: &State) -> Result<(), SourceChanged> {
        let whole = state.open.iter().all(|batch| batch.keys.len() == batch.length);
        if self.trail == state.trail && whole { Ok(()) } else { Err(SourceChanged) }
    }

    fn read(&mut self, key: &CardKey) -> Read {
        let text = key.as_str().trim();
        let print = print_of(text);
        self.position += 1;
        self.trail = self.trail.and(print);
        if text.is_empty() || text.len() > LONGEST || text.chars().any(|c| c == ',' || c.is_control()) {
            Read::Invalid
        } else if self.seen.insert(print) {
            Read::New(CardKey::from(text))
        } else {
            Read::Known
        }
    }
}

enum Read {
    New(CardKey),
    Known,
    Invalid,
}
