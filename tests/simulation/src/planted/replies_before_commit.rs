//! A commit is put off until the next request.

use pg_sandbox::store::{Store, StoreError};

use super::{
    Planted,
    tamper::{Tamper, Tampered},
};

pub(super) const PLANTED: Planted = Planted {
    name: "replies go out before the commit",
    check: "what is acknowledged stays",
    within: 500,
    needs: None,
    differs: false,
    conduct: &Tampered(Wrong { open: false }),
};

/// The transaction that was said to be committed is still open.
#[derive(Clone, Copy)]
struct Wrong {
    open: bool,
}

impl Tamper for Wrong {
    fn begin(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        if std::mem::take(&mut self.open) {
            store.commit()?;
        }
        store.begin()
    }

    fn commit(&mut self, _: &mut dyn Store) -> Result<(), StoreError> {
        self.open = true;
        Ok(())
    }

    fn rollback(&mut self, store: &mut dyn Store) {
        self.open = false;
        store.rollback();
    }
}
