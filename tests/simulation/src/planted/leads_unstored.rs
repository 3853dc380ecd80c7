//! A customer is led to the payment page before the machine is stored: a crash in between forgets the token.

use super::Planted;
use crate::conduct::ClientBehaviour;

pub(super) const PLANTED: Planted = Planted {
    name: "a customer is led to pay before the machine is stored",
    check: "checkouts stay what they claim",
    within: 2_000,
    needs: None,
    differs: false,
    conduct: &LeadsUnstored,
};

struct LeadsUnstored;

impl ClientBehaviour for LeadsUnstored {
    fn stores_before_leading(&self) -> bool {
        false
    }
}
