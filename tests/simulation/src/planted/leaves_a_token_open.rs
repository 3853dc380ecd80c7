//! A checkout lapses when its time is over or it is withdrawn, and its token stays open.

use super::{Planted, leaves_out::leaves_out, twist::Twist};
use crate::job::Kind;

pub(super) const PLANTED: Planted = Planted {
    name: "a checkout lapses without its token being cancelled",
    check: "checkouts stay what they claim",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: |kind| kind == Kind::Checkout,
        does: |_, step, _| leaves_out("/canceltoken", step),
        ..Twist::NONE
    },
};
