//! When the bank does not answer, it is taken to have said no.

use super::{
    Planted,
    twist::{Twist, ends_when_refused_with},
};
use crate::{job::Kind, run::Claim};

pub(super) const PLANTED: Planted = Planted {
    name: "a bank that does not answer is taken for one that declines",
    check: "claims are true",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: Kind::charges,
        hears: |event| ends_when_refused_with(event, "119", Claim::Declined),
        ..Twist::NONE
    },
};
