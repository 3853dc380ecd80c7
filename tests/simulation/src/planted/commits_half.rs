//! What is rolled back is committed instead.

use pg_sandbox::store::Store;

use super::{
    Planted,
    tampered::{Tamper, Tampered},
};
use crate::conduct::Conduct;

pub(super) const PLANTED: Planted = Planted {
    name: "a crash leaves half of what a request has written",
    check: "what is acknowledged stays",
    within: 500,
    conduct: &CommitsHalf,
};

struct CommitsHalf;

impl Conduct for CommitsHalf {
    fn engine(&self, sqlite: Box<dyn Store>) -> Box<dyn Store> {
        Tampered::store(sqlite, Wrong)
    }
}

struct Wrong;

impl Tamper for Wrong {
    fn rollback(&mut self, store: &mut dyn Store) {
        if store.in_transaction() && store.commit().is_ok() {
            return;
        }
        store.rollback();
    }
}
