//! What a sandbox is told once, when it is made.

use std::sync::Arc;

use pg_connections::ConnectionLimits;
use pg_model::Dialect;

use crate::{
    decoder_package::DecoderPackage, dialect::cipher, form::FormLimits, merchants::Merchants, sandbox::OpenError,
    secret::Secret,
};

/// Accounts, limits, and who may control the sandbox.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The merchant accounts.
    pub merchants: Merchants,
    /// What the sandbox decides where the documents leave something open; without it, its own [`dialect`](crate::dialect). What
    /// a dialect does not say is as in the sandbox's own. A sandbox always sees at once what it has executed.
    pub dialect: Option<Arc<Dialect>>,
    /// What a request may measure.
    pub limits: FormLimits,
    /// Who may use the control interface below `/_sandbox/`.
    pub control: ControlAccess,
    /// The address by which browsers reach the sandbox, such as `https://sandbox.example`, when it is
    /// not the one that merchants' servers call it by.
    pub public_url: Option<String>,
    /// How many connections the server accepts, and how long it waits for silent ones.
    pub connections: ConnectionLimits,
    /// Where callbacks may go.
    pub outgoing: OutgoingAccess,
    /// The decoder for JavaScript, for the inspector to decode redirects with; without it the sandbox decodes them.
    pub decoder: Option<DecoderPackage>,
}

impl Settings {
    /// The dialect that it speaks.
    #[must_use]
    pub fn spoken(&self) -> Arc<Dialect> {
        self.dialect.clone().unwrap_or_else(crate::dialect)
    }

    /// Whether redirects can be encrypted for every account: better refused at the start than at the first customer.
    pub(crate) fn check_keys(&self) -> Result<(), OpenError> {
        let dialect = self.spoken();
        for merchant in self.merchants.all() {
            cipher(&dialect, merchant.api_key.expose())
                .map_err(|problem| OpenError::UnfitKey { account: merchant.name.clone(), problem })?;
        }
        Ok(())
    }
}

/// Where callbacks may go, beyond the Internet: they are sent from inside your network to addresses
/// that a request names.
#[derive(Debug, Clone)]
pub struct OutgoingAccess {
    /// Whether callbacks to this machine are sent, also without TLS; by default they are.
    pub this_machine: bool,
    /// Whether callbacks to private networks are sent, also without TLS; by default they are not.
    pub private_networks: bool,
    /// Certificate authorities that are trusted besides those that Mozilla trusts, as DER.
    pub certificate_authorities: Vec<Vec<u8>>,
}

impl Default for OutgoingAccess {
    fn default() -> Self {
        Self { this_machine: true, private_networks: false, certificate_authorities: Vec::new() }
    }
}

/// Who may use the control interface. It shows credentials and turns the clock, so by default only programs on
/// this machine may, and no request that came through a proxy.
#[derive(Debug, Clone, Default)]
pub struct ControlAccess {
    /// Lets its holders use it from other machines and through proxies; without a token neither is possible. Take at least
    /// 128 random bits.
    pub token: Option<Secret>,
    /// Host names of the sandbox besides `localhost`, addresses and the public URL. Every other name is
    /// refused, so that no web page can reach it through a name that it points to this machine.
    pub hosts: Vec<String>,
}
