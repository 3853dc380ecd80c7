//! A batch whose submission got no reply is submitted again as if it had never left.

use std::ops::ControlFlow;

use super::{Planted, takes_lost_for_unsent::lost_is_unsent, twist::Twist};
use crate::job::Kind;

pub(super) const PLANTED: Planted = Planted {
    name: "a batch without a reply is submitted again",
    check: "updates are what the service answered",
    within: 500,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: |kind| kind == Kind::Update,
        hears: |event| ControlFlow::Continue(lost_is_unsent(event)),
        ..Twist::NONE
    },
};
