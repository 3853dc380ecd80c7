//! Several processes of the service over one store, with one fault.

use super::Planted;
use crate::{conduct::ClientBehaviour, scenario::Disturbance};

/// No process knows that others use the store too.
struct Alone;

impl ClientBehaviour for Alone {
    fn shares(&self) -> bool {
        false
    }
}

/// Each process admits as many requests as the limit of the account.
pub(super) const LIMITS_BY_PROCESS: Planted =
    Planted::new("every process of the service has its own throttle", "all processes have one limit", 300, &Alone)
        .needs(Disturbance::Processes);

/// Each process delivers what is due.
pub(super) const DELIVERS_TWICE: Planted =
    Planted::new("two processes deliver one callback", "a callback has one sender", 300, &Alone)
        .needs(Disturbance::Processes);

/// No process reads its copies again that another one has changed in the store.
struct Stale;

impl ClientBehaviour for Stale {
    fn notices_others(&self) -> bool {
        false
    }
}

/// A fault that an operator has set holds at one process only.
pub(super) const KEEPS_OLD_COPIES: Planted = Planted::new(
    "a process keeps copies that another one has made old",
    "an order holds for every process",
    300,
    &Stale,
)
.needs(Disturbance::Processes);
