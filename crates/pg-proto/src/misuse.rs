//! Errors of requests that were not built: nothing was sent.

use pg_model::Violations;

/// Why a request was not built. Nothing was sent.
///
/// ```
/// use pg_proto::model::{AuthSessionKey, Currency, Item, Order};
/// use pg_proto::{Account, BaseUrl, Credentials};
///
/// let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"));
/// let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
/// let misuse = account.request(&AuthSessionKey::new("", order)).unwrap_err();
/// let wrong = misuse.violations().map(|all| all.iter().map(|one| one.name.as_str()).collect::<Vec<_>>());
/// assert_eq!(wrong, Some(vec!["sessionKey"]));
/// # Ok::<(), pg_proto::BaseUrlError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// The request breaks rules of its method. All broken rules are listed.
    #[error("invalid request, nothing was sent: {0}")]
    Invalid(#[source] Violations),
    /// The method belongs to version 5, and the account has no version 5 credentials.
    #[error(
        "invalid request, nothing was sent: the account has no version 5 address and credentials (Account::enterprise)"
    )]
    NoEnterpriseCredentials,
    /// The name of a raw method is not valid in a path.
    #[error(
        "invalid request, nothing was sent: {0:?} is not a valid method name; allowed are ASCII letters, digits, - and _"
    )]
    MethodName(String),
    /// A typed request with further parameters has one twice. The documents do not say which value the service reads (assumption A48).
    #[error("invalid request, nothing was sent: the parameter {0} is given twice")]
    Twice(String),
    /// A payment that should be charged once has no reference for a lookup.
    #[error("invalid request, nothing was sent: charging once requires a uniqueMerchantReference")]
    NoUniqueReference,
    /// The method is none of the payments that a charge looks up and sends again under their reference, but a refund, capture
    /// or cancellation, for example. [`Retry`](crate::machine::retry::Retry) sends it at most once.
    #[error(
        "invalid request, nothing was sent: {0} cannot be charged once: it is none of the payments that a charge looks up; \
         the machine Retry sends it at most once"
    )]
    NotLookedUpFirst(&'static str),
}

impl Misuse {
    /// Returns the broken rules, if the request breaks any.
    #[must_use]
    pub const fn violations(&self) -> Option<&Violations> {
        match self {
            Self::Invalid(violations) => Some(violations),
            _ => None,
        }
    }
}
