//! One connection: requests in, responses out, until either side ends it.

use std::{
    pin::pin,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use pg_connections::{
    Accepted, BodyError, ConnectionSlot, HandshakeQueue, HeldBody, RequestQueue, ResponsePermit, ShortReads,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
    task::yield_now,
};
use tokio_rustls::TlsAcceptor;

use super::{hello::Greeted, writer::Queue};
use crate::{
    Peer, ResponseDelivery,
    form::{FormError, FormLimits},
    service::{LIVE, METRICS, READY},
};

/// The time limit of a request head, and of an idle connection between two requests.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// The maximum size of a head. The URL of a card form's redirect is its longest part.
const HEAD_BYTES: usize = 64 << 10;

/// The time limit of a body.
const BODY_TIME: Duration = Duration::from_secs(30);
/// How much of an oversized body is read and discarded. Its sender is still sending, and could not read the response
/// otherwise.
const DRAINED: usize = 64 << 20;

/// The maximum number of method calls and customers' page requests in progress: twice as many as share one write.
const AT_ONCE: usize = 128;
/// The same for inspector pages and the control interface, whose requests may take long.
const LOOKING_ON: usize = 16;

/// State shared by all connections.
#[derive(Clone)]
pub(super) struct Counter {
    queue: Queue,
    limits: FormLimits,
    calls: RequestQueue,
    looking_on: RequestQueue,
    handshakes: HandshakeQueue,
}

impl Counter {
    pub(super) fn new(queue: Queue, limits: FormLimits) -> Self {
        Self {
            queue,
            limits,
            calls: RequestQueue::new(AT_ONCE),
            looking_on: RequestQueue::new(LOOKING_ON),
            // One handshake at a time, so that other connections never wait for more than one.
            handshakes: HandshakeQueue::new(1),
        }
    }
}

pub(super) async fn serve(
    accepted: Accepted,
    tls: Option<TlsAcceptor>,
    counter: Counter,
    stopped: watch::Receiver<bool>,
) {
    let Accepted { stream, address, place, .. } = accepted;
    let peer = Peer(address);
    match tls {
        // Boxed, so that a connection without TLS does not reserve this memory.
        Some(tls) => Box::pin(talk_securely(stream, &tls, peer, &place, &counter, stopped)).await,
        None => talk(stream, peer, &place, &counter, stopped).await,
    }
}

/// Serves a TLS connection. Until its handshake is complete, it counts as silent and may be closed for another
/// connection.
pub(super) async fn talk_securely(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    tls: &TlsAcceptor,
    peer: Peer,
    place: &ConnectionSlot,
    counter: &Counter,
    mut stopped: watch::Receiver<bool>,
) {
    let handshake = async {
        let stream = Greeted::read(stream).await?;
        if stream.resumes(&*tls.config().session_storage) {
            counter.handshakes.resume(tls.accept(stream)).await
        } else {
            counter.handshakes.run(peer.0, tls.accept(stream)).await
        }
    };
    let begun = tokio::select! {
        begun = tokio::time::timeout(HEAD_TIME, handshake) => begun,
        () = place.closed() => return,
        _ = stopped.changed() => return,
    };
    // Otherwise the peer speaks no TLS, is too slow, or does not trust the certificate. The peer knows the reason.
    if let Ok(Ok(stream)) = begun {
        talk(stream, peer, place, counter, stopped).await;
    }
}

pub(super) async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: Peer,
    place: &ConnectionSlot,
    counter: &Counter,
    mut stopped: watch::Receiver<bool>,
) {
    // Consecutive refusals.
    let refused = AtomicU64::new(0);
    let service = service_fn(|request| answer(request, peer, place, counter, &refused));
    let connection = http1::Builder::new()
        // A caller may close its side after the request and still expect the response.
        .half_close(true)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(ShortReads::new(stream)), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Errors are the caller's: it has disconnected, or has sent invalid HTTP and got an error.
        _ = connection.as_mut() => {}
        // The slot is needed for another connection, and no request of this one is in progress.
        () = place.closed() => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn answer(
    request: Request<Incoming>,
    peer: Peer,
    place: &ConnectionSlot,
    counter: &Counter,
    refused: &AtomicU64,
) -> Result<Response<Full<Bytes>>, NoAnswer> {
    if is_probe(&request, LIVE) {
        yield_now().await;
        let mut response = Response::new(Full::new(Bytes::from_static(b"{\"status\": \"live\"}\n")));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        return Ok(response);
    }
    let (ready, metrics) = (is_probe(&request, READY), is_probe(&request, METRICS));
    let (mut parts, incoming) = request.into_parts();
    parts.extensions.insert(peer);
    if ready {
        // A probe does not wait behind other requests, which may be waiting for an unreachable store.
        let response = counter.queue.probed(Request::from_parts(parts, Bytes::new())).await;
        let response = response.filter(|response| !response.status().is_server_error());
        return Ok(response.unwrap_or_else(not_ready).map(Full::new));
    }
    if metrics {
        yield_now().await;
        return Ok(counter.queue.counted(&Request::from_parts(parts, Bytes::new())).map(Full::new));
    }
    // A peer that waits until it is asked for its body sends nothing that must be read before the response.
    let drained = if parts.headers.contains_key(header::EXPECT) { 0 } else { DRAINED };
    let (body, held) = match read(incoming, counter.limits.body_bytes, drained, place).await {
        Ok(body) => (body.bytes, body.held),
        Err(error) => {
            parts.extensions.insert(error);
            (Bytes::new(), None)
        }
    };
    // Until its turn the request is not processed, and the connection can be closed in favour of another.
    let turns = if parts.uri.path().starts_with("/_sandbox") { &counter.looking_on } else { &counter.calls };
    let turn = turns.take(refused.load(Relaxed)).await;
    place.working();
    let response = counter.queue.answer(Request::from_parts(parts, body)).await;
    let response = response.unwrap_or_else(stopping);
    drop((held, turn));
    refused
        .store(if response.status().is_client_error() { refused.load(Relaxed).saturating_add(1) } else { 0 }, Relaxed);
    let sent = deliver(response).await.map(|response| response.map(|body| Full::new(counted(body, place))));
    place.idle();
    sent
}

/// Reads a body of at most `limit` bytes. Of a longer one, it drops up to `drained` bytes.
async fn read(body: Incoming, limit: usize, drained: usize, place: &ConnectionSlot) -> Result<HeldBody, FormError> {
    match tokio::time::timeout(BODY_TIME, pg_connections::read_body(place, body, limit, drained)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(BodyError::TooLarge)) => Err(FormError::TooLarge { limit }),
        Ok(Err(BodyError::Incomplete)) | Err(_) => Err(FormError::Incomplete),
    }
}

/// Whether the request is this call, from a monitoring system or a container platform. Such a call waits for no other
/// request. One that is answered without the queue lets other connections go first, since thousands of them in one write
/// would delay all of those.
fn is_probe<B>(request: &Request<B>, probe: &str) -> bool {
    let path = request.uri().path().strip_prefix("/_sandbox/");
    path == Some(probe) && matches!(*request.method(), Method::GET | Method::HEAD)
}

/// The response, or the effect of a fault on it.
async fn deliver(response: Response<Bytes>) -> Result<Response<Bytes>, NoAnswer> {
    match ResponseDelivery::of(&response) {
        ResponseDelivery::Send => {}
        ResponseDelivery::Close => return Err(NoAnswer),
        ResponseDelivery::SendAfter(delay) => hold(delay).await,
    }
    Ok(response)
}

/// Smaller bodies fit into the system's socket buffer.
const COUNTED: usize = 16 << 10;

/// The body of a response; a large one counts towards the budget of unread responses.
fn counted(body: Bytes, place: &ConnectionSlot) -> Bytes {
    if body.len() < COUNTED { body } else { Bytes::from_owner(Unread { _counted: place.reply(body.len()), body }) }
}

/// A body that is counted until it has been written.
struct Unread {
    body: Bytes,
    _counted: ResponsePermit,
}

impl AsRef<[u8]> for Unread {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// Makes hyper close the connection.
#[derive(Debug, thiserror::Error)]
#[error("a fault lets this request have no answer")]
struct NoAnswer;

#[expect(clippy::disallowed_methods, reason = "a fault delays answers on the real clock")]
async fn hold(delay: Duration) {
    tokio::time::sleep(delay).await;
}

/// The store is unreachable or slow, or refuses a transaction.
fn not_ready() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"{\"status\": \"not ready\"}\n"));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Only while the server stops.
fn stopping() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"The sandbox is stopping\n"));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}
