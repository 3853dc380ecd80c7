//! The allowed targets of callbacks.

use std::net::IpAddr;

use super::address::{Place, place};
use crate::{records::CallbackKind, settings::OutgoingAccess};

/// The permissions of one callback, from its kind, its scheme and the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    this_machine: bool,
    private_networks: bool,
    internet: bool,
}

impl Rules {
    /// Account updater results cross the Internet over TLS only (A77); the hosted
    /// checkout also uses port 80 (spec 3 §4.1).
    pub(super) fn new(kind: CallbackKind, tls: bool, access: &OutgoingAccess) -> Self {
        Self {
            this_machine: access.this_machine,
            private_networks: access.private_networks,
            internet: tls || kind == CallbackKind::Checkout,
        }
    }

    /// Whether a connection to an address is allowed.
    pub(super) fn admit(self, address: IpAddr) -> Result<(), Forbidden> {
        match place(address) {
            Place::Loopback if self.this_machine => Ok(()),
            Place::Loopback => Err(Forbidden::ThisMachine),
            Place::Private if self.private_networks => Ok(()),
            Place::Private => Err(Forbidden::PrivateNetwork),
            Place::Public if self.internet => Ok(()),
            Place::Public => Err(Forbidden::Plain),
            Place::Forbidden => Err(Forbidden::Never),
        }
    }

    /// Whether a host name may be resolved, before its addresses are known.
    pub(super) fn admit_name(self) -> Result<(), Forbidden> {
        if self.internet || self.private_networks { Ok(()) } else { Err(Forbidden::Plain) }
    }

    /// Whether this machine may be called by name.
    pub(super) fn admit_localhost(self) -> Result<(), Forbidden> {
        if self.this_machine { Ok(()) } else { Err(Forbidden::ThisMachine) }
    }
}

/// Why a connection to an address is not allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Forbidden {
    /// The settings forbid callbacks to this machine.
    #[error("callbacks to this machine are disabled")]
    ThisMachine,
    /// The settings forbid private networks.
    #[error("private networks are disabled; start the sandbox with --private-networks")]
    PrivateNetwork,
    /// The target needs TLS.
    #[error("http is allowed for this machine only; use https")]
    Plain,
    /// Link-local, metadata, multicast, unspecified or reserved.
    #[error("callbacks never go to link-local, metadata, multicast or reserved addresses")]
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOPBACK: &str = "::ffff:127.0.0.1";
    const PRIVATE: &str = "192.168.1.2";
    const PUBLIC: &str = "1.1.1.1";
    const METADATA: &str = "169.254.169.254";

    fn verdicts(kind: CallbackKind, tls: bool, access: &OutgoingAccess) -> [bool; 4] {
        let rules = Rules::new(kind, tls, access);
        [LOOPBACK, PRIVATE, PUBLIC, METADATA].map(|address| rules.admit(address.parse().unwrap()).is_ok())
    }

    #[test]
    fn where_each_kind_may_go() {
        use CallbackKind::{AccountUpdater, Checkout};
        let usual = OutgoingAccess::default();
        let private = OutgoingAccess { private_networks: true, ..OutgoingAccess::default() };
        let abroad = OutgoingAccess { this_machine: false, ..OutgoingAccess::default() };
        for (kind, tls, access, expected) in [
            (AccountUpdater, true, &usual, [true, false, true, false]),
            (AccountUpdater, false, &usual, [true, false, false, false]),
            (AccountUpdater, false, &private, [true, true, false, false]),
            (AccountUpdater, true, &abroad, [false, false, true, false]),
            (Checkout, true, &usual, [true, false, true, false]),
            (Checkout, false, &usual, [true, false, true, false]),
            (Checkout, false, &private, [true, true, true, false]),
        ] {
            assert_eq!(verdicts(kind, tls, access), expected, "{kind:?} {tls} {access:?}");
        }
    }
}
