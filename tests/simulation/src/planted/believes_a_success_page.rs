//! A callback or a browser that names a payment is taken for one, without looking it up.

use super::{Planted, twist::Twist};
use crate::{
    job::Kind,
    run::{Claim, OwnerEvent, Step},
};

pub(super) const PLANTED: Planted = Planted {
    name: "a callback or a success page that names a payment is believed",
    check: "checkouts are what they claim",
    within: 300,
    needs: None,
    differs: false,
    conduct: &Twist {
        of: |kind| kind == Kind::Checkout,
        told: |_, what| match what {
            OwnerEvent::Paid(key) => Some(Step::Ended(Claim::Approved { key: key.clone() })),
            _ => None,
        },
        ..Twist::NONE
    },
};
