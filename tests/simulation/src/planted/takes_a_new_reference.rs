//! A lost payment is sent again under another reference.

use super::{
    Planted,
    naive::{Naive, Naively},
};
use crate::run::Step;

pub(super) const PLANTED: Planted = Planted {
    name: "a lost payment is sent again under a new reference",
    check: "one payment an intent",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Naively(resend),
};

fn resend(naive: &mut Naive) -> Step {
    if naive.sent >= naive.job.bounds.attempts {
        return naive.unknown();
    }
    naive.job.name.push_str("~again");
    naive.pay()
}
