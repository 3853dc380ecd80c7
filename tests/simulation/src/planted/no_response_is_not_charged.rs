//! When the bank does not answer, it is taken to have charged nothing, though it may have.

use super::{
    Planted,
    twist::{Twist, ends_when_refused_with},
};
use crate::{job::Kind, run::Claim};

pub(super) const PLANTED: Planted = Planted {
    name: "a bank that does not answer is taken for one that has not charged",
    check: "claims are true",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: Kind::charges,
        hears: |event| ends_when_refused_with(event, "119", Claim::Refused { for_good: true }),
        ..Twist::NONE
    },
};
