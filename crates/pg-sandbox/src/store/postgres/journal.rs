//! The journal's table, over a separate connection: it never waits for a group of requests, and a group waits for it
//! only to list requests.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_postgres::types::Type;

use super::{
    link::{Link, Trouble, Value},
    table::{Batch, Table},
};
use crate::store::{
    Halt, JournalRow, JournalTable, Query, Row, StoreError, seal::Sealer, shared_journal::MOST_OF_ACCOUNT,
};

const TRIM: &str = "DELETE FROM payment_sandbox.journal WHERE merchant = $1 AND key <= \
    (SELECT key FROM payment_sandbox.journal WHERE merchant = $1 ORDER BY key DESC OFFSET $2 LIMIT 1)";

pub(super) struct PostgresJournal {
    link: Link,
    /// The sealer of the process, which follows changes of the keys.
    sealer: Arc<Mutex<Sealer>>,
    table: Table,
}

impl PostgresJournal {
    pub(super) fn new(url: &str, sealer: Arc<Mutex<Sealer>>, halt: Halt) -> Result<Self, StoreError> {
        let columns = [("journal", "key", false), ("journal", "merchant", false), ("journal", "body", true)];
        let table = Table::all(columns.into_iter()).pop();
        let table = table.ok_or_else(|| StoreError::Engine("the journal has no table".to_owned()))?;
        Ok(Self { link: Link::new(url)?.halted_by(halt), sealer, table })
    }

    /// Runs a query, once more over a new connection if the old one broke.
    fn query(&mut self, text: &str, values: &[Value<'_>]) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        let first = self.link.query(text, values);
        let done = if matches!(first, Err(Trouble::Broken(_))) { self.link.query(text, values) } else { first };
        done.map_err(|trouble| trouble.error())
    }

    fn rows(&mut self, batch: &Batch) -> Result<Vec<JournalRow>, StoreError> {
        let found = self.query(&batch.text, &batch.values())?;
        let mut sealer = lock(&self.sealer);
        let mut rows = Vec::with_capacity(found.len());
        for row in &found {
            // Skips a row that another program altered, or that is sealed with a retired key, and returns the others.
            if let Ok(body) = self.table.open(&mut sealer, row)
                && let (Ok(key), Ok(merchant)) = (row.try_get(0), row.try_get(1))
            {
                rows.push(JournalRow { key, merchant, body });
            }
        }
        Ok(rows)
    }
}

impl JournalTable for PostgresJournal {
    fn add(&mut self, rows: &[JournalRow]) -> Result<(), StoreError> {
        let rows = rows.iter().map(|row| Row {
            key: &row.key,
            merchant: &row.merchant,
            index: [None, None, None],
            body: &row.body,
        });
        let Some(batch) = self.table.put(&mut lock(&self.sealer), rows) else { return Ok(()) };
        // Runs one statement, which is a transaction.
        self.query(&batch.text, &batch.values()).map(drop)
    }

    fn newest(
        &mut self,
        merchant: Option<&str>,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<JournalRow>, StoreError> {
        let query = Query { merchant, before, ..Query::newest(limit) };
        let selection = self.table.selection(&lock(&self.sealer), &query)?;
        selection.map_or(Ok(Vec::new()), |batch| self.rows(&batch))
    }

    fn get(&mut self, key: &str) -> Result<Option<String>, StoreError> {
        if !self.table.can_hold(key) {
            return Ok(None);
        }
        let text = self.table.get.clone();
        let found = self.query(&text, &[(&key, Type::TEXT)])?;
        found.first().map(|row| self.table.open(&mut lock(&self.sealer), row)).transpose()
    }

    fn forget(&mut self, merchant: &str) -> Result<(), StoreError> {
        let text = "DELETE FROM payment_sandbox.journal WHERE merchant = $1";
        self.query(text, &[(&merchant, Type::TEXT)]).map(drop)
    }

    fn trim(&mut self, merchants: &BTreeSet<String>, before: &str) -> Result<(), StoreError> {
        self.query("DELETE FROM payment_sandbox.journal WHERE key < $1", &[(&before, Type::TEXT)])?;
        let most = i64::from(MOST_OF_ACCOUNT);
        for merchant in merchants {
            self.query(TRIM, &[(merchant, Type::TEXT), (&most, Type::INT8)])?;
        }
        Ok(())
    }
}

/// Returns the sealer; a panic cannot leave it inconsistent.
fn lock(sealer: &Mutex<Sealer>) -> MutexGuard<'_, Sealer> {
    sealer.lock().unwrap_or_else(PoisonError::into_inner)
}
