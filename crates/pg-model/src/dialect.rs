//! Decisions that the documents leave open and that a client can observe, as data.
//!
//! The documents fix the protocol; that is code. They leave open, for example, which status codes are declines, which
//! error code a reused reference gets, and what a lookup answers if it finds nothing. Each service decides these
//! questions; its decisions together are its [`Dialect`]. A client uses the dialect of its account, and assumes nothing
//! beyond the documents and the dialect.
//!
//! [`Dialect::documented`] adds nothing to the documents. With it a client is safe with every service: outcomes that
//! it cannot determine are unknown, never declined or refused. The sandbox's dialect is in `pg-sandbox`; that of an operator is a
//! TOML file, read by `Dialect::from_toml` with the feature `dialect-file`.

use alloc::{string::String, vec::Vec};

use crate::{ErrorCode, Remedy, StatusCode};

#[cfg(feature = "dialect-file")]
mod file;
mod reading;
mod words;
mod written;

#[cfg(feature = "dialect-file")]
pub use file::{DialectError, DialectMistake};
pub use reading::ErrorMeaning;

/// The decisions of one service on questions that the documents leave open; see [the module](self).
///
/// ```
/// use pg_model::dialect::{Dialect, StatusEntry};
/// use pg_model::{Outcome, Transaction};
///
/// let reply = || Transaction::default().with(|reply| reply.transaction_status_code = "651".into());
/// let mut dialect = Dialect::documented();
/// // No document says what 651 means.
/// assert!(matches!(Outcome::read(reply(), &dialect), Outcome::Other(_)));
/// dialect.declined.push(StatusEntry::new("651", 11));
/// assert!(matches!(Outcome::read(reply(), &dialect), Outcome::Declined(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Dialect {
    /// A name for messages and logs; empty for [`documented`](Self::documented).
    pub name: String,
    /// Values of `transactionStatusCode` that mean that a payment was declined (assumption A11).
    pub declined: Vec<StatusEntry>,
    /// Values of `transactionStatusCode` that mean that a payment is still being processed (assumption A11). Such a payment is looked
    /// up until the bounds end.
    pub pending: Vec<StatusEntry>,
    /// Status codes of `getAuthenticationStatus` besides the liability shift (assumption A106).
    pub authentication: Vec<AuthenticationEntry>,
    /// Error codes that the documents do not list, and additions to those that they list. An entry counts for both
    /// versions.
    pub errors: Vec<ErrorEntry>,
    /// Whether version 5 uses the error codes of version 3 with the same meaning (assumption A112). If unset, only 1 and 3
    /// are known in version 5, since its document shows no others (spec 3 §7).
    pub shared_codes: bool,
    /// The reply of a lookup that finds nothing, and whether it proves that there is no payment.
    pub lookup: Lookup,
    /// Status values of version 5 checkouts.
    pub checkout: CheckoutStatuses,
    /// Whether a refused payment uses up its `uniqueMerchantReference` (assumption A92). If unset, it does: the
    /// documents reject every request after the first one with a value (spec 2 §4.3).
    pub refused_reference: Option<ReferenceAfterRefusal>,
    /// Encryption and encoding of redirect data (spec 2 §4.2).
    pub session_data: SessionData,
}

/// A value of `transactionStatusCode`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatusEntry {
    /// The code.
    pub code: StatusCode,
    /// The kind of decline for which a sandbox uses it, as the name of a [`Situation`]; `None` for a pending status.
    pub situations: Vec<String>,
    /// The text of the code, if known.
    pub message: String,
    /// The assumption that this entry decides.
    pub assumption: u16,
}

/// A value of `transactionStatusCode` in the reply of `getAuthenticationStatus`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthenticationEntry {
    /// The code.
    pub code: StatusCode,
    /// What the code means for the customer.
    pub means: AuthenticationState,
    /// The text of the code, if known.
    pub message: String,
    /// The assumption that this entry decides.
    pub assumption: u16,
}

/// The progress of a customer's authentication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthenticationState {
    /// The customer was authenticated.
    Authenticated,
    /// The authentication failed.
    Failed,
    /// The customer has not finished.
    Pending,
    /// The customer returned without an answer.
    Abandoned,
    /// The customer did not return.
    TimedOut,
    /// The card does not support 3-D Secure.
    NotEnrolled,
}

/// The meaning of an error code. `None` means unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorEntry {
    /// The code.
    pub code: ErrorCode,
    /// The situations in which it is used, as names of [`Situation`]s; several if the service does not distinguish them.
    pub situations: Vec<String>,
    /// The HTTP status of the code.
    pub http: Option<u16>,
    /// The text of the code, if known.
    pub message: String,
    /// What to do about it. If unset, the remedy that the message of the code implies if the documents list it for the
    /// version of the request, otherwise a lookup, whatever the HTTP status.
    pub remedy: Option<Remedy>,
    /// What it says about other copies of the same request. If unset, nothing.
    pub scope: Option<RefusalScope>,
    /// The assumption that this entry decides.
    pub assumption: u16,
}

/// What a refusal says about other copies of the same request: those that were executed before, and those that may still
/// be, since a network may deliver a request late, or twice (assumption A141).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalScope {
    /// The reason is in the request itself: every copy is refused, at any time.
    Always,
    /// The reason arose later and is permanent: later copies are refused, earlier copies may have been
    /// executed.
    FromNowOn,
    /// The reason is temporary.
    WhileItLasts,
}

/// The reply of a lookup that finds nothing.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Lookup {
    /// The form of the reply (assumption A43).
    pub nothing: Option<EmptyLookup>,
    /// The form of the reply of `token/lookup`; its error code is that of the situation `unknown-card-key`.
    pub no_card: Option<EmptyLookup>,
    /// Whether a lookup finds every payment that was executed before the service received it (assumption A140). If unset,
    /// an empty result proves nothing.
    pub immediate: bool,
    /// Whether a lookup by the `uniqueMerchantReference` of a 3-D Secure initiation also finds the payment of its last step
    /// (assumption A109). If unset, a lookup that finds no such payment proves nothing.
    pub found_by_initiation: bool,
}

/// The reply to a lookup that finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EmptyLookup {
    /// Success, with an empty list.
    EmptyList,
    /// An error code whose entry names the situation `unknown-transaction-key`, or `unknown-card-key` for a card.
    Error,
    /// HTTP 404 with an error code or an empty list. With another body, which may be that of a proxy, it proves nothing.
    NotFound,
}

/// Status values of version 5 checkouts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CheckoutStatuses {
    /// Values of `status` in the reply of `transaction_lookup` that mean that the payment was made, besides the documented
    /// `Success`.
    pub paid: Vec<String>,
    /// Values of `status` that mean that the payment is still being processed: it is looked up again.
    pub pending: Vec<String>,
    /// Values of `status` in the reply of `transaction_lookup` that mean that the payment was declined (assumption A125).
    pub failed: Vec<String>,
    /// Whether `canceltoken` answers 0 for an expired token only if the token can no longer be paid (assumption A126).
    pub refused_cancel_means_ended: bool,
    /// Whether a token that `canceltoken` has cancelled can no longer be paid on a page that was opened before, or in a
    /// challenge that has begun (assumption A126). If unset, a checkout that was cancelled before its expiry does not lapse.
    pub cancel_closes_open_pages: bool,
    /// Whether `transaction/lookup` by `merchantReference` also finds payments on the hosted page, by their
    /// `trans_reference` (assumption A100). If unset, a search that finds none proves nothing.
    pub found_by_reference: bool,
}

/// Whether a refused payment uses up its `uniqueMerchantReference`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReferenceAfterRefusal {
    /// The reference is used up: a corrected payment takes a new one.
    UsedUp,
    /// The reference is not used up: a corrected payment may keep it.
    Free,
}

/// Encryption and encoding of redirect data (spec 2 §4.2). Readers detect unset values, or use the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionData {
    /// How the API key becomes a key of AES-256 (assumption A30).
    pub key: Option<KeyForm>,
    /// How `iv` encodes 16 bytes (assumption A31).
    pub iv: Option<IvForm>,
    /// How the last block is filled (assumption A32).
    pub padding: Option<PaddingForm>,
    /// How the ciphertext becomes text (assumption A33).
    pub text: Option<TextForm>,
}

/// How the API key becomes a key of AES-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyForm {
    /// The 32 bytes of the API key, unchanged.
    Verbatim,
    /// The SHA-256 hash of the API key's bytes.
    Sha256,
    /// The 32 bytes that the 64 hexadecimal digits of the API key encode.
    Hex,
}

/// How `iv` encodes 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IvForm {
    /// 16 characters.
    Text,
    /// 32 hexadecimal digits.
    Hex,
}

/// How the last block is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaddingForm {
    /// PKCS#7.
    Pkcs7,
    /// Bytes of zero.
    Zero,
}

/// How the ciphertext becomes text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextForm {
    /// Base64.
    Base64,
    /// Base64 whose alphabet needs no escaping in URLs.
    Base64Url,
    /// Hexadecimal digits.
    Hex,
}

/// An event or status for which the documents define no code: entries of a dialect refer to it by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Situation {
    /// The name of the situation in dialect files.
    pub name: &'static str,
    /// Whether the situation is an error; otherwise it is a status of a declined payment.
    pub is_error: bool,
    /// The assumption that the situation belongs to.
    pub assumption: u16,
    /// A description of the situation.
    pub doc: &'static str,
}

impl Situation {
    /// Creates an error; `what` describes it.
    pub(crate) const fn error(name: &'static str, assumption: u16, doc: &'static str) -> Self {
        Self { name, is_error: true, assumption, doc }
    }

    /// Creates a status of a declined payment.
    pub(crate) const fn decline(name: &'static str, assumption: u16, doc: &'static str) -> Self {
        Self { name, is_error: false, assumption, doc }
    }

    /// Returns the situation of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        crate::SITUATIONS.iter().find(|one| one.name == name)
    }
}

/// The name of the situation that a reference was used before.
const USED_REFERENCE: &str = "duplicate-unique-reference";
/// The name of the situation that an authentication was used before.
const USED_AUTHENTICATION: &str = "authentication-already-used";
/// The name of the situation that a lookup finds no such transaction.
pub(crate) const UNKNOWN_TRANSACTION: &str = "unknown-transaction-key";
/// The name of the situation that a stored card does not exist.
#[cfg(feature = "dialect-file")]
pub(crate) const UNKNOWN_CARD: &str = "unknown-card-key";

impl Dialect {
    /// Adds nothing to the documents. The default of an account.
    #[must_use]
    pub fn documented() -> Self {
        Self::default()
    }

    /// Returns the dialect's name, or a description if it has none.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        if self.name.is_empty() { "documented" } else { &self.name }
    }

    /// Returns the entry of an error code.
    #[must_use]
    pub fn error(&self, code: &ErrorCode) -> Option<&ErrorEntry> {
        self.errors.iter().find(|entry| entry.code == *code)
    }

    /// Returns the entry for a situation: the code that this service uses for it.
    #[must_use]
    pub fn error_for(&self, situation: &str) -> Option<&ErrorEntry> {
        self.errors.iter().find(|entry| entry.situations.iter().any(|name| name == situation))
    }

    /// Returns the entry for a kind of decline: the code that this service uses for it, or else its first one.
    #[must_use]
    pub fn decline_for(&self, situation: &str) -> Option<&StatusEntry> {
        let exact = self.declined.iter().find(|entry| entry.situations.iter().any(|name| name == situation));
        exact.or_else(|| self.declined.first())
    }

    /// Whether a status code means that a payment was declined.
    #[must_use]
    pub fn is_declined(&self, code: &StatusCode) -> bool {
        self.declined.iter().any(|entry| entry.code == *code)
    }

    /// Whether a status code means that a payment is still being processed.
    #[must_use]
    pub fn is_pending(&self, code: &StatusCode) -> bool {
        self.pending.iter().any(|entry| entry.code == *code)
    }

    /// Returns what a status code of `getAuthenticationStatus` means for the customer.
    #[must_use]
    pub fn authentication_state(&self, code: &StatusCode) -> Option<AuthenticationState> {
        self.authentication.iter().find(|entry| entry.code == *code).map(|entry| entry.means)
    }

    /// Whether the service is known to refuse a used `uniqueMerchantReference` with an error. Otherwise the decline of a payment
    /// may be the reply to a second copy of the request, whose first copy was approved (assumption A141).
    #[must_use]
    pub fn refuses_used_references(&self) -> bool {
        self.error_for(USED_REFERENCE).is_some()
    }

    /// Whether the service is known to refuse the second payment of a 3-D Secure authentication with an error. Otherwise its
    /// decline may be the reply to a second copy of the request.
    #[must_use]
    pub fn refuses_used_authentications(&self) -> bool {
        self.error_for(USED_AUTHENTICATION).is_some()
    }

    /// Whether an empty lookup in that form proves that there is no payment: the service is known to reply in this form, and
    /// to find every payment at once.
    #[must_use]
    pub fn proves_nothing_there(&self, form: EmptyLookup) -> bool {
        self.lookup.immediate && self.lookup.nothing == Some(form)
    }
}

impl StatusEntry {
    /// Creates an entry from a code and the assumption that it decides.
    pub fn new(code: impl Into<StatusCode>, assumption: u16) -> Self {
        Self { code: code.into(), situations: Vec::new(), message: String::new(), assumption }
    }
}

impl AuthenticationEntry {
    /// Creates an entry from a code, its meaning, and the assumption that it decides.
    pub fn new(code: impl Into<StatusCode>, means: AuthenticationState, assumption: u16) -> Self {
        Self { code: code.into(), means, message: String::new(), assumption }
    }
}

impl ErrorEntry {
    /// Creates an entry from a code and the assumption that it decides.
    pub fn new(code: impl Into<ErrorCode>, assumption: u16) -> Self {
        Self {
            code: code.into(),
            situations: Vec::new(),
            http: None,
            message: String::new(),
            remedy: None,
            scope: None,
            assumption,
        }
    }
}
