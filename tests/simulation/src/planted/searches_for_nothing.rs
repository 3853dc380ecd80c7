//! A checkout lapses when its token is cancelled; a payment of which nobody told is not searched for.

use super::{Planted, leaves_out::leaves_out, twist::Twist};
use crate::job::Kind;

pub(super) const PLANTED: Planted = Planted {
    name: "a checkout lapses without a search for its payment",
    check: "checkouts are what they claim",
    within: 500,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: |kind| kind == Kind::Checkout,
        does: |_, step, _| leaves_out("/transaction/lookup", step),
        ..Twist::NONE
    },
};
