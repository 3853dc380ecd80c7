//! Accounts that are created and removed at run time (A335).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    clock::Clock,
    merchants::{EnterpriseCredentials, Merchant, Permissions},
    secret::Secret,
    store::StoredRecord,
    timestamp::Timestamp,
    vault::ACCOUNT_ID,
};

/// An account with its credentials and its clock.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// The beginning of its API keys; it depends on the name and on the key of the store.
    pub id: String,
    /// Its name, which is the merchant of its records.
    pub name: String,
    /// When it was created, on the real clock.
    pub created: Timestamp,
    /// When it is removed, on the real clock; `None` if only a call removes it.
    pub expires: Option<Timestamp>,
    /// Its clock.
    pub clock: Clock,
    credentials: Credentials,
    /// Its permissions, copied from a configured account.
    abilities: Permissions,
}

/// Its credentials.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// `apiKey` of version 3.
    pub api_key: String,
    /// `apiPassword` of version 3.
    pub api_password: String,
    /// The secret of request signatures.
    pub sha_key: String,
    /// `accountUpdaterKey`.
    pub account_updater_key: String,
    /// `api_key` of version 5.
    pub enterprise_api_key: String,
    /// `api_password` of version 5.
    pub enterprise_api_password: String,
}

impl Account {
    /// Length of [`Account::id`].
    pub const ID: usize = ACCOUNT_ID;

    /// Creates an account with the permissions of another account. Its clock shows real time.
    #[must_use]
    pub fn like(model: &Merchant, id: String, name: String, credentials: Credentials, created: Timestamp) -> Self {
        Self { id, name, created, expires: None, clock: Clock::default(), credentials, abilities: model.permissions() }
    }

    /// Returns the id in an API key; `None` if the key cannot be that of such an account.
    #[must_use]
    pub fn id_of_key(api_key: &str) -> Option<&str> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        (api_key.len() == 2 * Self::ID && api_key.bytes().all(plain)).then(|| &api_key[..Self::ID])
    }

    /// Whether this is one of its API keys.
    #[must_use]
    pub fn has_key(&self, api_key: &str) -> bool {
        self.credentials.api_key == api_key || self.credentials.enterprise_api_key == api_key
    }

    /// Returns the same account with another clock.
    #[must_use]
    pub fn with_clock(&self, clock: Clock) -> Self {
        Self { clock, ..self.clone() }
    }

    /// Whether it has expired.
    #[must_use]
    pub fn expired(&self, real_now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= real_now)
    }

    /// Returns the account as the services see it.
    #[must_use]
    pub fn merchant(&self) -> Merchant {
        let (held, may) = (&self.credentials, &self.abilities);
        let secret = |text: &str| Secret::new(text);
        Merchant {
            name: self.name.clone(),
            api_key: secret(&held.api_key),
            api_password: secret(&held.api_password),
            sha_key: secret(&held.sha_key),
            account_updater_key: may.account_updater.then(|| secret(&held.account_updater_key)),
            enterprise: may.enterprise.then(|| {
                EnterpriseCredentials::new(secret(&held.enterprise_api_key), secret(&held.enterprise_api_password))
            }),
            currencies: may.currencies.clone(),
            raw_cards: may.raw_cards,
            account_updater: may.account_updater,
            requests_per_minute: may.requests_per_minute,
            divisible_preauths: may.divisible_preauths,
            unsigned_retrieval: may.unsigned_retrieval,
            duplicates_as_error: may.duplicates_as_error,
            terminals: may.terminals.clone(),
            applets: may.applets.clone(),
            redemption: may.redemption,
        }
    }

    /// Returns the account as the control interface shows it, without credentials.
    #[must_use]
    pub fn view(&self, real_now: Timestamp) -> Value {
        let mut view = self.merchant().view();
        view["created"] = self.created.to_string().into();
        view["expires"] = self.expires.map(|expires| expires.to_string()).into();
        view["clock"] = self.clock.view(real_now);
        view
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An entry in the list of all accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountEntry {
    /// [`Account::id`].
    pub id: String,
    /// [`Account::name`].
    pub name: String,
    /// [`Account::expires`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// Returns the value of an index column for the time at which a task is due. Accounts with their own clock sort after
/// all others, so a query for the sandbox's clock does not find them.
pub(super) fn due_column(merchant: &str, own_clock: bool, due: Timestamp) -> String {
    if own_clock { due_by(merchant, due) } else { due.sortable() }
}

/// Returns the greatest value of such a column for tasks due by this time at an account with its own clock.
#[must_use]
pub fn due_by(merchant: &str, by: Timestamp) -> String {
    format!("~{merchant}~{}", by.sortable())
}

/// A value that is not less than any of such a column.
pub const LAST_DUE: &str = "\u{7f}";

/// Returns a value that is less than those of an account with its own clock, and not less than those of accounts that sort
/// before it.
#[must_use]
pub fn before_due(merchant: &str) -> String {
    format!("~{merchant}~")
}

/// Whether a record, whose one index column is the time at which it is due, belongs to an account with its own clock.
#[must_use]
pub fn is_on_own_clock<T: StoredRecord>(record: &T) -> bool {
    record.index().into_iter().flatten().any(|due| due.starts_with('~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_an_own_clock_are_not_due_on_the_sandboxs_clock() {
        let due = due_column("ci-1", true, Timestamp::MIN);
        assert!(due > Timestamp::MAX.sortable());
        assert!(due <= due_by("ci-1", Timestamp::MIN) && due < due_by("ci-1", Timestamp::MAX));
        assert_eq!(due_column("main", false, Timestamp::MIN), Timestamp::MIN.sortable());
        assert!(due_by("ci-1", Timestamp::MAX).as_str() < LAST_DUE);
        for before in ["ci-0", "ci-12", "ci-1-2"] {
            assert!(before_due("ci-1") < due && due_by(before, Timestamp::MAX) < before_due("ci-1"), "{before}");
        }
    }

    #[test]
    fn only_keys_of_the_right_form_have_an_id() {
        assert_eq!(Account::id_of_key(&"a1".repeat(16)), Some(&*"a1".repeat(8)));
        for other in ["", "a", &"A1".repeat(16), &"a1".repeat(17), &"é".repeat(16)] {
            assert_eq!(Account::id_of_key(other), None, "{other}");
        }
    }
}
