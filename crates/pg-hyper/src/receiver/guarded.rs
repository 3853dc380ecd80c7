//! A server for any tower service. Hostile peers cannot exhaust its connections.

use std::{
    cell::Cell,
    convert::Infallible,
    error::Error,
    future::{pending, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use hyper::{
    body::{Body, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use pg_connections::{Accepted, Acceptor, BodyError, ConnectionLimits, ConnectionSlot, HeldBody, ShortReads};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinSet, yield_now},
    time::timeout,
};
use tower_service::Service;

use super::HEAD_BYTES;

/// The time limit of a request head, and of an idle connection between two requests.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// How long a server that stops waits for its last requests.
const STOP_TIME: Duration = Duration::from_secs(30);

/// Serves a tower service, such as a router of axum with a [`ReceiverService`](super::ReceiverService) in it, over
/// HTTP/1.1, until the future is dropped. Other servers often accept any number of connections; this server obeys its
/// limits.
///
/// A connection is idle while the server waits for its peer: for a first byte, the rest of a head or a body, the next
/// request, or until the peer reads. If there are too many connections, the connection that has been idle for longest
/// is closed. A connection whose request is being answered is never closed for that. The service must limit the bodies
/// that it reads, as a `ReceiverService` and [`GuardedBody::read`] do.
///
/// Behind a proxy on another machine all clients have one address, so by default they have 256 connections together:
/// raise [`ConnectionLimits::per_address`], and let the proxy limit its clients.
///
/// ```no_run
/// use pg_hyper::{ConnectionLimits, Receiver, ReceiverLimits, proto::BaseUrl, serve_guarded};
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let receiver = Receiver::nested(&BaseUrl::parse("https://shop.example/pg")?, ReceiverLimits::default());
/// // With axum: `let service = Router::new().nest_service("/pg", receiver.service());`
/// let service = receiver.service();
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
/// serve_guarded(listener, ConnectionLimits::default(), service).await;
/// # Ok(())
/// # }
/// ```
pub async fn serve_guarded<S, B>(listener: TcpListener, limits: ConnectionLimits, service: S)
where
    S: Service<Request<GuardedBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    serve_guarded_until(listener, limits, service, pending()).await;
}

/// Like [`serve_guarded`], until `stop` completes. Then it accepts no more connections, closes connections without a
/// request, and returns when the other requests are answered, after at most 30 seconds.
pub async fn serve_guarded_until<S, B>(
    listener: TcpListener,
    limits: ConnectionLimits,
    service: S,
    stop: impl Future<Output = ()>,
) where
    S: Service<Request<GuardedBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let mut acceptor = Acceptor::new(listener, limits);
    // Dropping the future closes its connections.
    let mut connections = JoinSet::new();
    let (running, stopped) = watch::channel(());
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = acceptor.next() => accepted,
            () = &mut stop => break,
        };
        while connections.try_join_next().is_some() {}
        connections.spawn(serve(accepted, service.clone(), stopped.clone()));
    }
    drop((acceptor, running));
    let finished = async { while connections.join_next().await.is_some() {} };
    // Requests that their peers have not completed by then are lost.
    let _ = timeout(STOP_TIME, finished).await;
}

async fn serve<S, B>(accepted: Accepted, service: S, mut stopped: watch::Receiver<()>)
where
    S: Service<Request<GuardedBody>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let Accepted { stream, place, .. } = accepted;
    let place = Arc::new(place);
    let held = Arc::clone(&place);
    let is_first = Cell::new(true);
    let answer = service_fn(move |request: Request<Incoming>| {
        let (mut service, place) = (service.clone(), Arc::clone(&held));
        let is_later = !is_first.replace(false);
        async move {
            if is_later {
                // The peer may have sent the request together with the previous one. Other connections go first, since
                // thousands of requests in one write would delay all of them.
                yield_now().await;
            }
            let request = request.map(|body| GuardedBody::new(body, Arc::clone(&place)));
            poll_fn(|cx| service.poll_ready(cx)).await?;
            let response = service.call(request).await;
            place.idle();
            response
        }
    });
    let connection = http1::Builder::new()
        .half_close(true)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(ShortReads::new(stream)), answer);
    let mut connection = pin!(connection);
    let mut stops = false;
    loop {
        tokio::select! {
            // An error is the peer's fault: it has disconnected, or has sent invalid HTTP and got an error response.
            _ = connection.as_mut() => return,
            () = place.closed() => return,
            // Nothing is ever sent: the server stops when it drops the sender.
            _ = stopped.changed(), if !stops => {
                connection.as_mut().graceful_shutdown();
                stops = true;
            }
        }
    }
}

/// The body of a request at [`serve_guarded`]. When the body is complete, its connection is not closed in favour of
/// another one.
#[derive(Debug)]
pub struct GuardedBody {
    inner: Incoming,
    place: Arc<ConnectionSlot>,
}

impl GuardedBody {
    fn new(inner: Incoming, place: Arc<ConnectionSlot>) -> Self {
        if inner.is_end_stream() {
            place.working();
        }
        Self { inner, place }
    }

    /// Reads a body of at most `limit` bytes. It counts in [`ConnectionLimits::body_bytes`] as it arrives: if there is no
    /// room, other incomplete bodies lose theirs together with their connections, the oldest first. Of a longer body, as
    /// many bytes are read and dropped, so that its sender can read the response. Set a timeout: a slow body may never end.
    ///
    /// # Errors
    ///
    /// If it is longer, or ends early.
    pub async fn read(self, limit: usize) -> Result<HeldBody, BodyError> {
        let place = Arc::clone(&self.place);
        pg_connections::read_body(&place, self, limit, limit).await
    }
}

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || self.inner.is_end_stream() {
            self.place.working();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
