//! A machine whose end is unknown waits for ever.

use std::time::Duration;

use super::{Planted, twist::Twist};
use crate::{
    job::Kind,
    run::{Claim, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "what is unknown is waited for without end",
    check: "every world ends",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: Kind::charges,
        does: |_, step, now| match step {
            Step::Ended(Claim::Unknown { .. }) => Step::WaitUntil(now.after(Duration::from_secs(1))),
            other => other,
        },
        ..Twist::NONE
    },
};
