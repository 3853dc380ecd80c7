//! Connections that ask without a pause, each its next request when the last one is answered.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, runtime::Runtime, task::JoinSet};

/// Open connections to one server, with the thread of the caller as their only one.
pub(crate) struct Load {
    runtime: Runtime,
    senders: Vec<SendRequest<Full<Bytes>>>,
}

/// What became of the requests of one round.
pub(crate) struct Round {
    /// Answers a second, of all connections together.
    pub(crate) rate: f64,
    /// Microseconds from each request to its answer.
    pub(crate) latencies: Vec<f64>,
}

impl Load {
    /// Opens this many connections.
    pub(crate) fn connect(address: SocketAddr, connections: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let senders = runtime.block_on(async {
            let mut senders = Vec::new();
            for _ in 0..connections {
                let stream = TcpStream::connect(address).await.expect("a connection");
                stream.set_nodelay(true).expect("a socket");
                let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("HTTP/1.1");
                tokio::spawn(connection);
                senders.push(sender);
            }
            senders
        });
        Self { runtime, senders }
    }

    /// One request, and its answer.
    pub(crate) fn ask(&mut self, request: Request<Bytes>) -> Response<Bytes> {
        self.runtime.block_on(exchange(&mut self.senders[0], request))
    }

    /// A list of requests for each connection.
    ///
    /// # Panics
    /// If an answer is not 200: then nothing was measured.
    pub(crate) fn round(&mut self, requests: Vec<Vec<Request<Bytes>>>) -> Round {
        let total: usize = requests.iter().map(Vec::len).sum();
        let senders = std::mem::take(&mut self.senders);
        self.runtime.block_on(async {
            let start = now();
            let mut running: JoinSet<_> =
                senders.into_iter().zip(requests).map(|(sender, list)| ask_in_turn(sender, list)).collect();
            let mut latencies = Vec::with_capacity(total);
            while let Some(ended) = running.join_next().await {
                let (sender, measured) = ended.expect("every request is answered");
                self.senders.push(sender);
                latencies.extend(measured.iter().map(|latency| latency.as_secs_f64() * 1e6));
            }
            Round { rate: total as f64 / (now() - start).as_secs_f64(), latencies }
        })
    }
}

async fn ask_in_turn(
    mut sender: SendRequest<Full<Bytes>>,
    requests: Vec<Request<Bytes>>,
) -> (SendRequest<Full<Bytes>>, Vec<Duration>) {
    let mut latencies = Vec::with_capacity(requests.len());
    for request in requests {
        let start = now();
        let response = exchange(&mut sender, request).await;
        latencies.push(now() - start);
        assert!(response.status().is_success(), "{response:?}");
    }
    (sender, latencies)
}

async fn exchange(sender: &mut SendRequest<Full<Bytes>>, request: Request<Bytes>) -> Response<Bytes> {
    sender.ready().await.expect("the connection stays open");
    let (parts, body) = sender.send_request(request.map(Full::new)).await.expect("an answer").into_parts();
    Response::from_parts(parts, body.collect().await.expect("a whole answer").to_bytes())
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock; that is what it is for")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
