//! Why a machine cannot resume.

/// Why a machine cannot resume from a saved state. Nothing was sent.
///
/// Keep the state: it may be the only record of a payment in progress.
///
/// ```
/// use pg_proto::{Account, BaseUrl, Credentials};
/// use pg_proto::machine::{ResumeError, SavedState, charge::Charge};
/// use pg_proto::model::Auth;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha"));
/// let half = SavedState::from_text(r#"{"machine":"charge","ver"#);
/// let error = Charge::<Auth>::resume(&half, account, None).unwrap_err();
/// assert!(matches!(error, ResumeError::Unreadable(_)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The text is damaged, or is not the state of a machine.
    #[error("not the saved state of a machine: {0}. Keep it: it may be the only record of a payment")]
    Unreadable(String),
    /// It is the state of another machine.
    #[error("the saved state belongs to a machine for {found}, not for {expected}")]
    OtherMachine {
        /// The machine for which the state was saved.
        found: String,
        /// The machine that should resume.
        expected: &'static str,
    },
    /// It was written by a later version of this crate.
    #[error("the saved state has version {found}, this program reads versions up to {known}")]
    Newer {
        /// The version of its format.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// The state was saved for another account, or for another address of the service.
    #[error(
        "the machine was saved for {saved} and cannot be resumed for {given}: its payment would be looked up in the wrong account and could be made twice. Resume the machine with the account for which it was saved. If this is that account after its API key was replaced, set the saved identity (Account::identity); if the service has moved, call SavedState::rebind"
    )]
    OtherAccount {
        /// Identity and base address for which it was saved.
        saved: String,
        /// Identity and base address of the account that was given.
        given: String,
    },
    /// It was saved by an earlier version, which did not save the account.
    #[error(
        "an earlier version saved this machine without its account; if it belongs to {given}, call SavedState::rebind"
    )]
    Unbound {
        /// Identity and base address of the account that was given.
        given: String,
    },
    /// The request or option that was passed belongs to another state.
    #[error("the saved state belongs to another {0}. Keep it: it may be the only record of that payment")]
    Mismatch(&'static str),
}
