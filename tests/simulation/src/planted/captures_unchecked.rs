//! A capture does not see the captures before it.

use pg_sandbox::{records::Payment, store::StoredRecord as _};

use super::{
    Planted,
    tamper::{Misread, Tampered, with_number},
};

pub(super) const PLANTED: Planted = Planted {
    name: "captures are not checked against what is left of the reserve",
    check: "amounts fit",
    within: 500,
    needs: None,
    differs: false,
    conduct: &Tampered(Misread {
        kind: Payment::KIND,
        read: |body| Some(with_number(&body, "captured", 0).replace("\"closed\":true", "\"closed\":false")),
    }),
};
