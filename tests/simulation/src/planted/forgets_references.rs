//! A reference is accepted as often as it comes.

use pg_sandbox::{
    records::UniqueReference,
    store::{Kind, Store, StoreError, StoredRecord as _},
};

use super::{
    Planted,
    tamper::{Tamper, Tampered},
};

pub(super) const PLANTED: Planted = Planted {
    name: "references are not remembered",
    check: "one payment an intent",
    within: 200,
    needs: None,
    differs: false,
    conduct: &Tampered(Wrong),
};

#[derive(Clone, Copy)]
struct Wrong;

impl Tamper for Wrong {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        if kind.table == UniqueReference::KIND.table { Ok(None) } else { store.get(kind, key) }
    }
}
