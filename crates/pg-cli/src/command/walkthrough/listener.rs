//! The merchant's side of callbacks: a small server that receives the sandbox's posts.

use std::{convert::Infallible, io, net::Ipv4Addr, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};

/// The listener's response to every callback.
pub(in crate::command) const ANSWER: StatusCode = StatusCode::NO_CONTENT;

/// The maximum size of a callback.
const LONGEST: usize = 64 << 10;

/// The time limit for a callback that is due.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server on a free port of this machine. It stops when it is dropped.
pub(in crate::command) struct Listener {
    port: u16,
    callbacks: UnboundedReceiver<Request<Bytes>>,
    listening: JoinHandle<()>,
}

impl Listener {
    /// Listens, on the runtime of the caller.
    ///
    /// # Errors
    /// If no port is free.
    pub(in crate::command) async fn start() -> io::Result<Self> {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = bound.local_addr()?.port();
        let (came, callbacks) = unbounded_channel();
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = bound.accept().await {
                serve(stream, port, &came).await;
            }
        });
        Ok(Self { port, callbacks, listening })
    }

    /// Returns the URL of one of its pages.
    pub(in crate::command) fn url(&self, page: &str) -> String {
        format!("http://127.0.0.1:{}/{page}", self.port)
    }

    /// Returns the next callback.
    ///
    /// # Errors
    /// If none arrives within five seconds.
    pub(in crate::command) async fn next(&mut self) -> Result<Request<Bytes>, String> {
        match tokio::time::timeout(PATIENCE, self.callbacks.recv()).await {
            Ok(Some(callback)) => Ok(callback),
            _ => Err(format!("no callback within {} seconds", PATIENCE.as_secs())),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// One connection after the other: a walk waits for one callback at a time.
async fn serve(stream: TcpStream, port: u16, came: &UnboundedSender<Request<Bytes>>) {
    let service = service_fn(|request: Request<Incoming>| async move {
        let (mut parts, body) = request.into_parts();
        // The full URL, for display.
        parts.uri = format!("http://127.0.0.1:{port}{}", parts.uri).parse().unwrap_or(parts.uri);
        let status = match Limited::new(body, LONGEST).collect().await {
            Ok(body) => {
                // The receiver is dropped at the end of the walk.
                drop(came.send(Request::from_parts(parts, body.to_bytes())));
                ANSWER
            }
            Err(_) => StatusCode::PAYLOAD_TOO_LARGE,
        };
        let mut response = Response::new(Empty::<Bytes>::new());
        *response.status_mut() = status;
        Ok::<_, Infallible>(response)
    });
    // A sender that disconnects is no failure of the listener.
    drop(http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service).await);
}
