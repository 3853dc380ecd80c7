//! Seals all rows with the newest key, so that older keys are no longer needed.

use super::{Postgres, keys};
use crate::store::{Store as _, StoreError};

/// The number of rows that one transaction reseals.
const RESEALED_AT_ONCE: i64 = 500;

impl Postgres {
    /// Seals every row with the newest key, a few hundred at a time while other processes work, and retires all older
    /// keys. Starts over if another process brings a newer key meanwhile. Returns how many rows it has sealed.
    ///
    /// # Errors
    /// If the database fails. The older keys are still needed then; call it again.
    pub fn reseal(&mut self) -> Result<usize, StoreError> {
        let mut count = 0;
        while !self.reseal_and_retire(&mut count)? {}
        Ok(count)
    }

    /// Seals every row with the newest key, and retires the older keys unless the keys were changed meanwhile: then rows may be
    /// sealed with a key that is no longer the newest. Returns whether it has retired them, and counts the rows that it has sealed.
    fn reseal_and_retire(&mut self, count: &mut usize) -> Result<bool, StoreError> {
        let changes = self.key_changes;
        for at in 0..self.tables.len() {
            let mut last = None;
            loop {
                self.begin()?;
                let batch = self.tables[at].after(last.take(), RESEALED_AT_ONCE);
                let rows = self.query(&batch.text, &batch.values())?;
                let (sealed, key, number) = self.tables[at].resealed(&mut self.sealer, &rows)?;
                if let Some(sealed) = sealed {
                    self.query(&sealed.text, &sealed.values())?;
                }
                self.end()?;
                *count += number;
                last = key;
                if last.is_none() {
                    break;
                }
            }
        }
        self.begin()?;
        if self.key_changes != changes {
            self.rollback();
            return Ok(false);
        }
        self.link.simple(keys::RETIRE).map_err(|trouble| self.met(trouble))?;
        self.end()?;
        Ok(true)
    }

    /// Commits statements that change no record.
    fn end(&mut self) -> Result<(), StoreError> {
        self.link.end("COMMIT").map_err(|trouble| self.met(trouble))?;
        self.open = false;
        Ok(())
    }
}
