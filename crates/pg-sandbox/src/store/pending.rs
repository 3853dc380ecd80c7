//! The changes of one request, until it is known whether it succeeds.

use std::{borrow::Cow, collections::BTreeMap};

use super::{INDEX_COLUMNS, Kind, Row, Store, StoreError, StoredRecord};

/// Rows to write and to remove, by table and key. A later write of a key replaces an earlier one.
#[derive(Default)]
pub(super) struct Pending(BTreeMap<&'static str, Table>);

struct Table {
    kind: &'static Kind,
    rows: Rows,
}

/// The changes of one table.
type Rows = BTreeMap<String, Option<Held>>;

/// A row to write.
pub(super) struct Held {
    merchant: String,
    index: [Option<String>; INDEX_COLUMNS],
    pub(super) body: String,
}

impl Held {
    fn row<'a>(&'a self, key: &'a str) -> Row<'a> {
        let index = self.index.each_ref().map(|value| value.as_deref().map(Cow::Borrowed));
        Row { key, merchant: &self.merchant, index, body: &self.body }
    }
}

impl Pending {
    /// Sets a record, with its serialized body.
    pub(super) fn put<T: StoredRecord>(&mut self, record: &T, body: String) {
        let index = record.index().map(|value| value.map(Into::into));
        let held = Held { merchant: record.merchant().to_owned(), index, body };
        self.set(T::KIND, record.key(), Some(held));
    }

    /// Marks a row for deletion.
    pub(super) fn remove(&mut self, kind: &'static Kind, key: &str) {
        self.set(kind, key, None);
    }

    /// Returns the pending change of a row, if any.
    pub(super) fn get(&self, kind: &Kind, key: &str) -> Option<&Option<Held>> {
        self.rows(kind)?.get(key)
    }

    /// Returns the changed rows of a table.
    pub(super) fn rows(&self, kind: &Kind) -> Option<&Rows> {
        self.0.get(kind.table).map(|table| &table.rows)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Writes all changes to the engine.
    pub(super) fn write(&self, store: &mut dyn Store) -> Result<(), StoreError> {
        for Table { kind, rows } in self.0.values() {
            for (key, held) in rows {
                match held {
                    Some(held) => store.put(kind, &held.row(key))?,
                    None => store.remove(kind, key)?,
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, kind: &'static Kind, key: &str, held: Option<Held>) {
        let table = self.0.entry(kind.table).or_insert_with(|| Table { kind, rows: BTreeMap::new() });
        table.rows.insert(key.to_owned(), held);
    }
}
