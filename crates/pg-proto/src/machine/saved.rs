//! What is stored of a machine: one line of JSON that says which machine it is and in which version it was written.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A machine's state as one line of JSON: `{"machine":"charge","version":1,"state":{…}}`. It holds no card data, no key
/// and no password, so it may stand beside the order; references and card keys it does hold.
///
/// A later version of this crate reads what an earlier one wrote.
#[derive(Clone, PartialEq, Eq)]
pub struct Saved(String);

/// Why a machine cannot go on from what was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// It is no machine's state, or damaged.
    #[error("this is no stored state of a machine: {0}")]
    Unreadable(String),
    /// It is the state of another machine.
    #[error("this is the stored state of a machine for {found}, not for {expected}")]
    OtherMachine {
        /// What it is for.
        found: String,
        /// What was to be resumed.
        expected: &'static str,
    },
    /// It was written by a later version of this crate.
    #[error("the state was stored in version {found}, this program reads versions up to {known}")]
    Newer {
        /// Its version.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// What was given along with it belongs to something else.
    #[error("the state belongs to another {0} than what was given with it")]
    Mismatch(&'static str),
}

#[derive(Serialize)]
struct Written<'a, S> {
    machine: &'a str,
    version: u32,
    state: &'a S,
}

#[derive(Deserialize)]
struct Head {
    machine: String,
    version: u32,
}

#[derive(Deserialize)]
struct Body<S> {
    state: S,
}

impl Saved {
    /// Takes a text that was stored.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text to store.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// For which machine it was stored: `charge`, for example.
    ///
    /// # Errors
    /// When it is no machine's state.
    pub fn machine(&self) -> Result<String, ResumeError> {
        Ok(self.head()?.machine)
    }

    pub(super) fn of<S: Serialize>(machine: &'static str, version: u32, state: &S) -> Self {
        let written = Written { machine, version, state };
        Self(serde_json::to_string(&written).expect("states have string keys and no failing parts"))
    }

    /// The state, when it is that machine's and not of a later version than `known`.
    pub(super) fn open<S: DeserializeOwned>(&self, expected: &'static str, known: u32) -> Result<S, ResumeError> {
        let Head { machine, version } = self.head()?;
        if machine != expected {
            return Err(ResumeError::OtherMachine { found: machine, expected });
        }
        if version > known {
            return Err(ResumeError::Newer { found: version, known });
        }
        serde_json::from_str::<Body<S>>(&self.0).map(|body| body.state).map_err(|error| unreadable(&error))
    }

    fn head(&self) -> Result<Head, ResumeError> {
        serde_json::from_str(&self.0).map_err(|error| unreadable(&error))
    }
}

impl fmt::Display for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Saved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where and what kind of mistake it is; nothing of the text.
fn unreadable(error: &serde_json::Error) -> ResumeError {
    ResumeError::Unreadable(format!("{:?} error in line {}, column {}", error.classify(), error.line(), error.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comes_back_as_it_went() {
        let saved = Saved::of("charge", 1, &vec!["order-7".to_owned()]);
        assert_eq!(saved.text(), r#"{"machine":"charge","version":1,"state":["order-7"]}"#);
        let stored = Saved::from_text(saved.text());
        assert_eq!(stored.machine(), Ok("charge".to_owned()));
        assert_eq!(stored.open::<Vec<String>>("charge", 1), Ok(vec!["order-7".to_owned()]));
        assert_eq!(stored.open::<Vec<String>>("charge", 7), Ok(vec!["order-7".to_owned()]));
    }

    #[test]
    fn what_does_not_fit_is_refused_in_words() {
        let saved = Saved::of("charge", 2, &1);
        assert_eq!(
            saved.open::<u8>("account update", 2).unwrap_err().to_string(),
            "this is the stored state of a machine for charge, not for account update"
        );
        assert_eq!(
            saved.open::<u8>("charge", 1).unwrap_err().to_string(),
            "the state was stored in version 2, this program reads versions up to 1"
        );
        assert_eq!(
            saved.open::<String>("charge", 2).unwrap_err().to_string(),
            "this is no stored state of a machine: Data error in line 1, column 41"
        );
        assert_eq!(
            Saved::from_text("").machine().unwrap_err().to_string(),
            "this is no stored state of a machine: Eof error in line 1, column 0"
        );
    }
}
