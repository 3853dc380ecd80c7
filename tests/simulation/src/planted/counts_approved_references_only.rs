//! A reference whose payment was declined is accepted again.

use pg_sandbox::{
    records::{Payment, UniqueReference},
    store::{Kind, Store, StoreError, StoredRecord as _},
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
    differs: false,
    conduct: &Tampered(Wrong),
};

#[derive(Clone, Copy)]
struct Wrong;

impl Tamper for Wrong {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        let found = store.get(kind, key)?;
        if kind.table != UniqueReference::KIND.table {
            return Ok(found);
        }
        let used = found.as_deref().and_then(|body| serde_json::from_str::<UniqueReference>(body).ok());
        let Some(key) = used.and_then(|used| used.transaction) else { return Ok(None) };
        let paid = store.get(Payment::KIND, &key)?.and_then(|body| serde_json::from_str::<Payment>(&body).ok());
        Ok(found.filter(|_| paid.is_some_and(|paid| paid.approved())))
    }
}
