//! One connection: requests in, answers out, until either side has enough.

use std::{
    pin::pin,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use pg_connections::{Accepted, ConnectionSlot, RequestQueue, ResponsePermit};
use tokio::sync::watch;

use super::{body, writer::Queue};
use crate::{Peer, ResponseDelivery, form::FormLimits};

/// How long the head of a request may take, and how long a connection may be kept between two requests.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// The most bytes of a head. The address of a card form's redirect is the longest part of one.
const HEAD_BYTES: usize = 64 << 10;

/// Requests of methods and customers' pages that are answered at the same time: twice as many as share one write.
const AT_ONCE: usize = 128;
/// The same for people's pages and the control interface, whose answers may take long.
const LOOKING_ON: usize = 16;

/// What all connections share.
#[derive(Clone)]
pub(super) struct Counter {
    queue: Queue,
    limits: FormLimits,
    calls: RequestQueue,
    looking_on: RequestQueue,
}

impl Counter {
    pub(super) fn new(queue: Queue, limits: FormLimits) -> Self {
        Self { queue, limits, calls: RequestQueue::new(AT_ONCE), looking_on: RequestQueue::new(LOOKING_ON) }
    }
}

pub(super) async fn serve(accepted: Accepted, counter: Counter, mut stopped: watch::Receiver<bool>) {
    let Accepted { stream, address, place, .. } = accepted;
    let peer = Peer(address);
    // Refused in a row.
    let refused = AtomicU64::new(0);
    let service = service_fn(|request| answer(request, peer, &place, &counter, &refused));
    let connection = http1::Builder::new()
        // A caller that has said everything may close its side and still wants its answer.
        .half_close(true)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Errors are the caller's: it went away, or sent what is no HTTP and was told so.
        _ = connection.as_mut() => {}
        // Others need the place, and no request of this connection is being answered.
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
    let (mut parts, incoming) = request.into_parts();
    parts.extensions.insert(peer);
    let (body, held) = match body::read(incoming, counter.limits.body_bytes, place).await {
        Ok(body) => (body.bytes, body.held),
        Err(error) => {
            parts.extensions.insert(error);
            (Bytes::new(), None)
        }
    };
    // Until its turn has come, nothing is done for it, and the connection can be closed in favour of another one.
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

/// The response, or what a fault makes of it.
async fn deliver(response: Response<Bytes>) -> Result<Response<Bytes>, NoAnswer> {
    match ResponseDelivery::of(&response) {
        ResponseDelivery::Send => {}
        ResponseDelivery::Close => return Err(NoAnswer),
        ResponseDelivery::SendAfter(delay) => hold(delay).await,
    }
    Ok(response)
}

/// Smaller bodies fit into what the system holds for a connection.
const COUNTED: usize = 16 << 10;

/// The body of a response, which counts among those that wait for their readers if it is large.
fn counted(body: Bytes, place: &ConnectionSlot) -> Bytes {
    if body.len() < COUNTED { body } else { Bytes::from_owner(Unread { _counted: place.reply(body.len()), body }) }
}

/// A body that is counted until it was written.
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

/// Only when the server is being stopped.
fn stopping() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"The sandbox is stopping\n"));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}
