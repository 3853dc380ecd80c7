//! The account of a merchant: addresses and credentials of its requests.

use std::{fmt, sync::Arc};

use pg_crypto::{IvFormat, KeyDerivation, KeyError, Padding, SessionCipher, ShaKey, TextEncoding};
use pg_model::{
    Dialect, Encoding, Secret,
    dialect::{IvForm, KeyForm, PaddingForm, TextForm},
};
use sha2::{Digest, Sha512};

use crate::BaseUrl;

/// Credentials for version 3 requests (spec 1 §5). Live and staging environments use different credentials.
///
/// API key and password are sent with each request. The SHA key is never sent: it only signs. `Debug` shows none of
/// them. They are wiped from memory when they are dropped. So are the bodies of requests that contain them, when the
/// last handle to a body is dropped.
#[derive(Clone)]
pub struct Credentials {
    pub(crate) api_key: Secret,
    pub(crate) api_password: Secret,
    pub(crate) sha_key: ShaKey,
}

/// Credentials for version 5 requests: two texts of 32 characters (spec 3 §4).
#[derive(Clone)]
pub struct EnterpriseCredentials {
    pub(crate) api_key: Secret,
    pub(crate) api_password: Secret,
}

/// A merchant's account in one environment. Builds HTTP requests from typed requests and typed replies from HTTP
/// responses. It never opens a connection.
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
    /// The name that the merchant gave the account.
    identity: Option<String>,
    /// The behaviour of the service where the documents leave something open.
    dialect: Arc<Dialect>,
}

/// 48 bits of the API key's hash: enough to distinguish accounts, and too few to find the key (10¹² times as many keys
/// match).
const FINGERPRINT_BYTES: usize = 6;

/// Between the identity and the base address in [`Account::bound_identity`].
const AT: &str = " at ";

impl Credentials {
    /// Creates credentials from an API key, an API password and the key that signs.
    pub fn new(api_key: impl Into<Secret>, api_password: impl Into<Secret>, sha_key: impl Into<String>) -> Self {
        Self { api_key: api_key.into(), api_password: api_password.into(), sha_key: ShaKey::new(sha_key) }
    }
}

impl EnterpriseCredentials {
    /// Creates credentials from the API key and API password of the version 5 service.
    pub fn new(api_key: impl Into<Secret>, api_password: impl Into<Secret>) -> Self {
        Self { api_key: api_key.into(), api_password: api_password.into() }
    }
}

impl Account {
    /// Creates an account of the version 3 services with XML replies, the service's default. Replies are read according
    /// to the documents alone until [`with_dialect`](Self::with_dialect) sets a dialect.
    #[must_use]
    pub fn new(base: BaseUrl, credentials: Credentials) -> Self {
        let dialect = Arc::new(Dialect::documented());
        Self { base, credentials, enterprise: None, encoding: Encoding::Xml, identity: None, dialect }
    }

    /// Sets the encoding of replies. Version 5 has only XML.
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

    /// Sets the dialect for the service's replies: what the documents leave open, such as which status codes are
    /// declines.
    ///
    /// The default is [`Dialect::documented`], which assumes nothing: an outcome that the documents do not define is
    /// unknown. The address does not change the dialect, not even the address of a local sandbox, whose dialect is
    /// `pg_sandbox::dialect()`.
    ///
    /// ```
    /// use pg_proto::{Account, BaseUrl, Credentials, model::dialect::{Dialect, StatusEntry}};
    ///
    /// let mut dialect = Dialect::documented();
    /// dialect.declined.push(StatusEntry::new("651", 11));
    /// let base = BaseUrl::parse("https://gateway.example")?;
    /// let account = Account::new(base, Credentials::new("key", "password", "sha key")).with_dialect(dialect);
    /// assert!(account.dialect().is_declined(&"651".into()));
    /// # Ok::<(), pg_proto::BaseUrlError>(())
    /// ```
    #[must_use]
    pub fn with_dialect(mut self, dialect: impl Into<Arc<Dialect>>) -> Self {
        self.dialect = dialect.into();
        self
    }

    /// Returns the dialect for the service's replies.
    #[must_use]
    pub const fn dialect(&self) -> &Arc<Dialect> {
        &self.dialect
    }

    /// Names the account, so that saved machines and the rows of a fleet recognise it after its API key was replaced. Set the name
    /// before the first payment, and never change it.
    ///
    /// A saved machine belongs to one account, and resumes with that account only. With another account it would look
    /// up its payments in the wrong place and could pay again. An account without a name is identified by its API key,
    /// of which a fingerprint is saved: `key-` and 12 hexadecimal digits of a hash. Passwords and SHA keys can be
    /// replaced at any time.
    ///
    /// An account with this name resumes machines that were saved for the name or for its present API key, so a name can be set later, but
    /// before the key is replaced. If the key was replaced without a name, the error contains the fingerprint that the machine was saved
    /// for: set that fingerprint as the name to resume it.
    ///
    /// A fleet (`pg-intents`) stores payments under the name and the base URL, and needs a name. It does not start if its store has
    /// payments under other names, until `FleetPlan::stored_as` or `FleetPlan::apart_from` says whose they are.
    ///
    /// The name is not secret: saved machines and errors contain it. Two accounts must not have the same name.
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

    /// Returns the name that was set with [`identity`](Self::identity).
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.identity.as_deref()
    }

    /// Returns the account as saved machines name it: its identity and the base address of version 3. Use it as a key
    /// for records that belong to the account. It is not secret.
    #[must_use]
    pub fn bound_identity(&self) -> String {
        self.name_or_fingerprint() + AT + &self.base.normalised()
    }

    /// Returns the part of [`bound_identity`](Self::bound_identity) before the base address: the name, or the fingerprint of the API key
    /// if the account has no name.
    #[must_use]
    pub fn name_or_fingerprint(&self) -> String {
        self.identity.clone().unwrap_or_else(|| fingerprint(&self.credentials.api_key))
    }

    /// Whether a text has the form of [`bound_identity`](Self::bound_identity), and so is not a name alone.
    ///
    /// ```
    /// use pg_proto::Account;
    ///
    /// assert!(Account::is_bound_identity("shop-uk at https://gateway.example"));
    /// assert!(!Account::is_bound_identity("shop at home"));
    /// ```
    #[must_use]
    pub fn is_bound_identity(text: &str) -> bool {
        let base = text.rsplit_once(AT).map(|(_, base)| base);
        base.is_some_and(|base| ["https://", "http://"].iter().any(|scheme| base.starts_with(scheme)))
    }

    /// Returns the normalised base address of one service, and the account's identities there; the first one is saved.
    /// `None` if the account has no credentials for the service.
    pub(crate) fn identities(&self, enterprise: bool) -> Option<(String, Vec<String>)> {
        let (base, api_key) = match &self.enterprise {
            Some((base, own)) if enterprise => (base, &own.api_key),
            None if enterprise => return None,
            _ => (&self.base, &self.credentials.api_key),
        };
        let named = self.identity.iter().cloned();
        Some((base.normalised(), named.chain([fingerprint(api_key)]).collect()))
    }

    /// Returns the addresses to which requests are sent.
    pub fn base_urls(&self) -> impl Iterator<Item = &BaseUrl> {
        std::iter::once(&self.base).chain(self.enterprise.iter().map(|(base, _)| base))
    }

    /// Returns the cipher for session data; its key is the API key (spec 2 §4.2). The dialect sets what the documents
    /// leave open. A part that the dialect does not set is detected or has its default.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the API key does not fit the key derivation. By default it must have 32 characters (assumption
    /// A30).
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
