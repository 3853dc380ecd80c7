//! Connections: so many at a time, one request each, so long and so large at most.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc::Sender},
    task::JoinSet,
};

use super::{Receipt, Received, ReceiverLimits, answer::Answer, door::Doors, news::NoNews};

/// Bytes of a request's head. The data of a card form stands in its address.
const HEAD_BYTES: usize = 64 << 10;
/// A connection that can't be taken, for want of files perhaps, stays pending and would be tried again at once.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes connections until nobody is there to take the news.
pub(super) async fn listen(listener: TcpListener, limits: ReceiverLimits, doors: Arc<Doors>, news: Sender<Received>) {
    let places = Arc::new(Semaphore::new(limits.connections.max(1)));
    // Connections are cut off with the task.
    let mut connections = JoinSet::new();
    while !news.is_closed() {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            pause().await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let (doors, news) = (Arc::clone(&doors), news.clone());
        connections.spawn(async move {
            let _ = tokio::time::timeout(limits.time, serve(stream, limits, &doors, &news)).await;
            drop(place);
        });
    }
}

async fn serve(stream: TcpStream, limits: ReceiverLimits, doors: &Doors, news: &Sender<Received>) {
    let service = service_fn(|request| answer(request, limits, doors, news));
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES)
        // A caller that has said everything may close its side and still wants its answer.
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service);
    // Errors are the caller's: it went away, or sent what is no HTTP and was told so.
    let _ = connection.await;
}

async fn answer(
    request: Request<Incoming>,
    limits: ReceiverLimits,
    doors: &Doors,
    news: &Sender<Received>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let answer = take(request, limits, doors, news).await;
    tracing::debug!(target: "pg.receiver", ?answer);
    Ok(answer.response())
}

async fn take(request: Request<Incoming>, limits: ReceiverLimits, doors: &Doors, news: &Sender<Received>) -> Answer {
    let Some((token, purpose)) = doors.at(request.uri().path()) else { return Answer::NotFound };
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, limits.body_bytes).collect().await else { return Answer::TooLarge };
    match purpose.read(&Request::from_parts(head, body.to_bytes())) {
        Err(NoNews::WrongMethod) => Answer::WrongMethod(purpose.methods()),
        Err(NoNews::Unreadable) => Answer::Unreadable,
        Ok(said) if purpose.waits() => {
            let (receipt, received) = Receipt::awaited();
            match news.try_send(Received { token, news: said, receipt }) {
                Ok(()) => in_time(limits.receipt, received).await,
                Err(_) => Answer::Busy,
            }
        }
        Ok(said) => match news.try_send(Received { token, news: said, receipt: Receipt::none() }) {
            Ok(()) => Answer::Taken,
            Err(_) => Answer::Busy,
        },
    }
}

async fn in_time(limit: Duration, received: impl Future<Output = bool>) -> Answer {
    match tokio::time::timeout(limit, received).await {
        Ok(true) => Answer::Taken,
        Ok(false) | Err(_) => Answer::Busy,
    }
}

#[expect(clippy::disallowed_methods, reason = "others have to end first, and nothing tells when they have")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
