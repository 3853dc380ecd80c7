//! A port of its own: so many connections at a time, one request each, so long and so large at most.

use std::{convert::Infallible, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use super::ReceiverService;

/// Bytes of a request's head. The data of a card form stands in its address.
const HEAD_BYTES: usize = 64 << 10;
/// A connection that can't be taken, for want of files perhaps, stays pending and would be tried again at once.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes connections until nobody is there to take the news.
pub(super) async fn listen(listener: TcpListener, service: ReceiverService) {
    // Connections are cut off with the task.
    let mut connections = JoinSet::new();
    while !service.is_over() {
        let Ok(place) = Arc::clone(service.places()).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            pause().await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let service = service.clone();
        connections.spawn(async move {
            let _ = tokio::time::timeout(service.limits().time, serve(stream, &service)).await;
            drop(place);
        });
    }
}

async fn serve(stream: TcpStream, service: &ReceiverService) {
    let answer = service_fn(|request| async { Ok::<_, Infallible>(service.take(request).await) });
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES)
        // A caller that has said everything may close its side and still wants its answer.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), answer);
    // Errors are the caller's: it went away, or sent what is no HTTP and was told so.
    let _ = connection.await;
}

#[expect(clippy::disallowed_methods, reason = "others have to end first, and nothing tells when they have")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
