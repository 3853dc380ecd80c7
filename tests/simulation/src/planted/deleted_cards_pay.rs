//! A card key that is deleted stays where it was.

use pg_sandbox::{
    records::CardToken,
    store::{Kind, Store, StoreError, StoredRecord as _},
};

use super::{
    Planted,
    tamper::{Tamper, Tampered},
};
use crate::scenario::Disturbance;

pub(super) const PLANTED: Planted = Planted {
    name: "a card that is deleted still pays",
    check: "only what is valid pays",
    within: 1_000,
    needs: Some(Disturbance::CardKeys),
    differs: false,
    conduct: &Tampered(Wrong),
};

#[derive(Clone, Copy)]
struct Wrong;

impl Tamper for Wrong {
    fn remove(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        if kind.table == CardToken::KIND.table { Ok(()) } else { store.remove(kind, key) }
    }
}
