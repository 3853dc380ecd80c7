//! Nobody asks the throttle.

use super::Planted;
use crate::conduct::ClientBehaviour;

pub(super) const PLANTED: Planted = Planted {
    name: "the throttle is not asked",
    check: "the throttle holds",
    within: 1_000,
    needs: None,
    differs: false,
    conduct: &IgnoresTheThrottle,
};

struct IgnoresTheThrottle;

impl ClientBehaviour for IgnoresTheThrottle {
    fn asks_throttle(&self) -> bool {
        false
    }
}
