//! Errors in replies, by cause. `Display` is one line: code, message, trace code, and what to do.

use std::{borrow::Cow, fmt};

use http::StatusCode;
use pg_model::{
    DecodeError, Dialect, ErrorCode, Remedy, ServiceError,
    dialect::{ErrorEntry, ErrorMeaning, RefusalScope},
    mask,
    method::{RetrySafety, ServiceInfo},
};

/// Refusals for a reason that the execution of a copy does not change (spec 2 §7, 3 §7), with their documented meaning.
const UNCHANGED: [ErrorCode; 2] = [ErrorCode::PERMISSION_DENIED, ErrorCode::CURRENCY_NOT_SUPPORTED];

/// Number of characters of an unreadable body that the error shows.
const EXCERPT: usize = 160;
/// Number of digits of the longest card numbers (spec 2 §8).
const LONGEST_CARD_NUMBER: usize = 19;

/// Why a reply has no result.
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
/// // The operation may have been executed before a response that is not a reply of the service.
/// let response = http::Response::builder().status(502).body(Bytes::from("<h1>Bad gateway</h1>"))?;
/// assert!(account.reply::<Initiate>(response).unwrap_err().may_be_executed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The service answered with an error code.
    #[error(transparent)]
    Refused(Refused),
    /// A reply arrived but cannot be read. The operation may have been executed.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
}

/// An error code of the service. `Debug` and `Display` mask all text that looks like a card number. A refusal that an
/// [`Account`](crate::Account) has read repeats neither the credentials of the account nor other secrets of the request under
/// their names. The alternate form `{:#}` leaves out what to do, for messages that already say it.
#[derive(Clone, PartialEq, Eq)]
pub struct Refused {
    /// HTTP status of the reply: 400, 401 or 403 in version 3 (spec 1 §7), not shown for version 5.
    pub http_status: StatusCode,
    /// Code, trace code and message.
    pub error: ServiceError,
    /// The API version of the service.
    version: u8,
    /// What the code means in this version, according to the documents and the account's dialect.
    reading: ErrorMeaning,
    /// The dialect's entry for the code.
    entry: Option<Box<ErrorEntry>>,
}

/// A reply that cannot be read.
///
/// Its text says that the operation may have been executed. The alternate form `{:#}` does not say so, for operations
/// that only read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unreadable {
    /// HTTP status of the reply.
    pub http_status: StatusCode,
    /// Its content type, if present.
    pub content_type: String,
    /// The compression of the body, such as `gzip`, although the request did not ask for one; empty if the body is not
    /// compressed.
    pub content_encoding: String,
    /// What is wrong with the body. `None` if the body is readable, but the status means failure and the body names no
    /// error.
    pub why: Option<DecodeError>,
    /// The start of the body, unless it is compressed. Text that looks like a card number is masked, and so are secrets of the
    /// request that it repeats.
    pub excerpt: String,
}

impl ReplyError {
    /// Returns what to do about the error.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Refused(refused) => refused.remedy(),
            Self::Unreadable(_) => Remedy::Retry,
        }
    }

    /// Whether the operation may have been executed anyway. If so, look the payment up before doing anything else.
    #[must_use]
    pub fn may_be_executed(&self) -> bool {
        match self {
            Self::Refused(refused) => refused.may_be_executed(),
            Self::Unreadable(_) => true,
        }
    }
}

impl Refused {
    /// Creates an error code of a service with its HTTP status, read by a dialect.
    #[must_use]
    pub fn new(service: &ServiceInfo, http_status: StatusCode, error: ServiceError, dialect: &Dialect) -> Self {
        let reading = dialect.error_meaning(service.version, &error.error_code, http_status.as_u16());
        let entry = dialect.error(&error.error_code).cloned().map(Box::new);
        Self { http_status, error, version: service.version, reading, entry }
    }

    /// Returns the error code.
    #[must_use]
    pub const fn code(&self) -> &ErrorCode {
        &self.error.error_code
    }

    /// Returns what to do about the refusal. For a code that neither the documents nor the dialect list, the HTTP
    /// status decides. If the status says nothing either, the remedy is [`Remedy::LookUp`]: the documents list no code
    /// for a used reference, so an unlisted code may mean one.
    #[must_use]
    pub const fn remedy(&self) -> Remedy {
        self.reading.remedy
    }

    /// Whether the documents or the account's dialect list the code for the version of the request. An unlisted code is not
    /// trusted, since it may mean that the operation was executed before.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.reading.known
    }

    /// Returns what the code means, according to the document of the service or else the dialect.
    #[must_use]
    pub fn meaning(&self) -> Option<&str> {
        let own = || self.entry().map(|entry| entry.message.as_str()).filter(|message| !message.is_empty());
        self.code().message().filter(|_| self.reading.documented).or_else(own)
    }

    /// Returns the assumption that the dialect decides with the code, unless the document of the service lists it.
    #[must_use]
    pub const fn assumption(&self) -> Option<u16> {
        self.reading.assumption
    }

    /// Returns the entry of the code in the account's dialect.
    #[must_use]
    pub fn entry(&self) -> Option<&ErrorEntry> {
        self.entry.as_deref()
    }

    /// Whether the operation may have been executed: by this request, if the bank did not answer (119) or the service
    /// failed; or by an earlier request, if the code says that a reference, an authentication or a reservation was
    /// used. False for an unlisted code, which says nothing.
    #[must_use]
    pub const fn may_be_executed(&self) -> bool {
        self.leaves_it_open() || self.says_it_was_done()
    }

    /// Whether the result of this request is unknown.
    pub(crate) const fn leaves_it_open(&self) -> bool {
        self.reading.leaves_it_open
    }

    /// Whether the code says that an earlier request may have been executed.
    pub(crate) const fn says_it_was_done(&self) -> bool {
        self.reading.says_it_was_done
    }

    /// Whether the code has its documented meaning.
    pub(crate) const fn is_documented(&self) -> bool {
        self.reading.documented
    }

    /// Whether the documents or the dialect say what to do about the code. Otherwise only the status says something.
    pub(crate) fn is_told(&self) -> bool {
        self.reading.documented || self.entry().is_some_and(|entry| entry.remedy.is_some())
    }

    /// Returns the remedy that the code has in version 3, if it came from version 5 and nothing says what it means there. It
    /// may decide only how long to wait, and what counts as a failed login.
    pub(crate) fn hint(&self) -> Option<Remedy> {
        self.code().remedy().filter(|_| self.version == 5 && !self.is_told())
    }

    /// Whether the dialect says that the code means an unknown transaction.
    pub(crate) const fn unknown_transaction(&self) -> bool {
        self.reading.unknown_transaction
    }

    /// Returns what the refusal of a payment says about copies of the same request.
    #[must_use]
    pub const fn scope(&self) -> RefusalScope {
        self.reading.scope
    }

    /// Whether no copy of the request can have been executed. The network may deliver a request twice: the service executes
    /// one copy and refuses the other, and only the refusal comes back. A refusal excludes that if its reason holds for every
    /// copy: it is in the request itself, or in what an executed copy does not change.
    ///
    /// An invalid amount (107) is such a reason for a payment. It is not such a reason for a refund, whose first copy
    /// leaves less for the second one (spec 2 §3.2). A card that has expired (109) almost certainly did not expire
    /// between two copies. A code that the dialect lists for an unknown transaction is such a reason only with the scope
    /// [`RefusalScope::Always`]: the service may also give it when an earlier copy has used up the amount or the session.
    #[must_use]
    pub fn refuses_every_copy(&self, method: RetrySafety) -> bool {
        let code = self.code();
        let is = |codes: &[ErrorCode]| self.reading.documented && codes.contains(code);
        let of_a_payment = is(&[ErrorCode::INVALID_TRANSACTION_VALUE, ErrorCode::INVALID_CARD_EXPIRY]);
        let is_payment = method == RetrySafety::LookupFirst;
        let holds = (is_payment && of_a_payment)
            || *code != ErrorCode::INVALID_TRANSACTION_VALUE
                && (self.scope() == RefusalScope::Always || self.remedy() == Remedy::FixCredentials || is(&UNCHANGED));
        holds && self.is_known() && !self.may_be_executed()
    }

    /// Whether a payment with this refusal has used up its `uniqueMerchantReference`. According to the documents, the
    /// first request uses the reference up, whatever its result. A request that was refused before the service examined
    /// it does not (assumption A92). If this function returns true, a corrected payment needs a new reference.
    #[must_use]
    pub const fn spends_reference(&self) -> bool {
        self.reading.spends_reference
    }
}

/// Returns a text from the service for one line: masked, with line breaks and other invisible characters escaped.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in mask::masked(text).chars() {
        if mask::is_invisible(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// Returns a reference or key for one line, unchanged, since a lookup with a masked one finds nothing. If it contains a
/// likely card number, or so many digits that they may hide one, it is masked, with a note that says so.
pub(crate) fn identifier(text: &str) -> Cow<'_, str> {
    let is_long = |digits: &[u8]| digits.len() > LONGEST_CARD_NUMBER;
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if plain && !text.as_bytes().split(|byte| !byte.is_ascii_digit()).any(is_long) && !mask::has_card_number(text) {
        return Cow::Borrowed(text);
    }
    let mut line = one_line(text);
    if mask::masked(text) != text {
        line.push_str(" (masked: it looks like a card number)");
    }
    Cow::Owned(line)
}

/// Returns the first five of these texts in one line, and the number of the others.
#[doc(hidden)]
pub fn first_five(texts: impl ExactSizeIterator<Item: fmt::Display>) -> String {
    let more = texts.len().saturating_sub(5);
    let first = texts.take(5).map(|text| text.to_string()).collect::<Vec<_>>().join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}

impl Refused {
    /// Returns which credentials are wrong, if the documents' code says it.
    fn wrong_credentials(&self) -> Option<&'static str> {
        let is = |code: ErrorCode| self.reading.documented && *self.code() == code;
        if is(ErrorCode::SIGNATURE_NOT_VERIFIED) {
            Some("the SHA key")
        } else if is(ErrorCode::INVALID_API_CREDENTIALS) {
            Some("the API key and password")
        } else {
            None
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code();
        let message = match self.error.error_message.as_str() {
            "" => self.meaning().unwrap_or("no message"),
            message => message,
        };
        write!(f, "refused: {} {} (", one_line(code.as_str()), one_line(message))?;
        if !self.error.trace_code.is_empty() {
            write!(f, "trace code {}, ", one_line(self.error.trace_code.as_str()))?;
        }
        write!(f, "HTTP {})", self.http_status.as_u16())?;
        if !f.alternate() {
            match self.wrong_credentials() {
                Some(which) => write!(f, ": check {which}")?,
                None => write!(f, ": {}", self.remedy())?,
            }
        }
        if self.is_known() {
            return Ok(());
        }
        let version = if self.version == 5 { " of version 5" } else { "" };
        let code = one_line(code.as_str());
        write!(
            f,
            "; the code is neither in the documents{version} nor in the dialect, add an [[error]] entry with code {code:?} to \
             the dialect"
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
            // Only the names: a value may repeat anything of the request.
            .field("extra", &self.error.extra.iter().map(|(name, _)| mask::text(name)).collect::<Vec<_>>())
            .finish()
    }
}

impl std::error::Error for Refused {}

impl Unreadable {
    /// Creates the error. `hidden` returns a text without what it repeats of the request.
    pub(crate) fn new(
        http_status: StatusCode,
        [content_type, encoding]: [&str; 2],
        why: Option<DecodeError>,
        body: &[u8],
        hidden: impl Fn(&str) -> String,
    ) -> Self {
        let masked = |text: &str| mask::text(&hidden(text));
        let body = if encoding.is_empty() { body } else { b"" };
        let text = masked(&String::from_utf8_lossy(&body[..body.len().min(4 * EXCERPT)]));
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let excerpt = text.chars().take(EXCERPT).map(printable).collect();
        let (content_type, content_encoding) = (masked(content_type), masked(encoding));
        Self { http_status, content_type, content_encoding, why, excerpt }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.content_type.is_empty() { "no content type" } else { &self.content_type };
        write!(
            f,
            "unreadable reply{}: HTTP {}, {kind}, ",
            if f.alternate() { "" } else { ", the operation may have been executed" },
            self.http_status.as_u16()
        )?;
        if !self.content_encoding.is_empty() {
            let encoding = one_line(&self.content_encoding);
            return write!(f, "its body is encoded as {encoding:?}, which the request did not ask for");
        }
        match &self.why {
            Some(why) => write!(f, "{why}")?,
            None => f.write_str("the status says failure and the body names no error code")?,
        }
        write!(f, ": {:?}", self.excerpt)
    }
}

impl std::error::Error for Unreadable {}

#[cfg(test)]
mod tests {
    use pg_model::{ApiRequest as _, Refund};

    use super::*;

    // spec: 2 §7, A141
    #[test]
    fn the_code_of_an_unknown_transaction_refuses_every_copy_only_with_the_scope_always() {
        let refused = |scope| {
            let mut entry = ErrorEntry::new("943", 57);
            entry.situations.push("unknown-transaction-key".into());
            (entry.remedy, entry.scope) = (Some(Remedy::FixRequest), scope);
            let mut dialect = Dialect::documented();
            dialect.errors.push(entry);
            let error = ServiceError::default().with(|error| error.error_code = "943".into());
            Refused::new(Refund::INFO.service, StatusCode::BAD_REQUEST, error, &dialect)
        };
        for method in [RetrySafety::LookupFirst, RetrySafety::Never] {
            for scope in [None, Some(RefusalScope::WhileItLasts), Some(RefusalScope::FromNowOn)] {
                assert!(!refused(scope).refuses_every_copy(method), "{method:?} {scope:?}");
            }
            assert!(refused(Some(RefusalScope::Always)).refuses_every_copy(method), "{method:?}");
        }
    }
}
