//! A machine is stored after its request was sent: a crash in between forgets the request.

use super::Planted;
use crate::conduct::ClientBehaviour;

pub(super) const PLANTED: Planted = Planted {
    name: "a machine is stored after its request was sent",
    check: "machines keep their bounds",
    within: 500,
    needs: None,
    differs: false,
    conduct: &StoresAfterSending,
};

struct StoresAfterSending;

impl ClientBehaviour for StoresAfterSending {
    fn stores_first(&self) -> bool {
        false
    }
}
