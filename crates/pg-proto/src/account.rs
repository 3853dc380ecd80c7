//! A merchant's account: where its requests go and what they are signed with.

use std::{fmt, sync::Arc};

use pg_crypto::{IvFormat, KeyDerivation, KeyError, Padding, SessionCipher, ShaKey, TextEncoding};
use pg_model::{
    Dialect, Encoding, Secret,
    dialect::{IvForm, KeyForm, PaddingForm, TextForm},
};
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
    /// How the service is read where the documents leave something open.
    dialect: Arc<Dialect>,
}

/// 48 bits of the API key's hash tell accounts apart, and leave a million million times as many keys as can be tried.
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
    /// An account of the version 3 services whose replies come in XML, as the service does when nothing is asked for. It reads
    /// them by the documents alone until [`with_dialect`](Self::with_dialect) names a dialect.
    #[must_use]
    pub fn new(base: BaseUrl, credentials: Credentials) -> Self {
        let dialect = Arc::new(Dialect::documented());
        Self { base, credentials, enterprise: None, encoding: Encoding::Xml, identity: None, dialect }
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

    /// Reads the service's replies by a dialect: what the documents leave open, such as which status codes are declines.
    ///
    /// The default is [`Dialect::documented`], which assumes nothing: what it cannot tell ends as unknown. No address changes
    /// it, not even that of a sandbox on this machine, whose dialect is `pg_sandbox::dialect()`.
    ///
    /// ```
    /// # use pg_proto::{Account, BaseUrl, Credentials};
    /// use pg_proto::model::dialect::{Dialect, StatusEntry};
    ///
    /// let mut dialect = Dialect::documented();
    /// dialect.declined.push(StatusEntry::new("651", 11));
    /// # let base = BaseUrl::parse("https://gateway.example")?;
    /// let account = Account::new(base, Credentials::new("key", "password", "sha key")).with_dialect(dialect);
    /// assert!(account.dialect().is_declined(&"651".into()));
    /// # Ok::<(), pg_proto::BaseUrlError>(())
    /// ```
    #[must_use]
    pub fn with_dialect(mut self, dialect: impl Into<Arc<Dialect>>) -> Self {
        self.dialect = dialect.into();
        self
    }

    /// The dialect that replies are read by.
    #[must_use]
    pub const fn dialect(&self) -> &Arc<Dialect> {
        &self.dialect
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

    /// The account as saved machines name it, in one text: its identity and the base address of version 3. A key for records
    /// that belong to the account; no secret.
    #[must_use]
    pub fn bound_identity(&self) -> String {
        let identity = self.identity.clone().unwrap_or_else(|| fingerprint(&self.credentials.api_key));
        format!("{identity} at {}", self.base.normalised())
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

    /// The cipher of session data: its key is the API key (spec 2 §4.2). What the documents leave open is the dialect's;
    /// what that leaves open too is detected or as usual.
    ///
    /// # Errors
    /// When the API key does not make a key, which by default means that it has not 32 characters (assumption A30).
    pub fn session_cipher(&self) -> Result<SessionCipher, KeyError> {
        let form = self.dialect.session_data;
        let derivation = match form.key {
            Some(KeyForm::Sha256) => KeyDerivation::Sha256,
            Some(KeyForm::Hex) => KeyDerivation::Hex,
            _ => KeyDerivation::Verbatim,
        };
        let mut cipher = SessionCipher::with_derivation(self.credentials.api_key.expose(), derivation)?;
        if form.padding == Some(PaddingForm::Zero) {
            cipher = cipher.padding(Padding::Zero);
        }
        cipher = match form.iv {
            Some(IvForm::Hex) => cipher.iv_format(IvFormat::Hex),
            Some(IvForm::Text) => cipher.iv_format(IvFormat::Text),
            _ => cipher,
        };
        Ok(match form.text {
            Some(TextForm::Hex) => cipher.decode_only(TextEncoding::Hex).encode_as(TextEncoding::Hex),
            Some(TextForm::Base64Url) => cipher.encode_as(TextEncoding::Base64Url),
            _ => cipher,
        })
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
