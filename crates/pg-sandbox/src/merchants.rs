//! The merchant accounts of a sandbox: three built-in ones, and those of a config file.

use std::collections::HashMap;

use pg_crypto::ShaKey;
use serde_json::{Value, json};

use crate::{config_file_error::ConfigFileError, secret::Secret};

/// A merchant account: credentials and permissions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Merchant {
    /// The account's name, unique in its sandbox: 1 to 32 lower-case letters, digits and hyphens.
    pub name: String,
    /// `apiKey` of version 3, and the AES key of redirect data: 32 letters and digits (spec 2 §4.2).
    pub api_key: Secret,
    /// `apiPassword` of version 3.
    pub api_password: Secret,
    /// The secret of request signatures (spec 1 §5).
    pub sha_key: Secret,
    /// `accountUpdaterKey` (spec 1 §4.8), if the account has one.
    pub account_updater_key: Option<Secret>,
    /// `api_key` and `api_password` of version 5, 32 characters each (spec 3 §4), if it is enabled.
    pub enterprise: Option<EnterpriseCredentials>,
    /// The currencies the account may use, ISO 4217; the first is the default of version 5.
    pub currencies: Vec<String>,
    /// Whether raw card numbers are accepted (spec 2 §1.2); otherwise error 106.
    pub raw_cards: bool,
    /// Whether the account updater is enabled (spec 1 §1); otherwise error 106.
    pub account_updater: bool,
    /// The maximum number of requests per minute (spec 1 §8), if there is a limit.
    pub requests_per_minute: Option<u32>,
    /// Whether a preauth can be captured and cancelled in parts, any number of times; by default its first capture ends
    /// the preauth, as does a cancellation through version 5 (A96).
    pub divisible_preauths: bool,
    /// Whether the results of account updater batches may be fetched without a signature; otherwise error 123
    /// (A28).
    pub unsigned_retrieval: bool,
    /// Whether an account updater request with duplicated cards gives error 945; otherwise `result=ERROR` (A70).
    pub duplicates_as_error: bool,
    /// The terminals that `terminalKey` can select; empty if the account has only one.
    pub terminals: Vec<String>,
    /// The applets that `applet` of version 5 can select; the first is the default (spec 3 §4.1).
    pub applets: Vec<String>,
    /// The moment at which a token with a `redemption_redirect_url` is redeemed (spec 3 §6; A120).
    pub redemption: Redemption,
}

/// The moment at which a customer is sent to `redemption_redirect_url` (A120).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Redemption {
    /// On each visit to the token's URL, in place of the payment page.
    #[default]
    Visit,
    /// After an approved payment, by the button of the sandbox's page.
    Approval,
}

/// The credentials of the version 5 service.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EnterpriseCredentials {
    /// `api_key`.
    pub api_key: Secret,
    /// `api_password`.
    pub api_password: Secret,
}

impl EnterpriseCredentials {
    /// Returns both, 32 characters each.
    #[must_use]
    pub const fn new(api_key: Secret, api_password: Secret) -> Self {
        Self { api_key, api_password }
    }
}

/// What an account may do: shown by the control interface, and copied to accounts that are created at run time.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Permissions {
    pub(crate) currencies: Vec<String>,
    pub(crate) raw_cards: bool,
    pub(crate) account_updater: bool,
    pub(crate) enterprise: bool,
    pub(crate) requests_per_minute: Option<u32>,
    pub(crate) divisible_preauths: bool,
    pub(crate) unsigned_retrieval: bool,
    pub(crate) duplicates_as_error: bool,
    pub(crate) terminals: Vec<String>,
    pub(crate) applets: Vec<String>,
    pub(crate) redemption: Redemption,
}

/// The applet of an account without applets.
pub(crate) const DEFAULT_APPLET: &str = "default";

impl Merchant {
    /// Returns the account as `GET /_sandbox/merchants` shows it. The credentials of built-in accounts are public, and
    /// included; those of configured accounts are private, and are not.
    #[must_use]
    pub fn view(&self) -> Value {
        let mut view = json!(self.permissions());
        view["name"] = self.name.as_str().into();
        if self.is_published() { self.with_credentials(view) } else { view }
    }

    /// Returns what the account may do.
    pub(crate) fn permissions(&self) -> Permissions {
        Permissions {
            currencies: self.currencies.clone(),
            raw_cards: self.raw_cards,
            account_updater: self.account_updater,
            enterprise: self.enterprise.is_some(),
            requests_per_minute: self.requests_per_minute,
            divisible_preauths: self.divisible_preauths,
            unsigned_retrieval: self.unsigned_retrieval,
            duplicates_as_error: self.duplicates_as_error,
            terminals: self.terminals.clone(),
            applets: self.applets.clone(),
            redemption: self.redemption,
        }
    }

    /// Returns a view with all credentials: for public credentials, and for the creator of an account.
    pub(crate) fn with_credentials(&self, mut view: Value) -> Value {
        for (name, secret) in self.credentials() {
            view[name] = secret.map(Secret::expose).into();
        }
        view
    }

    /// Whether all its credentials are those of a built-in account.
    fn is_published(&self) -> bool {
        built_in().iter().any(|other| {
            let same = |(one, other): (Option<&Secret>, Option<&Secret>)| match (one, other) {
                (Some(one), Some(other)) => one.matches(other.expose()),
                (one, _) => one.is_none(),
            };
            self.credentials().map(|held| held.1).into_iter().zip(other.credentials().map(|held| held.1)).all(same)
        })
    }

    fn credentials(&self) -> [(&'static str, Option<&Secret>); 6] {
        let enterprise = self.enterprise.as_ref();
        [
            ("apiKey", Some(&self.api_key)),
            ("apiPassword", Some(&self.api_password)),
            ("shaKey", Some(&self.sha_key)),
            ("accountUpdaterKey", self.account_updater_key.as_ref()),
            ("enterpriseApiKey", enterprise.map(|held| &held.api_key)),
            ("enterpriseApiPassword", enterprise.map(|held| &held.api_password)),
        ]
    }
}

/// All accounts of a sandbox, with lookup by name and by key.
#[derive(Debug, Clone)]
pub struct Merchants {
    all: Vec<Merchant>,
    /// The `shaKey` of each account, prepared for signatures.
    signing_keys: Vec<ShaKey>,
    by_api_key: HashMap<String, usize>,
    by_enterprise_key: HashMap<String, usize>,
}

impl Default for Merchants {
    /// Returns the accounts `main`, `strict` and `other`.
    fn default() -> Self {
        Self::indexed(built_in())
    }
}

impl Merchants {
    /// Returns the built-in accounts and those of a config file; a configured account replaces the built-in account
    /// with the same name.
    ///
    /// # Errors
    /// [`ConfigFileError::Invalid`] if two accounts share a key.
    pub fn with(more: Vec<Merchant>) -> Result<Self, ConfigFileError> {
        let mut all = built_in();
        for merchant in more {
            match all.iter_mut().find(|held| held.name == merchant.name) {
                Some(held) => *held = merchant,
                None => all.push(merchant),
            }
        }
        let merchants = Self::indexed(all);
        merchants.refuse_shared_keys()?;
        Ok(merchants)
    }

    fn indexed(all: Vec<Merchant>) -> Self {
        let keys = |key: fn(&Merchant) -> Option<&Secret>| {
            let found = all.iter().enumerate().filter_map(|(at, held)| Some((key(held)?, at)));
            found.map(|(key, at)| (key.expose().to_owned(), at)).collect::<HashMap<_, _>>()
        };
        let by_api_key = keys(|held| Some(&held.api_key));
        let by_enterprise_key = keys(|held| held.enterprise.as_ref().map(|held| &held.api_key));
        let signing_keys = all.iter().map(|held| ShaKey::new(held.sha_key.expose())).collect();
        Self { all, signing_keys, by_api_key, by_enterprise_key }
    }

    fn refuse_shared_keys(&self) -> Result<(), ConfigFileError> {
        self.refuse_shared("apiKey", &self.by_api_key, |held| Some(&held.api_key))?;
        self.refuse_shared("enterpriseApiKey", &self.by_enterprise_key, |held| {
            held.enterprise.as_ref().map(|held| &held.api_key)
        })
    }

    /// Refuses an account whose key leads to another account: the index has the last account of each key.
    fn refuse_shared(
        &self,
        member: &str,
        index: &HashMap<String, usize>,
        key: fn(&Merchant) -> Option<&Secret>,
    ) -> Result<(), ConfigFileError> {
        for (at, held) in self.all.iter().enumerate() {
            let other = key(held).and_then(|key| index.get(key.expose())).filter(|other| **other != at);
            if let Some(other) = other {
                let problem =
                    format!("the accounts {:?} and {:?} share their {member}", held.name, self.all[*other].name);
                return Err(ConfigFileError::Invalid { place: "merchant list".to_owned(), problem });
            }
        }
        Ok(())
    }

    /// Returns the accounts in order.
    #[must_use]
    pub fn all(&self) -> &[Merchant] {
        &self.all
    }

    /// Returns the names of the accounts that not every sandbox has.
    pub(crate) fn added(&self) -> impl Iterator<Item = &str> {
        self.all.iter().skip(built_in().len()).map(|held| &*held.name)
    }

    /// Returns the account with this name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&Merchant> {
        self.all.iter().find(|held| held.name == name)
    }

    /// Returns the account with this version 3 `apiKey`.
    #[must_use]
    pub fn by_api_key(&self, key: &str) -> Option<&Merchant> {
        self.by_api_key.get(key).and_then(|&at| self.all.get(at))
    }

    /// Returns the signing key of the account with this version 3 `apiKey`.
    pub(crate) fn signing_key(&self, api_key: &str) -> Option<&ShaKey> {
        self.by_api_key.get(api_key).and_then(|&at| self.signing_keys.get(at))
    }

    /// Returns the account with this version 5 `api_key`.
    #[must_use]
    pub fn by_enterprise_key(&self, key: &str) -> Option<&Merchant> {
        self.by_enterprise_key.get(key).and_then(|&at| self.all.get(at))
    }

    /// Returns all accounts as `GET /_sandbox/merchants` shows them.
    #[must_use]
    pub fn view(&self) -> Value {
        self.all.iter().map(Merchant::view).collect()
    }
}

/// The test credentials are fixed and public: they are valid only for sandboxes.
fn built_in() -> Vec<Merchant> {
    let everything = &["GBP", "EUR", "USD", "JPY", "BHD"];
    vec![
        Merchant {
            terminals: vec!["main-web".to_owned(), "main-phone".to_owned()],
            applets: vec![DEFAULT_APPLET.to_owned(), "main-small".to_owned()],
            ..test_account("main", "Main", everything)
        },
        Merchant {
            raw_cards: false,
            account_updater: false,
            requests_per_minute: Some(100),
            ..test_account("strict", "Strict", &["GBP"])
        },
        test_account("other", "Other", everything),
    ]
}

/// Returns an account with everything enabled; its credentials are its name and a purpose, padded to 32.
fn test_account(name: &str, title: &str, currencies: &[&str]) -> Merchant {
    let credential = |purpose: &str| Secret::new(format!("{:0<32}", format!("{title}{purpose}")));
    Merchant {
        name: name.to_owned(),
        api_key: credential("SandboxApiKey"),
        api_password: credential("SandboxApiPassword"),
        sha_key: credential("SandboxShaKey"),
        account_updater_key: Some(credential("SandboxUpdaterKey")),
        enterprise: Some(EnterpriseCredentials {
            api_key: credential("SandboxV5ApiKey"),
            api_password: credential("SandboxV5ApiPassword"),
        }),
        currencies: currencies.iter().map(ToString::to_string).collect(),
        raw_cards: true,
        account_updater: true,
        requests_per_minute: None,
        divisible_preauths: false,
        unsigned_retrieval: false,
        duplicates_as_error: false,
        terminals: Vec::new(),
        applets: vec![DEFAULT_APPLET.to_owned()],
        redemption: Redemption::Visit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_accounts_have_keys_of_32_letters_and_digits() {
        let merchants = Merchants::default();
        assert!(merchants.refuse_shared_keys().is_ok());
        for merchant in merchants.all() {
            let enterprise = merchant.enterprise.as_ref().unwrap();
            for secret in [
                &merchant.api_key,
                &merchant.api_password,
                &merchant.sha_key,
                &enterprise.api_key,
                &enterprise.api_password,
            ] {
                let text = secret.expose();
                assert!(text.len() == 32 && text.bytes().all(|b| b.is_ascii_alphanumeric()), "{text}");
            }
        }
    }

    #[test]
    fn accounts_are_found_by_their_keys() {
        let merchants = Merchants::default();
        let main = merchants.by_name("main").unwrap();
        assert_eq!(merchants.by_api_key(main.api_key.expose()).unwrap().name, "main");
        let v5 = main.enterprise.as_ref().unwrap().api_key.expose();
        assert_eq!(merchants.by_enterprise_key(v5).unwrap().name, "main");
        assert!(merchants.by_api_key(v5).is_none());
        assert!(merchants.by_api_key("").is_none());
    }

    #[test]
    fn the_view_has_the_published_members() {
        let view = Merchants::default().view();
        let names: Vec<_> = view.as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["main", "strict", "other"]);
        for one in view.as_array().unwrap() {
            for member in
                ["apiKey", "apiPassword", "shaKey", "accountUpdaterKey", "enterpriseApiKey", "enterpriseApiPassword"]
            {
                assert!(one[member].is_string(), "{member}");
            }
        }
        assert_eq!(view[0]["currencies"], json!(["GBP", "EUR", "USD", "JPY", "BHD"]));
        assert_eq!(view[1]["rawCards"], false);
        assert_eq!(view[1]["requestsPerMinute"], 100);
    }

    #[test]
    fn debug_shows_no_credential() {
        let merchant = test_account("main", "Main", &["GBP"]);
        let shown = format!("{merchant:?}");
        assert!(!shown.contains("MainSandbox"), "{shown}");
    }

    #[test]
    fn a_replacement_takes_the_place_and_a_shared_key_is_refused() {
        let replaced = Merchant { raw_cards: false, ..test_account("main", "Fresh", &["EUR"]) };
        let merchants = Merchants::with(vec![replaced]).unwrap();
        assert_eq!(merchants.all().len(), 3);
        assert!(!merchants.by_name("main").unwrap().raw_cards);
        let error = Merchants::with(vec![test_account("copy", "Main", &["GBP"])]).unwrap_err();
        assert_eq!(error.to_string(), r#"merchant list: the accounts "main" and "copy" share their apiKey"#);
    }
}
