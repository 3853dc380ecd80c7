//! A payment does not use its checkout token up.

use pg_sandbox::{
    records::CheckoutToken,
    store::{Kind, Record as _, Store, StoreError},
};

use super::{
    Planted,
    tampered::{Tamper, Tampered},
};
use crate::conduct::Conduct;

pub(super) const PLANTED: Planted = Planted {
    name: "a checkout token is not used up by its payment",
    check: "a token is paid as often as it may be",
    within: 300,
    conduct: &TokensLast,
};

struct TokensLast;

impl Conduct for TokensLast {
    fn engine(&self, sqlite: Box<dyn Store>) -> Box<dyn Store> {
        Tampered::store(sqlite, Wrong)
    }
}

struct Wrong;

impl Tamper for Wrong {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        let found = store.get(kind, key)?;
        let is_token = kind.table == CheckoutToken::KIND.table;
        Ok(found.map(|body| if is_token { body.replace("\"uses\":0", "\"uses\":1") } else { body }))
    }
}
