//! The transport over hyper: pooled connections, TLS, one deadline, and a limit for replies.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header::HOST};
use tokio::time::{Instant, timeout_at};

use crate::{
    InsecureAddress, Transport, TransportError, TransportErrorKind,
    alarm::{self, now},
    connection::{Connection, NoReply},
    connector::Connector,
    held_body::{HeldBody, Hold},
    pool::Pool,
};

/// Time limit for connecting, sending and receiving together.
const DEADLINE: Duration = Duration::from_secs(60);
/// A batch of 5,000 cards has about 2 MB in the longer encoding.
const REPLY_LIMIT: usize = 16 << 20;
const IDLE_CONNECTIONS: usize = 32;
/// Shorter than the usual idle time of servers, so that few requests use a connection that is being closed.
const IDLE_TIME: Duration = Duration::from_secs(15);

/// HTTP/1.1 over a pool of connections, with TLS 1.2 or 1.3. It needs a tokio runtime. Clones share the pool, also in
/// other runtimes: a connection is used again only in the runtime that opened it.
///
/// The addresses of a host have the time until the deadline, at most 10 seconds, altogether to accept a connection, so an address
/// that does not respond leaves time for the others.
///
/// It uses an idle connection only if nothing was received on it since its last reply. A second reply that arrives
/// after the next request was written cannot be distinguished from the reply to that request. Behind a proxy that may
/// send second replies, use `pool` without idle connections, which opens a connection for each request.
///
/// It never sends a request twice. It uses a second connection only if the pooled connection was already closed and
/// hyper returns the request unwritten. A body that was taken cannot be taken again. It does not follow redirects.
///
/// It uses no proxy, and does not read `HTTPS_PROXY`. If requests leave your network only through a proxy, write a
/// [`Transport`] over a library that has proxies: it must reach the service through CONNECT, so that TLS ends at the
/// service, and neither retry nor follow redirects. For roots or a client certificate of your own,
/// [`with_tls`](Self::with_tls) is enough.
///
/// It refuses requests to addresses that are neither https nor on this machine, and without the feature `tls` also
/// requests to https addresses. It checks a host by its name, and a connection without TLS by the address that the name
/// has, before it writes to it: `localhost` may have the address of another machine.
#[derive(Clone)]
pub struct HyperTransport {
    connector: Connector,
    pool: Arc<Pool>,
    deadline: Duration,
    reply_limit: usize,
}

impl HyperTransport {
    /// Creates a transport that trusts the certificate authorities of Mozilla. Its deadline is 60 seconds, its replies
    /// have up to 16 MiB, and it keeps up to 32 idle connections per host for 15 seconds.
    #[must_use]
    pub fn new() -> Self {
        Self::over(Connector::new())
    }

    /// Creates a transport with your own roots, client certificate or protocol versions. It does not negotiate the
    /// protocol over TLS: `alpn_protocols` is ignored.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(tls: rustls::ClientConfig) -> Self {
        Self::over(Connector::with_tls(tls))
    }

    fn over(connector: Connector) -> Self {
        Self {
            connector,
            pool: Arc::new(Pool::new(IDLE_CONNECTIONS, IDLE_TIME)),
            deadline: DEADLINE,
            reply_limit: REPLY_LIMIT,
        }
    }

    /// Sets the time limit for connecting, sending and receiving together. If a name server does not answer, a thread may
    /// go on asking for the address of the host after that, and a runtime that is dropped waits for it: end your program
    /// with `Runtime::shutdown_background` or `std::process::exit` if it must not wait.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the maximum length of a reply body in bytes.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.reply_limit = bytes;
        self
    }

    /// Sets how many idle connections to keep per host, and for how long. Starts a new pool.
    #[must_use]
    pub fn pool(mut self, idle_connections: usize, idle_time: Duration) -> Self {
        self.pool = Arc::new(Pool::new(idle_connections, idle_time));
        self
    }

    async fn exchange(&self, uri: Uri, mut request: Request<HeldBody>) -> Result<Response<Bytes>, Fault> {
        let start = now();
        let deadline = alarm::after(start, self.deadline);
        loop {
            let (mut connection, fresh) = match self.pool.take(&uri, start) {
                Some(connection) if connection.is_quiet() => (connection, false),
                // The connection is closed.
                Some(_) => continue,
                None => {
                    // This future is rare and large. It is boxed, so that other requests do not reserve space for it.
                    let connected = timeout_at(deadline, Box::pin(self.connect(uri.clone(), deadline))).await;
                    let connected = connected.unwrap_or(Err(TransportErrorKind::Deadline(self.deadline)));
                    (connected.map_err(Fault::Unsent)?, true)
                }
            };
            match connection.exchange(request, self.reply_limit, deadline).await {
                Ok(response) => {
                    if connection.is_ready().await {
                        self.pool.put(&uri, connection);
                    }
                    return Ok(response);
                }
                // The server closed the connection while it was in the pool.
                Err(NoReply::Unsent(unsent, _)) if !fresh => request = *unsent,
                Err(NoReply::Unsent(_, error)) => {
                    return Err(Fault::Unsent(TransportErrorKind::Connection(error.into())));
                }
                Err(NoReply::TimeUp) => return Err(Fault::UnderWay(TransportErrorKind::Deadline(self.deadline))),
                Err(NoReply::Broken(fault)) => return Err(Fault::UnderWay(fault)),
            }
        }
    }

    async fn connect(&self, uri: Uri, deadline: Instant) -> Result<Connection, TransportErrorKind> {
        let authority = uri.authority().map_or_else(String::new, ToString::to_string);
        match self.connector.open(uri, deadline.saturating_duration_since(now())).await {
            Ok(stream) => {
                Connection::over(stream, deadline).await.map_err(|error| TransportErrorKind::Connection(error.into()))
            }
            Err(source) => Err(source.downcast().map_or_else(
                |source| TransportErrorKind::Connect { authority, source },
                |address| TransportErrorKind::Insecure(*address),
            )),
        }
    }
}

impl Default for HyperTransport {
    fn default() -> Self {
        Self::new()
    }
}

impl Transport for HyperTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        InsecureAddress::check(request.uri())?;
        let (uri, request, hold) = prepare(request);
        self.exchange(uri, request).await.map_err(|fault| judge(fault, &hold))
    }
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransport")
            .field("deadline", &self.deadline)
            .field("reply_limit", &self.reply_limit)
            .finish_non_exhaustive()
    }
}

/// Returns the destination, and the request as it is sent: with the path only, and the host as a header.
fn prepare(request: Request<Bytes>) -> (Uri, Request<HeldBody>, Hold) {
    let (mut head, body) = request.into_parts();
    let (body, hold) = HeldBody::new(body);
    let path = head.uri.path_and_query().cloned().map_or_else(Uri::default, Uri::from);
    let uri = std::mem::replace(&mut head.uri, path);
    let host = uri.authority().map_or("", |authority| authority.as_str());
    if let Ok(host) = HeaderValue::from_str(host.rsplit('@').next().unwrap_or_default()) {
        head.headers.entry(HOST).or_insert(host);
    }
    (uri, Request::from_parts(head, body), hold)
}

/// An error, and whether a connection had the request.
enum Fault {
    /// There was no connection, or it returned the request unwritten.
    Unsent(TransportErrorKind),
    /// A connection had the request.
    UnderWay(TransportErrorKind),
}

/// Classifies an error. A body that no connection took was not sent; nor was a request without a body that no
/// connection had.
fn judge(fault: Fault, hold: &Hold) -> TransportError {
    let (unsent, fault) = match fault {
        Fault::Unsent(fault) => (hold.withdraw_unsent(), fault),
        Fault::UnderWay(fault) => (hold.withdraw(), fault),
    };
    if unsent { TransportError::NotSent(fault) } else { TransportError::MaybeSent(fault) }
}
