//! A lookup of a reference finds nothing.

use pg_sandbox::{records::UniqueReference, store::StoredRecord as _};

use super::{
    Planted,
    tamper::{Misread, Tampered},
};

pub(super) const PLANTED: Planted = Planted {
    name: "lookups do not find what there is",
    check: "unknowns can be reconciled",
    within: 500,
    needs: None,
    differs: false,
    conduct: &Tampered(Misread { kind: UniqueReference::KIND, read: |_| None }),
};
