//! The settings of a sandbox.

use std::{fs, io, path::Path, sync::Arc};

use bytes::Bytes;
use pg_connections::ConnectionLimits;
use pg_model::Dialect;

use crate::{
    certificate::ServerCertificate, dialect::cipher, form::FormLimits, log::Log, merchants::Merchants,
    open_error::OpenError, secret::Secret,
};

/// Accounts, limits, and access to the control interface.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The merchant accounts.
    pub merchants: Merchants,
    /// The sandbox's decisions where the documents leave something open. Default: the sandbox's own
    /// [`dialect`](crate::dialect), which also supplies missing entries. Lookups in a sandbox always find executed
    /// payments at once.
    pub dialect: Option<Arc<Dialect>>,
    /// The limits of a request.
    pub limits: FormLimits,
    /// Access to the control interface below `/_sandbox/`.
    pub control: ControlAccess,
    /// The address by which browsers reach the sandbox, such as `https://sandbox.example`, if it differs from the
    /// address for merchants' servers.
    pub public_url: Option<String>,
    /// The number of connections that the server accepts, and how long it waits for silent connections.
    pub connections: ConnectionLimits,
    /// The certificate of the server, which then accepts only TLS. Without it the server speaks plain HTTP.
    pub certificate: Option<ServerCertificate>,
    /// The allowed targets of callbacks.
    pub outgoing: OutgoingAccess,
    /// The JavaScript decoder with which the inspector decodes redirects. Without it, the sandbox decodes them.
    pub decoder: Option<DecoderPackage>,
    /// How often a callback that is not acknowledged is sent again, at most 9 times. Default: never, since the
    /// documents say that one callback is sent.
    pub callback_retries: u32,
    /// The log, which gets each event as one line of JSON. Default: none.
    pub log: Option<Log>,
}

impl Settings {
    /// Sets the merchant accounts.
    #[must_use]
    pub fn merchants(mut self, merchants: Merchants) -> Self {
        self.merchants = merchants;
        self
    }

    /// Sets the dialect: the sandbox's decisions where the documents leave something open.
    #[must_use]
    pub fn dialect(mut self, dialect: impl Into<Option<Arc<Dialect>>>) -> Self {
        self.dialect = dialect.into();
        self
    }

    /// Sets the limits of a request.
    #[must_use]
    pub fn limits(mut self, limits: FormLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Access to the control interface below `/_sandbox/`.
    #[must_use]
    pub fn control(mut self, control: ControlAccess) -> Self {
        self.control = control;
        self
    }

    /// Sets the address by which browsers reach the sandbox, such as `https://sandbox.example`, if it differs from the
    /// address for merchants' servers.
    #[must_use]
    pub fn public_url(mut self, public_url: impl Into<Option<String>>) -> Self {
        self.public_url = public_url.into();
        self
    }

    /// Sets the number of connections that the server accepts, and how long it waits for silent connections.
    #[must_use]
    pub fn connections(mut self, connections: ConnectionLimits) -> Self {
        self.connections = connections;
        self
    }

    /// Sets the certificate of the server, which then accepts only TLS.
    #[must_use]
    pub fn certificate(mut self, certificate: impl Into<Option<ServerCertificate>>) -> Self {
        self.certificate = certificate.into();
        self
    }

    /// Sets the allowed targets of callbacks.
    #[must_use]
    pub fn outgoing(mut self, outgoing: OutgoingAccess) -> Self {
        self.outgoing = outgoing;
        self
    }

    /// Sets the JavaScript decoder with which the inspector decodes redirects.
    #[must_use]
    pub fn decoder(mut self, decoder: impl Into<Option<DecoderPackage>>) -> Self {
        self.decoder = decoder.into();
        self
    }

    /// Sets the log, which gets each event as one line of JSON.
    #[must_use]
    pub fn log(mut self, log: impl Into<Option<Log>>) -> Self {
        self.log = log.into();
        self
    }

    /// Sets how often a callback that is not acknowledged is sent again, at most 9 times.
    #[must_use]
    pub fn callback_retries(mut self, retries: u32) -> Self {
        self.callback_retries = retries;
        self
    }
}

impl Settings {
    /// Returns the sandbox's dialect.
    #[must_use]
    pub fn spoken(&self) -> Arc<Dialect> {
        self.dialect.clone().unwrap_or_else(crate::dialect)
    }

    /// Returns the scheme of the server's own addresses.
    pub(crate) const fn scheme(&self) -> &'static str {
        if self.certificate.is_some() { "https" } else { "http" }
    }

    /// Checks that redirects can be encrypted for every account, so that an unsuitable dialect is reported at the
    /// start, not for the first customer.
    pub(crate) fn check_keys(&self) -> Result<(), OpenError> {
        let dialect = self.spoken();
        for merchant in self.merchants.all() {
            cipher(&dialect, merchant.api_key.expose())
                .map_err(|problem| OpenError::UnfitKey { account: merchant.name.clone(), problem })?;
        }
        Ok(())
    }
}

/// The targets of callbacks that are allowed besides the Internet. Callbacks are sent from inside your network to
/// addresses that a request names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OutgoingAccess {
    /// Whether callbacks to this machine are sent, even without TLS. Default: yes.
    pub this_machine: bool,
    /// Whether callbacks to private networks are sent, even without TLS. Default: no.
    pub private_networks: bool,
    /// Certificate authorities that are trusted besides Mozilla's, as DER.
    pub certificate_authorities: Vec<Vec<u8>>,
}

impl OutgoingAccess {
    /// Whether callbacks to this machine are sent, even without TLS.
    #[must_use]
    pub fn this_machine(mut self, this_machine: bool) -> Self {
        self.this_machine = this_machine;
        self
    }

    /// Whether callbacks to private networks are sent, even without TLS.
    #[must_use]
    pub fn private_networks(mut self, private_networks: bool) -> Self {
        self.private_networks = private_networks;
        self
    }

    /// Certificate authorities that are trusted besides Mozilla's, as DER.
    #[must_use]
    pub fn certificate_authorities(mut self, der: impl IntoIterator<Item = Vec<u8>>) -> Self {
        self.certificate_authorities = der.into_iter().collect();
        self
    }
}

impl Default for OutgoingAccess {
    fn default() -> Self {
        Self { this_machine: true, private_networks: false, certificate_authorities: Vec::new() }
    }
}

/// Access to the control interface. It shows credentials and changes the clock. So by default only programs on this
/// machine may use it, without a proxy.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ControlAccess {
    /// The token for access from other machines and through proxies. Without a token, neither is possible. Use at least
    /// 128 random bits.
    pub token: Option<Secret>,
    /// Host names of the sandbox besides `localhost`, addresses and the public URL. All other names are refused, so
    /// that no web page can reach the control interface through a name that points to this machine.
    pub hosts: Vec<String>,
}

impl ControlAccess {
    /// Sets the token that allows access from other machines and through proxies.
    #[must_use]
    pub fn token(mut self, token: impl Into<Option<Secret>>) -> Self {
        self.token = token.into();
        self
    }

    /// Host names of the sandbox besides `localhost`, addresses and the public URL.
    #[must_use]
    pub fn hosts(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.hosts = names.into_iter().map(Into::into).collect();
        self
    }
}

/// The JavaScript decoder for front ends, which the inspector can run: the files of the package that `cargo xtask wasm`
/// builds.
#[derive(Debug, Clone)]
pub struct DecoderPackage {
    pub(crate) files: [(&'static str, Bytes); 3],
}

impl DecoderPackage {
    /// Reads the files from the folder of the package.
    ///
    /// # Errors
    /// If a file is missing.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let file = |name| fs::read(folder.join(name)).map(|bytes| (name, Bytes::from(bytes)));
        Ok(Self { files: [file("web.js")?, file("decoder.js")?, file("pg_wasm.wasm")?] })
    }
}
