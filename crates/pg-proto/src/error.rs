//! Errors of replies, sorted by fault. `Display` is one line: code, message, trace code, what to do.

use std::fmt;

use http::StatusCode;
use pg_model::{
    DecodeError, Dialect, ErrorCode, Remedy, ServiceError,
    dialect::{ErrorEntry, ErrorMeaning, RefusalScope},
    mask,
};

/// Characters of an unreadable body that its error repeats.
const EXCERPT: usize = 160;

/// Why a reply is no result.
///
/// ```
/// use pg_proto::{bytes::Bytes, http};
/// use pg_proto::model::{Initiate, Remedy};
/// use pg_proto::{Account, BaseUrl, Credentials, ReplyError};
///
/// let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"));
/// let body = "<serviceResponse><errorCode>121</errorCode><errorMessage>Locked</errorMessage></serviceResponse>";
/// let response = http::Response::builder().status(403).body(Bytes::from(body))?;
/// let Err(ReplyError::Refused(refused)) = account.reply::<Initiate>(response) else { panic!() };
/// assert_eq!((refused.code().as_str(), refused.remedy()), ("121", Remedy::WaitOneMinute));
///
/// // What is no reply at all may come after the operation.
/// let response = http::Response::builder().status(502).body(Bytes::from("<h1>Bad gateway</h1>"))?;
/// assert!(account.reply::<Initiate>(response).unwrap_err().may_be_executed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The service answered with an error code.
    #[error(transparent)]
    Refused(Refused),
    /// A reply came and can't be read. The operation may have been executed.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
}

/// An error code of the service. `Debug` and `Display` mask whatever looks like a card number, wherever the service put it.
#[derive(Clone, PartialEq, Eq)]
pub struct Refused {
    /// HTTP status of the reply: 400, 401 or 403 in version 3 (spec 1 §7), not shown for version 5.
    pub http_status: StatusCode,
    /// Code, trace code and message.
    pub error: ServiceError,
    /// What the code says, by the documents and the account's dialect.
    reading: ErrorMeaning,
    /// What the dialect has about the code.
    entry: Option<Box<ErrorEntry>>,
}

/// A reply that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreadable {
    /// HTTP status of the reply.
    pub http_status: StatusCode,
    /// Its content type, if it has one.
    pub content_type: String,
    /// What is wrong with the body; `None` when it can be read but its status says failure and it names no error.
    pub why: Option<DecodeError>,
    /// How the body begins, with everything masked that looks like a card number.
    pub excerpt: String,
}

impl ReplyError {
    /// What to do about it.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Refused(refused) => refused.remedy(),
            Self::Unreadable(_) => Remedy::Retry,
        }
    }

    /// Whether the operation may have been executed all the same: look a payment up before anything else.
    #[must_use]
    pub fn may_be_executed(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.may_be_executed(),
            Self::Unreadable(_) => true,
        }
    }
}

impl Refused {
    /// An error code that came with an HTTP status, read by a dialect.
    #[must_use]
    pub fn new(http_status: StatusCode, error: ServiceError, dialect: &Dialect) -> Self {
        let reading = dialect.error_meaning(&error.error_code, http_status.as_u16());
        let entry = dialect.error(&error.error_code).cloned().map(Box::new);
        Self { http_status, error, reading, entry }
    }

    /// The error code.
    #[must_use]
    pub const fn code(&self) -> &ErrorCode {
        &self.error.error_code
    }

    /// What to do about it. For a code that neither the documents nor the dialect know, the HTTP status decides; where that says
    /// nothing either, it is [`Remedy::LookUp`]: the documents name no code for a reference that was used, so any other may
    /// mean that.
    #[must_use]
    pub const fn remedy(&self) -> Remedy {
        self.reading.remedy
    }

    /// Whether the documents list the code, or the account's dialect does. What is said with any other is not trusted: it may
    /// mean that the operation was executed before.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.reading.known
    }

    /// What the code means, in the documents' words or else in the dialect's.
    #[must_use]
    pub fn meaning(&self) -> Option<&str> {
        let own = || self.entry().map(|entry| entry.message.as_str()).filter(|message| !message.is_empty());
        self.code().message().or_else(own)
    }

    /// What the account's dialect has about the code, beyond the documents.
    #[must_use]
    pub fn entry(&self) -> Option<&ErrorEntry> {
        self.entry.as_deref()
    }

    /// Whether the operation may have been executed: by this request, to which the bank did not answer (119) or over which the
    /// service broke down; or by an earlier one, as a code says that is to be looked up: a reference, an authentication or
    /// a reservation that was used. False for an unlisted code: it says nothing.
    #[must_use]
    pub const fn may_be_executed(&self) -> bool {
        self.leaves_it_open() || self.says_it_was_done()
    }

    /// Whether what became of this very request is open.
    pub(crate) const fn leaves_it_open(&self) -> bool {
        self.reading.leaves_it_open
    }

    /// Whether the code says that an earlier request may have done it.
    pub(crate) const fn says_it_was_done(&self) -> bool {
        self.reading.says_it_was_done
    }

    /// Whether the dialect says that the code means that there is no such transaction.
    pub(crate) const fn unknown_transaction(&self) -> bool {
        self.reading.unknown_transaction
    }

    /// What the refusal of a payment says about other copies of the same request.
    #[must_use]
    pub const fn scope(&self) -> RefusalScope {
        self.reading.scope
    }

    /// Whether a payment that was refused so has used its `uniqueMerchantReference` up. The documents let the first request
    /// use it up, whatever becomes of it; a request that was refused before it was examined does not (assumption
    /// A92). Where this is true, a payment that is corrected and sent again needs a new reference.
    #[must_use]
    pub const fn spends_reference(&self) -> bool {
        self.reading.spends_reference
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code();
        let message = match self.error.error_message.as_str() {
            "" => self.meaning().unwrap_or("no message"),
            message => message,
        };
        write!(f, "refused: {} {} (", mask::text(code.as_str()), mask::text(message))?;
        if !self.error.trace_code.is_empty() {
            write!(f, "trace code {}, ", mask::text(self.error.trace_code.as_str()))?;
        }
        write!(f, "HTTP {}): {}", self.http_status.as_u16(), self.remedy())?;
        if self.is_known() {
            return Ok(());
        }
        let code = mask::text(code.as_str());
        write!(
            f,
            "; neither the documents nor the dialect know this code, an [[error]] with code {code:?} would settle it"
        )
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused")
            .field("http_status", &self.http_status)
            .field("error_code", &mask::text(self.code().as_str()))
            .field("trace_code", &mask::text(self.error.trace_code.as_str()))
            .field("error_message", &mask::text(&self.error.error_message))
            .field("extra", &self.error.extra)
            .finish()
    }
}

impl std::error::Error for Refused {}

impl Unreadable {
    pub(crate) fn new(http_status: StatusCode, content_type: &str, why: Option<DecodeError>, body: &[u8]) -> Self {
        let text = mask::text(&String::from_utf8_lossy(&body[..body.len().min(4 * EXCERPT)]));
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let excerpt = text.chars().take(EXCERPT).map(printable).collect();
        Self { http_status, content_type: content_type.to_owned(), why, excerpt }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.content_type.is_empty() { "no content type" } else { &self.content_type };
        write!(
            f,
            "unreadable reply, the operation may have been executed: HTTP {}, {kind}, ",
            self.http_status.as_u16()
        )?;
        match &self.why {
            Some(why) => write!(f, "{why}")?,
            None => f.write_str("the status says failure and the body names no error code")?,
        }
        write!(f, ": {:?}", self.excerpt)
    }
}

impl std::error::Error for Unreadable {}
