//! A checkout whose token has expired by the shop's own clock ends as lapsed, without a question to the service.

use super::{Planted, leaves_out::leaves_out, twist::Twist};
use crate::{job::Kind, scenario::Disturbance};

pub(super) const PLANTED: Planted = Planted {
    name: "a token is taken to have expired when the shop's own clock says so",
    check: "checkouts stay what they claim",
    within: 1_000,
    needs: Some(Disturbance::ClockJumps),
    differs: false,
    conduct: &Twist {
        of: |kind| kind == Kind::Checkout,
        does: |job, step, now| match job.expires {
            Some(expires) if now.millis() / 1_000 >= expires => leaves_out("/canceltoken", step),
            _ => step,
        },
        ..Twist::NONE
    },
};
