//! The settings of an account, and their names in each source.

use super::dialect;

/// One detail of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Address of the version 3 services.
    BaseUrl,
    /// Address of the version 5 service.
    EnterpriseBaseUrl,
    /// `apiKey`, which is also the key of session data (spec 2 §4.2).
    ApiKey,
    /// `apiPassword`.
    ApiPassword,
    /// The key that signs requests (spec 1 §5).
    ShaKey,
    /// `api_key` of version 5 (spec 3 §4).
    EnterpriseApiKey,
    /// `api_password` of version 5 (spec 3 §4).
    EnterpriseApiPassword,
    /// `accountUpdaterKey` (spec 1 §4.8).
    AccountUpdaterKey,
    /// The dialect for replies: a name, or a file.
    Dialect,
}

impl Setting {
    /// All settings, in the order in which they are stored.
    pub(crate) const ALL: [Self; 9] = [
        Self::BaseUrl,
        Self::EnterpriseBaseUrl,
        Self::ApiKey,
        Self::ApiPassword,
        Self::ShaKey,
        Self::EnterpriseApiKey,
        Self::EnterpriseApiPassword,
        Self::AccountUpdaterKey,
        Self::Dialect,
    ];

    /// Returns its names as an environment variable, in a profile, and as a flag.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::BaseUrl => ["PG_BASE_URL", "baseUrl", "--base-url"],
            Self::EnterpriseBaseUrl => ["PG_ENTERPRISE_BASE_URL", "enterpriseBaseUrl", "--enterprise-base-url"],
            Self::ApiKey => ["PG_API_KEY", "apiKey", "--api-key"],
            Self::ApiPassword => ["PG_API_PASSWORD", "apiPassword", "--api-password"],
            Self::ShaKey => ["PG_SHA_KEY", "shaKey", "--sha-key"],
            Self::EnterpriseApiKey => ["PG_ENTERPRISE_API_KEY", "enterpriseApiKey", "--enterprise-api-key"],
            Self::EnterpriseApiPassword => {
                ["PG_ENTERPRISE_API_PASSWORD", "enterpriseApiPassword", "--enterprise-api-password"]
            }
            Self::AccountUpdaterKey => ["PG_ACCOUNT_UPDATER_KEY", "accountUpdaterKey", "--account-updater-key"],
            Self::Dialect => ["PG_DIALECT", "dialect", "--dialect"],
        }
    }

    /// Returns the environment variable.
    pub(crate) const fn variable(self) -> &'static str {
        self.names()[0]
    }

    /// Returns the name of the setting in a profile and in the list of a sandbox's merchants.
    pub(crate) const fn member(self) -> &'static str {
        self.names()[1]
    }

    /// Returns the flag.
    pub(crate) const fn flag(self) -> &'static str {
        self.names()[2]
    }

    /// Whether its value is secret.
    pub(crate) const fn is_secret(self) -> bool {
        !matches!(self, Self::BaseUrl | Self::EnterpriseBaseUrl | Self::Dialect)
    }

    /// Returns a placeholder for requests that are not sent; it cannot be mistaken for a real value.
    pub(crate) const fn placeholder(self) -> &'static str {
        match self {
            // The domain `invalid` exists nowhere (RFC 2606).
            Self::BaseUrl => "https://gateway.invalid",
            Self::EnterpriseBaseUrl => "https://enterprise.invalid",
            Self::Dialect => dialect::DOCUMENTED,
            _ => "(placeholder)",
        }
    }
}
