//! The saved state of a machine: one line of JSON with the name of the machine, the version of the format, and the
//! account.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    books::{AccountBindings, Services},
    resume_error::ResumeError,
};
use crate::Account;

/// The state of a machine as one line of JSON: `{"machine":"charge","version":1,"books":{…},"state":{…}}`. It contains
/// no card data, key or password, so it can be stored with the order. It does contain references and card keys.
///
/// `books` names the account for which it was saved: base address and identity. A machine resumes with that account
/// only. With another account it would not find its payment, and would pay again. Passwords and SHA keys may change in
/// the meantime; for the API key see [`Account::identity`]. (The state of a throttle has no `books`.)
///
/// A later version of this crate reads the states of earlier versions. States without `books` are refused until
/// [`rebind`](Self::rebind) states the account.
#[derive(Clone, PartialEq, Eq)]
pub struct SavedState(String);

#[derive(Serialize)]
struct Written<'a, S> {
    machine: &'a str,
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    books: Option<AccountBindings>,
    state: &'a S,
}

#[derive(Deserialize)]
struct Head {
    machine: String,
    version: u32,
    #[serde(default)]
    books: Option<AccountBindings>,
}

#[derive(Deserialize)]
struct Body<S> {
    state: S,
}

/// The method in the state of a retry, or of a charge.
#[derive(Deserialize)]
struct Stated {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    intent: Option<ChargedRequest>,
}

#[derive(Deserialize)]
struct ChargedRequest {
    method: String,
}

impl SavedState {
    /// Creates a state from a saved text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text to save.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the machine for which it was saved: [`charge::NAME`](super::charge::NAME),
    /// [`retry::NAME`](super::retry::NAME), [`checkout::NAME`](super::checkout::NAME),
    /// [`three_d_secure::NAME`](super::three_d_secure::NAME), [`account_update::NAME`](super::account_update::NAME),
    /// [`throttle::NAME`](super::throttle::NAME) or [`throttle::ACCOUNT_NAME`](super::throttle::ACCOUNT_NAME).
    ///
    /// ```
    /// use pg_proto::machine::{ResumeError, SavedState, charge, checkout};
    ///
    /// // Which machine, and for a charge which method, to resume after a restart.
    /// fn kind(saved: &SavedState) -> Result<String, ResumeError> {
    ///     Ok(match saved.machine()?.as_str() {
    ///         charge::NAME => format!("a charge with {}", saved.method()?.unwrap_or_default()),
    ///         checkout::NAME => "a checkout".to_owned(),
    ///         other => format!("not one of this program: {other}"),
    ///     })
    /// }
    /// # use pg_proto::{Account, BaseUrl, Credentials, machine::{Machine, charge::{Charge, ChargeBounds}}};
    /// # use pg_proto::model::{AuthCardKey, Currency, Item, Order};
    /// # let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"));
    /// # let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    /// # let charge = Charge::new(account, AuthCardKey::new("a-card-key", order), ChargeBounds::default())?;
    /// # assert_eq!(kind(&charge.save())?, "a charge with authCardKey");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ResumeError::Unreadable`] if it is not the state of a machine.
    pub fn machine(&self) -> Result<String, ResumeError> {
        Ok(self.head()?.machine)
    }

    /// Returns the method of the request for which a charge or a retry was saved. It says with which type it is resumed: for a
    /// charge the name of [`ApiRequest::INFO`](pg_model::ApiRequest::INFO), such as `authCardKey`, for a retry the service before
    /// it too, such as `transaction/refund`. `None` for other machines.
    ///
    /// # Errors
    ///
    /// [`ResumeError::Unreadable`] if it is not the state of a machine.
    pub fn method(&self) -> Result<Option<String>, ResumeError> {
        self.head()?;
        let Stated { method, intent } = self.body()?;
        Ok(method.or(intent.map(|intent| intent.method)))
    }

    /// Returns the same state, bound to `account`.
    ///
    /// You assert that the machine belongs to this account, which this crate cannot check. Use it for states that were
    /// saved without their account, and for a service that has moved to another address. If the assertion is wrong, a
    /// payment may be made twice.
    ///
    /// # Errors
    ///
    /// [`ResumeError::Unreadable`] if it is not the state of a machine.
    pub fn rebind(&self, account: &Account) -> Result<Self, ResumeError> {
        self.head()?;
        let mut saved: serde_json::Value = serde_json::from_str(&self.0).map_err(|error| unreadable(&error))?;
        if let Some(members) = saved.as_object_mut() {
            let books = serde_json::to_value(AccountBindings::of(account)).map_err(|error| unreadable(&error))?;
            members.insert("books".to_owned(), books);
        }
        Ok(Self(saved.to_string()))
    }

    /// Creates a state that belongs to no account.
    pub(super) fn of<S: Serialize>(machine: &'static str, version: u32, state: &S) -> Self {
        Self::written(&Written { machine, version, books: None, state })
    }

    /// Creates a state that belongs to this account.
    pub(super) fn bound<S: Serialize>(machine: &'static str, version: u32, account: &Account, state: &S) -> Self {
        Self::written(&Written { machine, version, books: Some(AccountBindings::of(account)), state })
    }

    fn written<S: Serialize>(written: &Written<'_, S>) -> Self {
        Self(serde_json::to_string(written).expect("states have string keys and no failing parts"))
    }

    /// Returns the state, if it belongs to that machine and its version is at most `known`.
    pub(super) fn open<S: DeserializeOwned>(&self, expected: &'static str, known: u32) -> Result<S, ResumeError> {
        self.head_of(expected, known)?;
        self.body()
    }

    fn body<S: DeserializeOwned>(&self) -> Result<S, ResumeError> {
        serde_json::from_str::<Body<S>>(&self.0).map(|body| body.state).map_err(|error| unreadable(&error))
    }

    /// Returns the state, if it also belongs to `account` as far as `services` require.
    pub(super) fn open_for<S: DeserializeOwned>(
        &self,
        expected: &'static str,
        known: u32,
        account: &Account,
        services: Services,
    ) -> Result<S, ResumeError> {
        self.head_of(expected, known)?.books.unwrap_or_default().check(account, services)?;
        self.open(expected, known)
    }

    fn head_of(&self, expected: &'static str, known: u32) -> Result<Head, ResumeError> {
        let head = self.head()?;
        if head.machine != expected {
            return Err(ResumeError::OtherMachine { found: head.machine, expected });
        }
        if head.version > known {
            return Err(ResumeError::Newer { found: head.version, known });
        }
        Ok(head)
    }

    fn head(&self) -> Result<Head, ResumeError> {
        serde_json::from_str(&self.0).map_err(|error| unreadable(&error))
    }
}

impl fmt::Display for SavedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SavedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the place and the kind of the mistake without the text.
fn unreadable(error: &serde_json::Error) -> ResumeError {
    ResumeError::Unreadable(format!("{:?} error in line {}, column {}", error.classify(), error.line(), error.column()))
}

#[cfg(test)]
pub(super) mod examples;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_state_round_trips() {
        let saved = SavedState::of("charge", 1, &vec!["order-7".to_owned()]);
        assert_eq!(saved.text(), r#"{"machine":"charge","version":1,"state":["order-7"]}"#);
        let stored = SavedState::from_text(saved.text());
        assert_eq!(stored.machine(), Ok("charge".to_owned()));
        assert_eq!(stored.open::<Vec<String>>("charge", 1), Ok(vec!["order-7".to_owned()]));
        assert_eq!(stored.open::<Vec<String>>("charge", 7), Ok(vec!["order-7".to_owned()]));
    }

    #[test]
    fn a_state_of_another_machine_or_version_is_refused_with_a_message() {
        let saved = SavedState::of("charge", 2, &1);
        assert_eq!(
            saved.open::<u8>("account update", 2).unwrap_err().to_string(),
            "the saved state belongs to a machine for charge, not for account update"
        );
        assert_eq!(
            saved.open::<u8>("charge", 1).unwrap_err().to_string(),
            "the saved state has version 2, this program reads versions up to 1"
        );
        assert_eq!(
            saved.open::<String>("charge", 2).unwrap_err().to_string(),
            "not the saved state of a machine: Data error in line 1, column 41. Keep it: it may be the only record of a payment"
        );
        assert_eq!(
            SavedState::from_text("").machine().unwrap_err().to_string(),
            "not the saved state of a machine: Eof error in line 1, column 0. Keep it: it may be the only record of a payment"
        );
    }
}
