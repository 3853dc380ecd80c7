//! A checkout lapses when its time is over or it is withdrawn, and its token stays open.

use super::{Planted, hasty::LeavesOut};

pub(super) const PLANTED: Planted = Planted {
    name: "a checkout lapses without its token being cancelled",
    check: "checkouts stay what they claim",
    within: 300,
    conduct: &LeavesOut("/canceltoken"),
};
