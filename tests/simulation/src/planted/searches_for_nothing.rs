//! A checkout lapses when its token is cancelled; a payment of which nobody told is not searched for.

use super::{Planted, hasty::LeavesOut};

pub(super) const PLANTED: Planted = Planted {
    name: "a checkout lapses without a search for its payment",
    check: "checkouts are what they claim",
    within: 500,
    conduct: &LeavesOut("/transaction/lookup"),
};
