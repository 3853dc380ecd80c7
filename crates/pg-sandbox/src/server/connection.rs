//! One connection: requests in, answers out, until either side has enough.

use std::{pin::pin, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use pg_connections::{Accepted, Place};
use tokio::sync::watch;

use super::{body, writer::Queue};
use crate::{Disposition, Peer, form::Limits};

/// How long the head of a request may take, and how long a connection may be kept between two requests.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// The most bytes of a head. The address of a card form's redirect is the longest part of one.
const HEAD_BYTES: usize = 64 << 10;

pub(super) async fn serve(accepted: Accepted, queue: Queue, limits: Limits, mut stopped: watch::Receiver<bool>) {
    let Accepted { stream, address, place } = accepted;
    let peer = Peer(address);
    let service = service_fn(|request| answer(request, peer, &place, &queue, limits));
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
    place: &Place,
    queue: &Queue,
    limits: Limits,
) -> Result<Response<Full<Bytes>>, NoAnswer> {
    let (mut parts, incoming) = request.into_parts();
    parts.extensions.insert(peer);
    let (body, held) = match body::read(incoming, limits.body_bytes, place).await {
        Ok(body) => (body.bytes, body.held),
        Err(error) => {
            parts.extensions.insert(error);
            (Bytes::new(), None)
        }
    };
    place.working();
    let response = queue.answer(Request::from_parts(parts, body)).await;
    let response = response.unwrap_or_else(stopping);
    drop(held);
    let sent = deliver(response).await;
    place.idle();
    sent
}

/// The response, or what a fault makes of it.
async fn deliver(response: Response<Bytes>) -> Result<Response<Full<Bytes>>, NoAnswer> {
    match Disposition::of(&response) {
        Disposition::Send => {}
        Disposition::Close => return Err(NoAnswer),
        Disposition::SendAfter(delay) => hold(delay).await,
    }
    Ok(response.map(Full::new))
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
