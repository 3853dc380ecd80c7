//! The refusal of a reference that is used up is taken for the refusal of the payment that has used it up.

use super::{
    Planted,
    twist::{Twist, ends_when_refused_with},
};
use crate::{job::Kind, run::Claim};

pub(super) const PLANTED: Planted = Planted {
    name: "a reference that is used up is taken for a payment that was refused",
    check: "claims are true",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: Kind::charges,
        hears: |event| ends_when_refused_with(event, "950", Claim::Refused { for_good: true }),
        ..Twist::NONE
    },
};
