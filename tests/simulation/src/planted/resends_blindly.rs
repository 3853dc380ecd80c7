//! A lost payment is sent again under its reference without a look, and its refusal is believed.

use super::{
    Planted,
    naive::{Naive, Naively},
};
use crate::run::Step;

pub(super) const PLANTED: Planted = Planted {
    name: "a lost payment is sent again without looking it up",
    check: "claims are true",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Naively(resend),
};

fn resend(naive: &mut Naive) -> Step {
    if naive.sent < naive.job.bounds.attempts { naive.pay() } else { naive.unknown() }
}
