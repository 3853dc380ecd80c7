//! A payment does not use its checkout token up.

use pg_sandbox::{records::CheckoutToken, store::StoredRecord as _};

use super::{
    Planted,
    tamper::{Misread, Tampered},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a checkout token is not used up by its payment",
    check: "a token is paid as often as it may be",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Tampered(Misread {
        kind: CheckoutToken::KIND,
        read: |body| Some(body.replace("\"uses\":0", "\"uses\":1")),
    }),
};
