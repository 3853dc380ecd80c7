//! A store engine outside the sandbox's crate: ordered maps in memory, one for each kind of record.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use pg_sandbox::store::{Condition, INDEX_COLUMNS, Kind, Query, Row, Store, StoreError};

/// The rows of all tables. Clones share what was committed; each has its own transaction.
#[derive(Clone, Default)]
pub struct OrderedMap {
    committed: Arc<Mutex<Tables>>,
    /// What the open transaction sees.
    current: Option<Tables>,
}

type Tables = BTreeMap<&'static str, BTreeMap<String, Held>>;

#[derive(Clone)]
struct Held {
    merchant: String,
    index: [Option<String>; INDEX_COLUMNS],
    body: String,
}

impl OrderedMap {
    fn committed(&self) -> MutexGuard<'_, Tables> {
        self.committed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The row, in the open transaction or as it was committed.
    fn read<T>(&self, work: impl FnOnce(&Tables) -> T) -> T {
        match &self.current {
            Some(tables) => work(tables),
            None => work(&self.committed()),
        }
    }

    fn write(&mut self, kind: &'static Kind, work: impl FnOnce(&mut BTreeMap<String, Held>)) {
        match &mut self.current {
            Some(tables) => work(tables.entry(kind.table).or_default()),
            None => work(self.committed().entry(kind.table).or_default()),
        }
    }
}

impl Held {
    fn column(&self, kind: &Kind, name: &str) -> Option<&str> {
        let at = kind.columns.iter().position(|column| *column == name)?;
        self.index[at].as_deref()
    }

    fn matches(&self, kind: &Kind, key: &str, query: &Query<'_>) -> bool {
        query.merchant().is_none_or(|merchant| self.merchant == merchant)
            && query.below().is_none_or(|below| key < below)
            && match query.condition() {
                None => true,
                Some(Condition::Equal { column, value }) => self.column(kind, column) == Some(value),
                Some(Condition::AtMost { column, value }) => {
                    self.column(kind, column).is_some_and(|held| held <= value)
                }
            }
    }
}

impl Store for OrderedMap {
    fn begin(&mut self) -> Result<(), StoreError> {
        let tables = self.committed().clone();
        self.current = Some(tables);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let tables = self.current.take().ok_or(StoreError::Lost)?;
        *self.committed() = tables;
        Ok(())
    }

    fn rollback(&mut self) {
        self.current = None;
    }

    fn in_transaction(&self) -> bool {
        self.current.is_some()
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self.read(|tables| Some(tables.get(kind.table)?.get(key)?.body.clone())))
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        Ok(self.read(|tables| tables.get(kind.table).is_some_and(|rows| rows.contains_key(key))))
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        let index = row.index.each_ref().map(|value| value.as_deref().map(str::to_owned));
        let held = Held { merchant: row.merchant.to_owned(), index, body: row.body.to_owned() };
        self.write(kind, |rows| drop(rows.insert(row.key.to_owned(), held)));
        Ok(())
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        self.write(kind, |rows| drop(rows.remove(key)));
        Ok(())
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        let limit = usize::try_from(query.limit()).unwrap_or(usize::MAX);
        Ok(self.read(|tables| {
            let rows = tables.get(kind.table).into_iter().flatten();
            let mut found: Vec<_> = rows.filter(|(key, held)| held.matches(kind, key, query)).collect();
            if let Some(Condition::AtMost { column, .. }) = query.condition() {
                // Stable, so that rows with the same value stay in the order of their keys.
                found.sort_by(|(_, one), (_, other)| one.column(kind, column).cmp(&other.column(kind, column)));
            }
            if !query.is_ascending() {
                found.reverse();
            }
            found.into_iter().take(limit).map(|(_, held)| held.body.clone()).collect()
        }))
    }
}

#[cfg(test)]
mod tests {
    use pg_sandbox::conformance;

    use super::*;

    #[test]
    fn an_ordered_map_conforms() {
        conformance::check(&mut OrderedMap::default()).unwrap();
        let map = OrderedMap::default();
        conformance::check_durable(&mut || Ok(Box::new(OrderedMap { current: None, ..map.clone() }))).unwrap();
    }
}
