//! A lookup that finds nothing is taken for proof that nothing was charged.

use super::{
    Planted,
    naive::{Naive, Naively},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a lookup that finds nothing is believed",
    check: "claims stay true",
    within: 200,
    needs: None,
    differs: false,
    conduct: &Naively(Naive::look),
};
