//! A port of its own: so many connections at a time, one request each, so long and so large at most.

use std::convert::Infallible;

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use pg_connections::{Accepted, Acceptor};
use tokio::{net::TcpListener, task::JoinSet};

use super::ReceiverService;

/// Bytes of a request's head. The data of a card form stands in its address.
const HEAD_BYTES: usize = 64 << 10;

/// Accepts connections until the receiver is dropped. When there are as many as allowed, the one that has been silent for
/// longest is closed in favour of a new one: any stranger on the Internet may connect.
pub(super) async fn listen(listener: TcpListener, service: ReceiverService) {
    let mut acceptor = Acceptor::new(listener, service.limits().of_connections());
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

async fn serve(accepted: Accepted, service: &ReceiverService) {
    let Accepted { stream, place, .. } = accepted;
    let answer = service_fn(|request| async { Ok::<_, Infallible>(service.answer_at(&place, request).await) });
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
