//! A reference whose payment was declined is accepted again.

use pg_sandbox::{
    records::{Payment, UniqueReference},
    store::{Kind, Record as _, Row, Store, StoreError},
};

use super::{
    Planted,
    tamper::{Tamper, Tampered},
};

pub(super) const PLANTED: Planted = Planted {
    name: "only approved payments use their reference up",
    check: "one payment an intent",
    within: 500,
    needs: None,
    conduct: &Tampered(Wrong),
};

#[derive(Clone, Copy)]
struct Wrong;

impl Tamper for Wrong {
    fn insert(&mut self, store: &mut dyn Store, kind: &'static Kind, row: &Row<'_>) -> Result<bool, StoreError> {
        if kind.table != UniqueReference::KIND.table || store.insert(kind, row)? {
            return if kind.table == UniqueReference::KIND.table { Ok(true) } else { store.insert(kind, row) };
        }
        let used = store.get(kind, row.key)?.and_then(|body| serde_json::from_str::<UniqueReference>(&body).ok());
        let Some(key) = used.and_then(|used| used.transaction) else { return Ok(false) };
        let paid = store.get(Payment::KIND, &key)?.and_then(|body| serde_json::from_str::<Payment>(&body).ok());
        if paid.is_some_and(|paid| paid.approved()) {
            return Ok(false);
        }
        store.put(kind, row).map(|()| true)
    }
}
