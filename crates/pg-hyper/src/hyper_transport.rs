//! The transport over hyper: pooled connections, TLS, one deadline, a limit for replies.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header::HOST};
use tokio::time::{Instant, timeout_at};

use crate::{
    Transport, TransportError, TransportErrorKind, alarm,
    connection::{Connection, NoReply},
    connector::Connector,
    held_body::{HeldBody, Hold},
    insecure,
    pool::{Pool, now},
};

/// Connecting, sending and receiving together.
const DEADLINE: Duration = Duration::from_secs(60);
/// A batch of 5,000 cards has about 2 MB in its longer encoding.
const REPLY_LIMIT: usize = 16 << 20;
const IDLE_CONNECTIONS: usize = 32;
/// Shorter than servers usually keep an idle connection, so that few requests meet one that is being closed.
const IDLE_TIME: Duration = Duration::from_secs(15);

/// HTTP/1.1 over a pool of connections, with TLS 1.2 or 1.3. Needs a tokio runtime. Clones share the pool.
///
/// It never sends a request twice. Only when a pooled connection turns out to be closed, and hyper hands the request back
/// because nothing of it was written, does it go over another connection; a body that was given out once can't be given
/// out again. Redirects are not followed.
///
/// Requests to addresses that are neither https nor on this machine are always refused; without the feature
/// `tls`, those to https addresses too.
#[derive(Clone)]
pub struct HyperTransport {
    connector: Connector,
    pool: Arc<Pool>,
    deadline: Duration,
    reply_limit: usize,
}

impl HyperTransport {
    /// Trusts the certificate authorities that Mozilla trusts; deadline 60 seconds, replies up to 16 MiB, up to 32 idle
    /// connections a host for 15 seconds.
    #[must_use]
    pub fn new() -> Self {
        Self::over(Connector::new())
    }

    /// With roots, a client certificate or protocol versions of one's own. Which protocol is spoken over TLS is not
    /// negotiated: `alpn_protocols` is ignored.
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

    /// The time for connecting, sending and receiving together.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How many bytes a reply's body may have.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.reply_limit = bytes;
        self
    }

    /// How many idle connections to keep for each host, and for how long. Begins a pool of its own.
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
                Some(connection) => (connection, false),
                None => {
                    // Rare and large: in a box, so that every other request does not carry the room for it around.
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
                // The server closed it while it was in the pool.
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
        match self.connector.open(uri).await {
            Ok(stream) => {
                Connection::over(stream, deadline).await.map_err(|error| TransportErrorKind::Connection(error.into()))
            }
            Err(source) => Err(TransportErrorKind::Connect { authority, source }),
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
        insecure::check(request.uri())
            .map_err(|address| TransportError::NotSent(TransportErrorKind::Insecure(address)))?;
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

/// Where a request goes, and the request as it stands on the wire: path alone, and the host as a header.
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

/// What went wrong, and whether a connection had the request then.
enum Fault {
    /// There was no connection, or it handed the request back.
    Unsent(TransportErrorKind),
    /// A connection had the request.
    UnderWay(TransportErrorKind),
}

/// A body that no connection asked for was not sent; nor was a request without a body that no connection had.
fn judge(fault: Fault, hold: &Hold) -> TransportError {
    let (unsent, fault) = match fault {
        Fault::Unsent(fault) => (hold.withdraw_unsent(), fault),
        Fault::UnderWay(fault) => (hold.withdraw(), fault),
    };
    if unsent { TransportError::NotSent(fault) } else { TransportError::MaybeSent(fault) }
}
