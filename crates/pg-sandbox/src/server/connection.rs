//! One connection: requests in, answers out, until either side has enough.

use std::{pin::pin, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpStream, sync::watch};

use super::{body, writer::Queue};
use crate::{Disposition, Peer, form::Limits};

/// How long the head of a request may take.
const HEAD_TIME: Duration = Duration::from_secs(30);

pub(super) async fn serve(stream: TcpStream, queue: Queue, limits: Limits, mut stopped: watch::Receiver<bool>) {
    let Ok(peer) = stream.peer_addr() else { return };
    // Answers are small and complete: waiting for more to send only costs time.
    let _ = stream.set_nodelay(true);
    let peer = Peer(peer.ip().to_canonical());
    let service = service_fn(|request| answer(request, peer, &queue, limits));
    let connection = http1::Builder::new()
        // A caller that has said everything may close its side and still wants its answer.
        .half_close(true)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // Errors are the caller's: it went away, or sent what is no HTTP and was told so.
        _ = connection.as_mut() => {}
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn answer(
    request: Request<Incoming>,
    peer: Peer,
    queue: &Queue,
    limits: Limits,
) -> Result<Response<Full<Bytes>>, NoAnswer> {
    let (mut parts, incoming) = request.into_parts();
    parts.extensions.insert(peer);
    let body = body::read(incoming, limits.body_bytes).await.unwrap_or_else(|error| {
        parts.extensions.insert(error);
        Bytes::new()
    });
    let response = queue.answer(Request::from_parts(parts, body)).await;
    let response = response.unwrap_or_else(stopping);
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
