//! A status that neither the documents nor the dialect list is taken for a decline.

use super::{
    Planted,
    naive::{Naive, Naively},
};
use crate::run::Step;

pub(super) const PLANTED: Planted = Planted {
    name: "a status that nobody knows is taken for a decline",
    check: "claims are true",
    within: 600,
    needs: None,
    differs: true,
    conduct: &Naively(give_up),
};

/// What it makes of a status stands in [`Naive`]; of a lost reply it makes nothing.
fn give_up(naive: &mut Naive) -> Step {
    naive.unknown()
}
