//! A reference whose payment was declined is accepted again.

use pg_sandbox::{
    records::{Payment, UniqueReference},
    store::{Kind, Record as _, Store, StoreError},
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
    fn holds(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        if kind.table != UniqueReference::KIND.table || !store.holds(kind, key)? {
            return store.holds(kind, key);
        }
        let used = store.get(kind, key)?.and_then(|body| serde_json::from_str::<UniqueReference>(&body).ok());
        let Some(key) = used.and_then(|used| used.transaction) else { return Ok(true) };
        let paid = store.get(Payment::KIND, &key)?.and_then(|body| serde_json::from_str::<Payment>(&body).ok());
        Ok(paid.is_some_and(|paid| paid.approved()))
    }
}
