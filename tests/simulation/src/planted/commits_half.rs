//! What is rolled back is committed instead.

use pg_sandbox::store::Store;

use super::{
    Planted,
    tamper::{Tamper, Tampered},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a crash leaves half of what a request has written",
    check: "what is acknowledged stays",
    within: 500,
    needs: None,
    differs: false,
    conduct: &Tampered(Wrong),
};

#[derive(Clone, Copy)]
struct Wrong;

impl Tamper for Wrong {
    fn rollback(&mut self, store: &mut dyn Store) {
        if store.in_transaction() && store.commit().is_ok() {
            return;
        }
        store.rollback();
    }
}
