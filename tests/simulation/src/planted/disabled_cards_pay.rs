//! A card key is read as enabled, whatever was done to it.

use pg_sandbox::{records::CardToken, store::StoredRecord as _};

use super::{
    Planted,
    tamper::{Misread, Tampered},
};
use crate::scenario::Disturbance;

pub(super) const PLANTED: Planted = Planted {
    name: "a card that is disabled still pays",
    check: "only what is valid pays",
    within: 500,
    needs: Some(Disturbance::CardKeys),
    differs: false,
    conduct: &Tampered(Misread {
        kind: CardToken::KIND,
        read: |body| Some(body.replace("\"enabled\":false", "\"enabled\":true")),
    }),
};
