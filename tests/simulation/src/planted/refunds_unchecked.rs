//! A refund does not see the refunds before it.

use pg_sandbox::{records::Payment, store::StoredRecord as _};

use super::{
    Planted,
    tamper::{Misread, Tampered, with_number},
};

pub(super) const PLANTED: Planted = Planted {
    name: "refunds are not checked against what was refunded before",
    check: "amounts fit",
    within: 500,
    needs: None,
    differs: false,
    conduct: &Tampered(Misread { kind: Payment::KIND, read: |body| Some(with_number(&body, "refunded", 0)) }),
};
