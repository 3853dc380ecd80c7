//! The transport over hyper: pooled connections, TLS, one deadline, a limit for replies.

use std::{fmt, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper_rustls::ConfigBuilderExt;
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use rustls::{ClientConfig, crypto::ring};

use crate::{
    Fault, Transport, TransportError,
    connector::Connector,
    held_body::{HeldBody, Hold},
    insecure,
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
/// It never sends a request twice. hyper itself may move a request to another connection when the pooled one turns out
/// to be closed, but only as long as nothing of it was written; a body that was given out once can't be given out again.
/// Redirects are not followed.
///
/// Requests to addresses that are neither https nor on this machine are refused, whoever builds them.
#[derive(Clone)]
pub struct Hyper {
    connector: Connector,
    client: Client<Connector, HeldBody>,
    deadline: Duration,
    reply_limit: usize,
}

impl Hyper {
    /// Trusts the certificate authorities that Mozilla trusts; deadline 60 seconds, replies up to 16 MiB, up to 32 idle
    /// connections a host for 15 seconds.
    #[must_use]
    pub fn new() -> Self {
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the cipher suites of TLS 1.2 and 1.3");
        Self::with_tls(tls.with_webpki_roots().with_no_client_auth())
    }

    /// With roots, a client certificate or protocol versions of one's own. Which protocol is spoken over TLS is not
    /// negotiated: `alpn_protocols` is ignored.
    #[must_use]
    pub fn with_tls(tls: ClientConfig) -> Self {
        let connector = Connector::new(tls);
        let client = pooled(&connector, IDLE_CONNECTIONS, IDLE_TIME);
        Self { connector, client, deadline: DEADLINE, reply_limit: REPLY_LIMIT }
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
        self.client = pooled(&self.connector, idle_connections, idle_time);
        self
    }

    async fn exchange(&self, request: Request<HeldBody>) -> Result<Response<Bytes>, Fault> {
        let authority = request.uri().authority().cloned();
        let response = self.client.request(request).await.map_err(|error| match authority {
            Some(authority) if error.is_connect() => {
                Fault::Connect { authority: authority.to_string(), source: error.into() }
            }
            _ => Fault::Connection(error.into()),
        })?;
        let (head, body) = response.into_parts();
        Ok(Response::from_parts(head, collect(body, self.reply_limit).await?))
    }
}

impl Default for Hyper {
    fn default() -> Self {
        Self::new()
    }
}

impl Transport for Hyper {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        insecure::check(request.uri()).map_err(|address| TransportError::NotSent(Fault::Insecure(address)))?;
        let (head, body) = request.into_parts();
        let (body, hold) = HeldBody::new(body);
        match tokio::time::timeout(self.deadline, self.exchange(Request::from_parts(head, body))).await {
            Ok(result) => result.map_err(|fault| judge(fault, &hold)),
            Err(_) => Err(judge(Fault::Deadline(self.deadline), &hold)),
        }
    }
}

impl fmt::Debug for Hyper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hyper")
            .field("deadline", &self.deadline)
            .field("reply_limit", &self.reply_limit)
            .finish_non_exhaustive()
    }
}

/// Whatever went wrong: a body that the connection never had was not sent.
fn judge(fault: Fault, hold: &Hold) -> TransportError {
    if hold.withdraw() { TransportError::NotSent(fault) } else { TransportError::MaybeSent(fault) }
}

fn pooled(connector: &Connector, idle_connections: usize, idle_time: Duration) -> Client<Connector, HeldBody> {
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(idle_time)
        .pool_max_idle_per_host(idle_connections)
        // Requests are short: to copy one into one piece is cheaper than to hand two pieces to the system.
        .http1_writev(false)
        .build(connector.clone())
}

/// The whole body, as long as it keeps to the limit. Most replies come in one piece, which is not copied.
async fn collect(mut body: Incoming, limit: usize) -> Result<Bytes, Fault> {
    if body.size_hint().lower() > limit as u64 {
        return Err(Fault::ReplyTooLarge(limit));
    }
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(|error| Fault::Connection(error.into()))?.into_data() else { continue };
        if first.len() + whole.len() + piece.len() > limit {
            return Err(Fault::ReplyTooLarge(limit));
        }
        if first.is_empty() && whole.is_empty() {
            first = piece;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut first));
            whole.extend_from_slice(&piece);
        }
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}
