//! A port of its own: so many connections at a time, one request each, so long and so large at most.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use pg_connections::{Accepted, Acceptor, BodyError, Limits, Place};
use tokio::{net::TcpListener, task::JoinSet};

use super::{ReceiverLimits, ReceiverService, answer::Answer};

/// Bytes of a request's head. The data of a card form stands in its address.
const HEAD_BYTES: usize = 64 << 10;
/// So many of the largest bodies may be held at the same time.
const LARGEST_BODIES: usize = 4;

/// Accepts connections until nobody is there to take the news. When there are as many as allowed, the one that has been silent for
/// longest is closed in favour of a new one: whoever finds the address on the Internet may connect.
pub(super) async fn listen(listener: TcpListener, service: ReceiverService) {
    let mut acceptor = Acceptor::new(listener, limits(service.limits()));
    // Connections are cut off with the task.
    let mut connections = JoinSet::new();
    while !service.is_over() {
        let accepted = acceptor.next().await;
        while connections.try_join_next().is_some() {}
        let service = service.clone();
        connections.spawn(async move {
            let _ = tokio::time::timeout(service.limits().time, serve(accepted, &service)).await;
        });
    }
}

fn limits(of: &ReceiverLimits) -> Limits {
    let connections = of.connections.max(1);
    let bodies = of.body_bytes.saturating_mul(LARGEST_BODIES);
    Limits {
        connections,
        // A proxy with a certificate stands before it, so that all connections have its address.
        per_address: connections,
        body_bytes: u32::try_from(bodies).unwrap_or(u32::MAX),
        ..Limits::default()
    }
}

async fn serve(accepted: Accepted, service: &ReceiverService) {
    let Accepted { stream, place, .. } = accepted;
    let answer = service_fn(|request| async { Ok::<_, Infallible>(answer(request, service, &place).await) });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES)
        // A caller that has said everything may close its side and still wants its answer.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::select! {
        // Errors are the caller's: it went away, or sent what is no HTTP and was told so.
        _ = connection => {}
        () = place.closed() => {}
    }
}

async fn answer(request: Request<Incoming>, service: &ReceiverService, place: &Place) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    if !service.is_open(head.uri.path()) {
        return Answer::NotFound.response();
    }
    let limit = service.limits().body_bytes;
    let body = match pg_connections::read_body(place, body, limit, limit).await {
        Ok(body) => body,
        Err(BodyError::TooLarge | BodyError::Incomplete) => return Answer::TooLarge.response(),
    };
    place.working();
    let response = service.take(Request::from_parts(head, Full::new(body.bytes))).await;
    place.idle();
    response
}
