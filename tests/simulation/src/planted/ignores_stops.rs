//! After a credential error everybody goes on as before.

use super::Planted;
use crate::conduct::ClientBehaviour;

pub(super) const PLANTED: Planted = Planted {
    name: "a credential error does not stop the others",
    check: "nobody is locked out",
    within: 1000,
    needs: None,
    differs: false,
    conduct: &IgnoresStops,
};

struct IgnoresStops;

impl ClientBehaviour for IgnoresStops {
    fn heeds_stops(&self) -> bool {
        false
    }
}
