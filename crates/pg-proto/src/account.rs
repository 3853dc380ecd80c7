//! A merchant's account: where its requests go and what they are signed with.

use std::fmt;

use pg_crypto::{KeyError, SessionCipher, ShaKey};
use pg_model::{Encoding, Secret};
use sha2::{Digest, Sha512};

use crate::BaseUrl;

/// What every version 3 request carries or is signed with (spec 1 §5).
///
/// Live and staging have credentials of their own.
///
/// API key and password travel with each request; the SHA key never does, it only signs. `Debug` shows none of them, and
/// they are wiped when dropped, as are the bodies of requests that carry them, once the last handle to a body is dropped.
#[derive(Clone)]
pub struct Credentials {
    pub(crate) api_key: Secret,
    pub(crate) api_password: Secret,
    pub(crate) sha_key: ShaKey,
}

/// What every version 5 request carries: two texts of 32 characters (spec 3 §4).
#[derive(Clone)]
pub struct EnterpriseCredentials {
    pub(crate) api_key: Secret,
    pub(crate) api_password: Secret,
}

/// A merchant's account in one environment. Turns typed requests into HTTP requests and HTTP replies into typed ones;
/// never opens a connection itself.
///
/// ```
/// use pg_proto::{Account, BaseUrl, Credentials};
/// use pg_proto::model::Encoding;
///
/// let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"))
///     .encoding(Encoding::Json);
/// # Ok::<(), pg_proto::BaseUrlError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Account {
    pub(crate) base: BaseUrl,
    pub(crate) credentials: Credentials,
    pub(crate) enterprise: Option<(BaseUrl, EnterpriseCredentials)>,
    pub(crate) encoding: Encoding,
    /// Set by the merchant.
    identity: Option<String>,
}

/// 48 bits of the API key's hash tell accounts apart, and leave a million million times as many keys as anybody can try.
const FINGERPRINT_BYTES: usize = 6;

impl Credentials {
    /// API key, API password and the key that signs.
    pub fn new(api_key: impl Into<Secret>, api_password: impl Into<Secret>, sha_key: impl Into<String>) -> Self {
        Self { api_key: api_key.into(), api_password: api_password.into(), sha_key: ShaKey::new(sha_key) }
    }
}

impl EnterpriseCredentials {
    /// API key and API password of the version 5 service.
    pub fn new(api_key: impl Into<Secret>, api_password: impl Into<Secret>) -> Self {
        Self { api_key: api_key.into(), api_password: api_password.into() }
    }
}

impl Account {
    /// An account of the version 3 services whose replies come in XML, as the service does when nothing is asked for.
    #[must_use]
    pub fn new(base: BaseUrl, credentials: Credentials) -> Self {
        Self { base, credentials, enterprise: None, encoding: Encoding::Xml, identity: None }
    }

    /// Asks for replies in that encoding. Version 5 knows only XML.
    #[must_use]
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Adds the version 5 service: hosted checkout and utilities.
    #[must_use]
    pub fn enterprise(mut self, base: BaseUrl, credentials: EnterpriseCredentials) -> Self {
        self.enterprise = Some((base, credentials));
        self
    }

    /// Names the account, so that machines that were saved for it are known again after its API key was replaced.
    ///
    /// A saved machine belongs to the books of one account, and resumes with no other: it would look its payments up
    /// in the wrong books and could pay again. Without a name the account is identified by its API key, of which a
    /// fingerprint is saved: `key-` and 12 hexadecimal digits of a hash. Passwords and SHA keys may be replaced at any time.
    /// Before you replace the API key, set a name and keep it: an account with this name resumes what was saved
    /// for the name or for its present API key. If the key was replaced without, the error names the fingerprint
    /// that the machine was saved for: that fingerprint, set as the name, resumes it.
    ///
    /// The name is no secret: it stands in saved machines and in errors. Two accounts never share one.
    ///
    /// ```
    /// use pg_proto::{Account, BaseUrl, Credentials};
    ///
    /// let base = BaseUrl::parse("https://gateway.example")?;
    /// let account = Account::new(base, Credentials::new("new key", "password", "sha key")).identity("shop-uk");
    /// # Ok::<(), pg_proto::BaseUrlError>(())
    /// ```
    #[must_use]
    pub fn identity(mut self, name: impl Into<String>) -> Self {
        self.identity = Some(name.into());
        self
    }

    /// Of one service, the normalised base address and the identities that the account has there, the one that is saved
    /// first; `None` where the account has no credentials for it.
    pub(crate) fn identities(&self, enterprise: bool) -> Option<(String, Vec<String>)> {
        let (base, api_key) = match &self.enterprise {
            Some((base, own)) if enterprise => (base, &own.api_key),
            None if enterprise => return None,
            _ => (&self.base, &self.credentials.api_key),
        };
        let named = self.identity.iter().cloned();
        Some((base.normalised(), named.chain([fingerprint(api_key)]).collect()))
    }

    /// The addresses that requests go to.
    pub fn base_urls(&self) -> impl Iterator<Item = &BaseUrl> {
        std::iter::once(&self.base).chain(self.enterprise.iter().map(|(base, _)| base))
    }

    /// The cipher of session data: its key is the API key (spec 2 §4.2).
    ///
    /// # Errors
    /// When the API key does not make a key, which by default means that it has not 32 characters (assumption A30).
    pub fn session_cipher(&self) -> Result<SessionCipher, KeyError> {
        SessionCipher::new(self.credentials.api_key.expose())
    }
}

fn fingerprint(api_key: &Secret) -> String {
    let hash = Sha512::new().chain_update("pg account\0").chain_update(api_key.expose()).finalize();
    hash.iter().take(FINGERPRINT_BYTES).fold("key-".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(***)")
    }
}

impl fmt::Debug for EnterpriseCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnterpriseCredentials(***)")
    }
}
