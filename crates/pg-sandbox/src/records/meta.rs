//! The sandbox's own state.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    clock::Clock,
    records::{Account, AccountEntry, CallbackBehaviour, CallbackDestination, Fault},
    store::{Kind, StoreError, StoredRecord},
    timestamp::Timestamp,
    vault::Sealed,
};

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    key: String,
    /// The account created at run time to which the value belongs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    merchant: String,
    /// The value.
    pub value: Value,
}

impl Meta {
    /// The name of the clock's state.
    pub const CLOCK: &'static str = "clock";
    /// The name of the text that only the correct key file can open.
    pub const KEY_CHECK: &'static str = "key-check";
    /// The name of the list of callbacks that misbehave.
    pub const CALLBACK_BEHAVIOUR: &'static str = "callback-behaviour";
    /// The name of the list of registered callback destinations.
    pub const CALLBACK_DESTINATIONS: &'static str = "callback-destinations";

    /// The name of the list of accounts created at run time.
    pub const ACCOUNTS: &'static str = "accounts";

    /// The name of the list of names that are reserved for configured accounts.
    pub const RESERVED: &'static str = "reserved-names";

    /// Reads the value as its original type.
    ///
    /// # Errors
    /// [`StoreError::Body`] if the value has another type; the error does not show the value.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        T::deserialize(&self.value).map_err(|_| {
            let name = self.key.split(':').next().unwrap_or_default();
            StoreError::Body { table: Self::KIND.table, problem: format!("the value of {name} is invalid") }
        })
    }

    fn new(key: impl Into<String>, value: &impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("names and numbers are JSON");
        Self { key: key.into(), merchant: String::new(), value }
    }

    /// Creates the value for an account created at run time.
    #[must_use]
    pub fn of(self, account: &Account) -> Self {
        Self { merchant: account.name.clone(), ..self }
    }

    /// Returns the name of a value of one account created at run time.
    #[must_use]
    pub fn key_of(name: &str, account: &Account) -> String {
        format!("{name}:{}", account.id)
    }

    /// Returns the clock's state.
    #[must_use]
    pub fn clock(clock: Clock) -> Self {
        Self::new(Self::CLOCK, &clock)
    }

    /// Creates a list of callbacks that misbehave, the next one first.
    #[must_use]
    pub fn callback_behaviour(name: &str, list: &[CallbackBehaviour]) -> Self {
        Self::new(name, &list)
    }

    /// Creates a list of registered callback destinations.
    #[must_use]
    pub fn callback_destinations(name: &str, list: &[CallbackDestination]) -> Self {
        Self::new(name, &list)
    }

    /// Returns the accounts created at run time.
    #[must_use]
    pub fn accounts(list: &[AccountEntry]) -> Self {
        Self::new(Self::ACCOUNTS, &list)
    }

    /// Returns the names that are reserved for configured accounts.
    #[must_use]
    pub fn reserved(names: &[String]) -> Self {
        Self::new(Self::RESERVED, &names)
    }

    /// Returns the name of the account with this id.
    #[must_use]
    pub fn account_key(id: &str) -> String {
        format!("account:{id}")
    }

    /// Creates an account created at run time.
    #[must_use]
    pub fn account(account: &Account) -> Self {
        Self::new(Self::account_key(&account.id), account).of(account)
    }

    /// Returns the name of the faults of the account with this id.
    #[must_use]
    pub fn account_faults_key(id: &str) -> String {
        format!("account-faults:{id}")
    }

    /// Returns the faults of an account created at run time, the oldest first.
    #[must_use]
    pub fn account_faults(account: &Account, faults: &[Fault]) -> Self {
        Self::new(Self::account_faults_key(&account.id), &faults).of(account)
    }

    /// Returns the name of the times of an account's requests in the last minute.
    #[must_use]
    pub fn throttle_key(merchant: &str) -> String {
        format!("throttle:{merchant}")
    }

    /// Returns the times of an account's requests in the last minute, for processes that share a store.
    #[must_use]
    pub fn throttle(merchant: &str, times: &[Timestamp]) -> Self {
        Self::new(Self::throttle_key(merchant), &times)
    }

    /// Returns the name of the note that a session was given a CV2.
    #[must_use]
    pub fn cv2_key(session_key: &str) -> String {
        format!("cv2:{session_key}")
    }

    /// Notes that a session was given a CV2, for processes that share a store. The CV2 itself is not stored.
    #[must_use]
    pub fn cv2(session_key: &str) -> Self {
        Self::new(Self::cv2_key(session_key), &true)
    }

    /// Creates the text that only the correct key file can open.
    #[must_use]
    pub fn key_check(sealed: &Sealed) -> Self {
        Self::new(Self::KEY_CHECK, sealed)
    }
}

impl StoredRecord for Meta {
    const KIND: &'static Kind = &Kind { table: "meta", columns: &[] };

    key_and_merchant!();
}
