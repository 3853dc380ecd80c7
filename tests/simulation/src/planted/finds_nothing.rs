//! A lookup of a reference finds nothing.

use pg_sandbox::{
    records::UniqueReference,
    store::{Kind, Record as _, Store, StoreError},
};

use super::{
    Planted,
    tampered::{Tamper, Tampered},
};
use crate::conduct::Conduct;

pub(super) const PLANTED: Planted = Planted {
    name: "lookups do not find what there is",
    check: "unknowns can be reconciled",
    within: 500,
    conduct: &FindsNothing,
};

struct FindsNothing;

impl Conduct for FindsNothing {
    fn engine(&self, sqlite: Box<dyn Store>) -> Box<dyn Store> {
        Tampered::store(sqlite, Wrong)
    }
}

struct Wrong;

impl Tamper for Wrong {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        if kind.table == UniqueReference::KIND.table { Ok(None) } else { store.get(kind, key) }
    }
}
