//! A capture does not see the captures before it.

use pg_sandbox::{
    records::Payment,
    store::{Kind, Record as _, Store, StoreError},
};

use super::{
    Planted,
    tampered::{Tamper, Tampered, with_nought},
};
use crate::conduct::Conduct;

pub(super) const PLANTED: Planted = Planted {
    name: "captures are not checked against what is left of the reserve",
    check: "amounts fit",
    within: 500,
    conduct: &CapturesUnchecked,
};

struct CapturesUnchecked;

impl Conduct for CapturesUnchecked {
    fn engine(&self, sqlite: Box<dyn Store>) -> Box<dyn Store> {
        Tampered::store(sqlite, Wrong)
    }
}

struct Wrong;

impl Tamper for Wrong {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        let found = store.get(kind, key)?;
        Ok(if kind.table == Payment::KIND.table { found.map(|body| with_nought(&body, "captured")) } else { found })
    }
}
