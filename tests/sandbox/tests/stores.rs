//! Every engine passes the conformance suite, and an engine that is wrong does not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use pg_sandbox::{
    conformance,
    store::{Kind, Query, Row, Sqlite, Store, StoreError},
};
use pg_stores::OrderedMap;

#[test]
fn sqlite_conforms() {
    conformance::check(&mut Sqlite::in_memory().unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    conformance::check_durable(&mut || Ok(Box::new(Sqlite::open(&path, &[3; 32])?))).unwrap();
    conformance::check(&mut Sqlite::open(&path, &[3; 32]).unwrap()).unwrap();
}

/// A mistake that an engine may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    IgnoresLimit,
    IgnoresMerchant,
    ForgetsDirection,
    KeepsAfterRollback,
    LosesCommit,
    SkipsRemove,
    KeepsOldRow,
}

struct Wrong(OrderedMap, Mistake);

impl Store for Wrong {
    pg_stores::pass_on!(0: begin, in_transaction, get, holds);

    fn commit(&mut self) -> Result<(), StoreError> {
        if self.1 == Mistake::LosesCommit {
            self.0.rollback();
            return Ok(());
        }
        self.0.commit()
    }

    fn rollback(&mut self) {
        if self.1 == Mistake::KeepsAfterRollback && self.0.in_transaction() {
            self.0.commit().unwrap();
        }
        self.0.rollback();
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        if self.1 == Mistake::KeepsOldRow && self.0.holds(kind, row.key)? {
            return Ok(());
        }
        self.0.put(kind, row)
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        if self.1 == Mistake::SkipsRemove {
            return Ok(());
        }
        self.0.remove(kind, key)
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        let merchant = query.merchant().unwrap_or_default();
        let altered = match self.1 {
            Mistake::IgnoresMerchant if query.condition().is_none() => Query::newest(query.limit()),
            Mistake::ForgetsDirection if query.condition().is_none() && merchant.is_empty() => {
                Query::oldest(query.limit())
            }
            _ => *query,
        };
        let mut found = self.0.select(kind, &altered)?;
        if self.1 == Mistake::IgnoresLimit && query.limit() == 1 {
            found = self.0.select(kind, &Query::oldest(9))?;
        }
        Ok(found)
    }
}

#[test]
fn an_engine_with_a_mistake_does_not_conform() {
    for mistake in [
        Mistake::IgnoresLimit,
        Mistake::IgnoresMerchant,
        Mistake::ForgetsDirection,
        Mistake::KeepsAfterRollback,
        Mistake::LosesCommit,
        Mistake::SkipsRemove,
        Mistake::KeepsOldRow,
    ] {
        let found = conformance::check(&mut Wrong(OrderedMap::default(), mistake));
        assert!(found.is_err(), "{mistake:?} is not found");
    }
}
