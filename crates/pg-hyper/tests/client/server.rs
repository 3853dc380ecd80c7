//! A server of a few lines on a loopback port: reads whole requests and answers each as the test says.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use pg_hyper::proto::{Account, BaseUrl, Credentials};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpSocket},
};

/// What is sent for one request, and whether the connection is closed after it.
#[derive(Clone)]
pub(crate) struct Answer {
    bytes: Vec<u8>,
    close: bool,
}

/// Serves until the runtime ends.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
}

impl Answer {
    /// These bytes, and the connection stays open.
    pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), close: false }
    }

    /// A whole reply.
    pub(crate) fn reply(status: &str, body: &str) -> Self {
        Self::bytes(format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
    }

    /// Never sends a byte.
    pub(crate) fn silence() -> Self {
        Self::bytes([])
    }

    /// The connection is closed behind it.
    pub(crate) fn then_close(self) -> Self {
        Self { close: true, ..self }
    }
}

impl Server {
    /// Answers every request in the same way.
    pub(crate) async fn always(answer: Answer) -> Self {
        Self::start(move |_| answer.clone()).await
    }

    /// Answers the first request, the second one and so on, counted from 0 over all connections.
    pub(crate) async fn start(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (requests, connections) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let server = Self { address, requests: Arc::clone(&requests), connections: Arc::clone(&connections) };
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                tokio::spawn(serve(stream, move || answer(requests.fetch_add(1, Ordering::SeqCst))));
            }
        });
        server
    }

    /// How many whole requests have come.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// An account at this server.
    pub(crate) fn account(&self) -> Account {
        account(&format!("http://{}", self.address))
    }
}

/// A bound port without a listener: no other program gets it.
pub(crate) fn unanswered_port() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}

/// An account at an address.
pub(crate) fn account(base: &str) -> Account {
    Account::new(BaseUrl::parse(base).expect("an address"), Credentials::new("api-key", "api-password", "sha-key"))
}

/// Serves one connection until it ends.
pub(crate) async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, answer: impl Fn() -> Answer) {
    while read_request(&mut stream).await {
        let Answer { bytes, close } = answer();
        if stream.write_all(&bytes).await.is_err() || close {
            break;
        }
    }
    let _ = stream.shutdown().await;
}

/// Reads one request, head and body; `false` at the end of the connection.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> bool {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or("0", str::trim);
            if body.len() >= length.parse().expect("a number") {
                return true;
            }
        }
        if stream.read_buf(&mut read).await.is_ok_and(|bytes| bytes > 0) {
            continue;
        }
        return false;
    }
}
