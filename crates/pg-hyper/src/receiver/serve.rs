//! The receiver's own port, with limits for connections, their time and their size, and one request per connection.

use std::convert::Infallible;

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use pg_connections::{Accepted, Acceptor, ShortReads};
use tokio::{net::TcpListener, task::JoinSet};

use super::{HEAD_BYTES, ReceiverService};

/// Accepts connections until the receiver is dropped. At the limit, the connection that has been open for longest without
/// naming an open URL is closed in favour of a new one, since anyone on the Internet can connect.
pub(super) async fn listen(listener: TcpListener, service: ReceiverService) {
    let mut acceptor = Acceptor::new(listener, service.limits().of_connections());
    // Dropping the task closes its connections.
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
        // A client may close its sending side and still wait for the answer.
        .half_close(true)
        .serve_connection(TokioIo::new(ShortReads::new(stream)), answer);
    tokio::select! {
        // An error is the client's fault: it has disconnected, or has sent invalid HTTP and got an error response.
        _ = connection => {}
        () = place.closed() => {}
    }
}
