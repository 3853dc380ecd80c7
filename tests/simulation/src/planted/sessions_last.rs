//! A session does not expire.

use pg_sandbox::{Timestamp, records::Session, store::StoredRecord as _};

use super::{
    Planted,
    tamper::{Misread, Tampered, with_number},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a session pays after it has expired",
    check: "only what is valid pays",
    within: 1_000,
    needs: None,
    differs: false,
    conduct: &Tampered(Misread {
        kind: Session::KIND,
        read: |body| Some(with_number(&body, "expires", Timestamp::MAX.millis().unsigned_abs())),
    }),
};
