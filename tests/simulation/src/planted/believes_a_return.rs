//! A customer who comes back from the bank is taken for one who has paid.

use super::{Planted, twist::Twist};
use crate::{
    job::Kind,
    run::{Claim, OwnerEvent, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a customer who comes back is taken for one who has paid",
    check: "claims are true",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: |kind| kind == Kind::ThreeDSecure,
        told: |_, what| {
            let claim = Claim::Approved { key: "as the address said".to_owned() };
            matches!(what, OwnerEvent::Returned).then_some(Step::Ended(claim))
        },
        ..Twist::NONE
    },
};
