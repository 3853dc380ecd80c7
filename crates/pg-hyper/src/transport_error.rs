//! Why no reply arrived: the request was certainly not sent, or may have been sent.

use std::{convert::Infallible, error::Error, fmt, net::IpAddr, time::Duration};
#[cfg(feature = "tls")]
use std::{io, time::UNIX_EPOCH};

use http::{Uri, uri::Scheme};
use pg_model::mask;
use pg_proto::{Account, is_private};
#[cfg(feature = "tls")]
use rustls::pki_types::UnixTime;

type Source = Box<dyn Error + Send + Sync>;

/// Why no reply arrived. The variant decides what a caller may do next.
///
/// A [transport](crate::Transport) of your own chooses the variant: if in doubt, [`maybe_sent`](Self::maybe_sent).
///
/// ```
/// use pg_hyper::TransportError;
///
/// let refused = TransportError::not_sent("connection refused");
/// let broken = TransportError::maybe_sent("the connection broke after the request");
/// assert!(!refused.may_be_executed() && broken.may_be_executed());
/// ```
#[derive(Debug)]
pub enum TransportError {
    /// No part of the request's body reached the service, so it was not executed: it may be sent again.
    NotSent(TransportErrorKind),
    /// The request, or a part of it, was sent. Whether it was executed is unknown.
    MaybeSent(TransportErrorKind),
}

/// The cause of a transport error.
#[derive(Debug)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The address is neither https nor on this machine. `localhost` is checked again by the address that it has.
    Insecure(InsecureAddress),
    /// No connection: the name is unknown, no server listens there, or TLS could not be agreed on.
    Connect {
        /// The host, with the port if there is one.
        authority: String,
        /// The error of the connector.
        source: Source,
    },
    /// The deadline passed, which covers connecting, sending and receiving.
    Deadline(Duration),
    /// The reply is longer than the limit, in bytes.
    ReplyTooLarge(usize),
    /// The connection broke, or the peer does not speak HTTP.
    Connection(Source),
    /// An error of another transport.
    Other(Source),
}

/// An address to which card data must not be sent: it is neither https nor on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is neither https nor on this machine: card data must not be sent to it")]
pub struct InsecureAddress(String);

impl InsecureAddress {
    /// Checks every address of an account.
    pub(crate) fn check_account(account: &Account) -> Result<(), Self> {
        account.base_urls().find(|base| !base.is_private()).map_or(Ok(()), |base| Err(Self(base.to_string())))
    }

    /// Checks the destination of a request that was not sent yet.
    pub(crate) fn check(uri: &Uri) -> Result<(), TransportError> {
        if is_private(uri) {
            return Ok(());
        }
        Err(TransportError::NotSent(TransportErrorKind::Insecure(Self(shown(uri)))))
    }

    /// Checks the address to which a connection for a request was made: `localhost` may have the address of another
    /// machine.
    pub(crate) fn check_peer(uri: &Uri, peer: IpAddr) -> Result<(), Self> {
        if uri.scheme() == Some(&Scheme::HTTPS) || peer.to_canonical().is_loopback() {
            return Ok(());
        }
        Err(Self(format!("{}, which has the address {peer} here,", shown(uri))))
    }
}

/// Returns scheme and host. The path, and credentials before the host, are not shown.
fn shown(uri: &Uri) -> String {
    format!("{}://{}", uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default())
}

impl TransportError {
    /// Creates an error of a transport that knows that nothing was sent.
    pub fn not_sent(source: impl Into<Source>) -> Self {
        Self::NotSent(TransportErrorKind::Other(source.into()))
    }

    /// Creates an error after which the request may have been sent.
    pub fn maybe_sent(source: impl Into<Source>) -> Self {
        Self::MaybeSent(TransportErrorKind::Other(source.into()))
    }

    /// Returns the cause.
    #[must_use]
    pub const fn kind(&self) -> &TransportErrorKind {
        match self {
            Self::NotSent(fault) | Self::MaybeSent(fault) => fault,
        }
    }

    /// Whether the request may have been executed.
    #[must_use]
    pub const fn may_be_executed(&self) -> bool {
        matches!(self, Self::MaybeSent(_))
    }
}

impl From<Infallible> for TransportError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<Source> for TransportError {
    /// An error is a [`MaybeSent`](Self::MaybeSent) by default, unless it is a boxed `TransportError`.
    fn from(source: Source) -> Self {
        source.downcast().map_or_else(Self::maybe_sent, |own| *own)
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(fault) => write!(f, "not sent: {fault}: {}", fault.advice()),
            Self::MaybeSent(fault) => write!(f, "maybe sent: {fault}"),
        }
    }
}

impl Error for TransportError {
    /// Returns the source of the [`TransportErrorKind`]; its own text is part of this error's text.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.kind() {
            TransportErrorKind::Insecure(source) => Some(source),
            TransportErrorKind::Connect { source, .. }
            | TransportErrorKind::Connection(source)
            | TransportErrorKind::Other(source) => Some(&**source),
            TransportErrorKind::Deadline(_) | TransportErrorKind::ReplyTooLarge(_) => None,
        }
    }
}

impl TransportErrorKind {
    /// Whether the client refuses the certificate of the service.
    #[must_use]
    pub fn is_invalid_certificate(&self) -> bool {
        matches!(self, Self::Connect { source, .. } if certificate_problem(&**source).is_some())
    }

    /// Whether the client refuses the certificate of the service because no authority that it trusts has signed it.
    #[must_use]
    pub fn is_unknown_issuer(&self) -> bool {
        matches!(self, Self::Connect { source, .. } if is_unknown_issuer(&**source))
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Insecure(_) => "use an https address",
            Self::Connect { source, .. } if is_no_tls(&**source) => {
                "nothing reached the service, use its port for https (http:// is for services on this machine only)"
            }
            Self::Connect { source, .. } if certificate_problem(&**source).is_some() => {
                "nothing reached the service, check its address and its certificate"
            }
            _ => "nothing reached the service, check its address and the network, then send it again",
        }
    }
}

impl fmt::Display for TransportErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Insecure(address) => address.fmt(f),
            Self::Connect { authority, source } if is_no_tls(&**source) => {
                write!(f, "no connection to {authority} (the server there does not speak TLS)")
            }
            Self::Connect { authority, source } => {
                let why = certificate_problem(&**source).unwrap_or_else(|| root(&**source));
                write!(f, "no connection to {authority} ({why})")
            }
            Self::Deadline(deadline) => write!(f, "the deadline of {deadline:?} passed"),
            Self::ReplyTooLarge(limit) => write!(f, "the reply has more than {limit} bytes"),
            Self::Connection(source) => write!(f, "the connection broke ({})", root(&**source)),
            Self::Other(source) => f.write_str(&root(&**source)),
        }
    }
}

/// Returns the text of the innermost error, which is the specific one. It comes from other code, so text that looks
/// like a card number is masked.
fn root(outer: &(dyn Error + 'static)) -> String {
    let mut inner = outer;
    while let Some(deeper) = inner.source() {
        inner = deeper;
    }
    mask::text(&inner.to_string())
}

/// Whether the peer answered the TLS handshake with another protocol, such as HTTP.
#[cfg(feature = "tls")]
fn is_no_tls(outer: &(dyn Error + 'static)) -> bool {
    matches!(tls(outer), Some(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)))
}

#[cfg(feature = "tls")]
fn is_unknown_issuer(outer: &(dyn Error + 'static)) -> bool {
    use rustls::CertificateError::{BadSignature, UnknownIssuer};

    // An authority of the same name with another key has not signed it.
    matches!(tls(outer), Some(rustls::Error::InvalidCertificate(UnknownIssuer | BadSignature)))
}

/// The length of a text of the TLS library that is shown.
#[cfg(feature = "tls")]
const MOST_SHOWN: usize = 400;

/// Returns why the peer's certificate is refused, if it is. The TLS library names the usual causes by its own
/// identifiers, which users do not know.
#[cfg(feature = "tls")]
fn certificate_problem(outer: &(dyn Error + 'static)) -> Option<String> {
    use rustls::CertificateError;

    let date = |at: UnixTime| httpdate::HttpDate::from(UNIX_EPOCH + Duration::from_secs(at.as_secs()));
    let Some(rustls::Error::InvalidCertificate(problem)) = tls(outer) else { return None };
    Some(match problem {
        CertificateError::UnknownIssuer => "its certificate is not from a trusted authority".to_owned(),
        CertificateError::Other(other) if other.to_string() == "CaUsedAsEndEntity" => {
            "its certificate is that of an authority (CA:TRUE); a server needs a certificate with CA:FALSE".to_owned()
        }
        CertificateError::Other(other) if other.to_string() == "EndEntityUsedAsCa" => {
            "its certificate was issued by a certificate that is not that of an authority".to_owned()
        }
        // The library's own texts have times as numbers, which look like card numbers.
        CertificateError::ExpiredContext { time, not_after } => {
            let (now, end) = (date(*time), date(*not_after));
            format!("its certificate expired on {end}; by the clock of this machine it is {now}")
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            let (now, start) = (date(*time), date(*not_before));
            format!("its certificate is valid from {start}; by the clock of this machine it is {now}")
        }
        // A certificate may have any number of names, which the library lists.
        other => {
            let all = mask::text(&other.to_string());
            let shown: String = all.chars().take(MOST_SHOWN).collect();
            let end = if shown.len() < all.len() { "…" } else { "" };
            format!("its certificate is invalid: {shown}{end}")
        }
    })
}

/// Returns the error of the TLS library.
#[cfg(feature = "tls")]
fn tls<'a>(outer: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let mut error = Some(outer);
    while let Some(this) = error {
        if let Some(tls) = this.downcast_ref() {
            return Some(tls);
        }
        // The source of an I/O error is the source of its inner error, not the inner error.
        error = match this.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => this.source(),
        };
    }
    None
}

#[cfg(not(feature = "tls"))]
fn is_no_tls(_: &(dyn Error + 'static)) -> bool {
    false
}

#[cfg(not(feature = "tls"))]
fn is_unknown_issuer(_: &(dyn Error + 'static)) -> bool {
    false
}

#[cfg(not(feature = "tls"))]
fn certificate_problem(_: &(dyn Error + 'static)) -> Option<String> {
    None
}

#[cfg(all(test, feature = "tls"))]
mod tests {
    use rustls::{CertificateError, Error::InvalidCertificate, OtherError};

    use super::*;

    #[test]
    fn problems_of_certificates_are_told_in_short_plain_words() {
        let expected = rustls::pki_types::ServerName::try_from("shop.example").unwrap();
        let presented = (0..900).map(|number| format!("{number}.4111111111111111.example")).collect();
        let names = CertificateError::NotValidForNameContext { expected, presented };
        let told = certificate_problem(&InvalidCertificate(names)).unwrap();
        assert!(told.contains("shop.example") && told.ends_with('…') && told.chars().count() < 500, "{told}");
        assert!(!told.contains("4111111111111111"), "{told}");

        #[derive(Debug)]
        struct EndEntityUsedAsCa;
        impl fmt::Display for EndEntityUsedAsCa {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("EndEntityUsedAsCa")
            }
        }
        impl Error for EndEntityUsedAsCa {}
        let other = CertificateError::Other(OtherError(std::sync::Arc::new(EndEntityUsedAsCa)));
        let told = certificate_problem(&InvalidCertificate(other)).unwrap();
        assert!(told.ends_with("is not that of an authority"), "{told}");
    }
}
