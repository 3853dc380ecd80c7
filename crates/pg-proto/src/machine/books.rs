//! The account to which a saved machine belongs: base addresses and identities, never a secret.
//!
//! Assumption A144 says what identifies an account over time. A machine resumed under another account would look up its
//! payments in the wrong place, find nothing, and pay again.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::resume_error::ResumeError;
use crate::{Account, BaseUrl};

/// The services that a machine calls. Only these must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Services {
    /// Version 3.
    Gateway,
    /// Version 5.
    Enterprise,
    /// Both: a checkout is created in version 5 and searched for in version 3.
    Both,
}

impl Services {
    /// Returns the services of a method, by the version of its service.
    pub(super) const fn of_version(version: u8) -> Self {
        if version == 5 { Self::Enterprise } else { Self::Gateway }
    }
}

/// The bindings of an account, as they are saved with each machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AccountBindings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gateway: Option<ServiceBinding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    enterprise: Option<ServiceBinding>,
}

/// The binding to one service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ServiceBinding {
    /// The base address, normalised.
    base: String,
    /// The account's identity at this service.
    account: String,
}

impl AccountBindings {
    pub(super) fn of(account: &Account) -> Self {
        let book = |enterprise| {
            let (base, mut identities) = account.identities(enterprise)?;
            Some(ServiceBinding { base, account: identities.swap_remove(0) })
        };
        Self { gateway: book(false), enterprise: book(true) }
    }

    /// Checks that `account` has these bindings, for the services in `services`.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if a binding differs, or if the binding to one service was not saved.
    pub(super) fn check(&self, account: &Account, services: Services) -> Result<(), ResumeError> {
        let (gateway, enterprise) = (services != Services::Enterprise, services != Services::Gateway);
        for (saved, is_enterprise, needed) in [(&self.enterprise, true, enterprise), (&self.gateway, false, gateway)] {
            if !needed {
                continue;
            }
            // An account without version 5 credentials has no binding there.
            let Some((base, identities)) = account.identities(is_enterprise) else {
                return Err(ResumeError::Mismatch("account"));
            };
            let given = || ServiceBinding { base: base.clone(), account: identities[0].clone() }.to_string();
            let Some(saved) = saved else { return Err(ResumeError::Unbound { given: given() }) };
            if !saved.is_at(&base) || !identities.contains(&saved.account) {
                return Err(ResumeError::OtherAccount { saved: saved.to_string(), given: given() });
            }
        }
        Ok(())
    }
}

impl ServiceBinding {
    /// Whether this is the same base address; an earlier version may have saved another spelling.
    fn is_at(&self, base: &str) -> bool {
        self.base == base || BaseUrl::parse(&self.base).is_ok_and(|saved| saved.normalised() == base)
    }
}

impl fmt::Display for ServiceBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "account {:?} at {}", self.account, self.base)
    }
}

#[cfg(test)]
mod tests;
