//! A merchant's listener on this machine, which answers every request in one way.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rustls::{ServerConfig, crypto::ring, pki_types::PrivatePkcs8KeyDer};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

/// A request as it was received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    /// The value of a header; empty when it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next().unwrap_or_default()
    }
}

/// What is answered.
#[derive(Clone)]
pub(crate) struct Answer {
    bytes: String,
    endless: bool,
}

impl Answer {
    /// A status, further headers, and no body.
    pub(crate) fn status(status: &str) -> Self {
        Self::raw(&format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"))
    }

    /// These bytes, and the end of the connection.
    pub(crate) fn raw(bytes: &str) -> Self {
        Self { bytes: bytes.to_owned(), endless: false }
    }

    /// A body that never ends.
    pub(crate) fn endless() -> Self {
        Self { bytes: "HTTP/1.1 200 OK\r\n\r\n".to_owned(), endless: true }
    }
}

pub(crate) struct Receiver {
    base: String,
    got: UnboundedReceiver<Got>,
    cut: UnboundedReceiver<()>,
    count: Arc<AtomicUsize>,
    listening: JoinHandle<()>,
}

#[derive(Clone)]
struct Desk {
    answer: Answer,
    got: UnboundedSender<Got>,
    cut: UnboundedSender<()>,
    count: Arc<AtomicUsize>,
}

impl Receiver {
    pub(crate) async fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        Self::over(base, answer, |desk| {
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(desk.clone().serve(stream));
                }
            })
        })
    }

    /// The same over TLS, and its self-signed certificate.
    pub(crate) async fn start_tls(answer: Answer) -> (Self, Vec<u8>) {
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = certified.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.into())
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let receiver = Self::over(base, answer, |desk| {
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        tokio::spawn(desk.clone().serve(stream));
                    }
                }
            })
        });
        (receiver, certificate.to_vec())
    }

    fn over(base: String, answer: Answer, listen: impl FnOnce(Desk) -> JoinHandle<()>) -> Self {
        let (got_sender, got) = unbounded_channel();
        let (cut_sender, cut) = unbounded_channel();
        let count = Arc::new(AtomicUsize::new(0));
        let desk = Desk { answer, got: got_sender, cut: cut_sender, count: Arc::clone(&count) };
        Self { base, got, cut, count, listening: listen(desk) }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) fn authority(&self) -> &str {
        self.base.split_once("://").unwrap().1
    }

    /// The next request, when it has come.
    pub(crate) async fn next(&mut self) -> Got {
        self.got.recv().await.unwrap()
    }

    /// How many requests have come.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Whether an answer was cut off by its reader; waits until it is.
    pub(crate) async fn was_cut_off(&mut self) -> bool {
        self.cut.recv().await.is_some()
    }

    /// Listens no more.
    pub(crate) async fn stop(self) {
        self.listening.abort();
        let _ = self.listening.await;
    }
}

impl Desk {
    async fn serve(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let Some(got) = read(&mut stream).await else { return };
        self.count.fetch_add(1, Ordering::SeqCst);
        let _ = self.got.send(got);
        let mut sent = stream.write_all(self.answer.bytes.as_bytes()).await;
        while self.answer.endless && sent.is_ok() {
            sent = stream.write_all(&[b'a'; 4096]).await;
        }
        if sent.is_err() {
            let _ = self.cut.send(());
        }
        let _ = stream.shutdown().await;
    }
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Option<Got> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let got = Got { head: format!("{head}\r\n"), body: body.to_owned() };
            if got.header("content-length").parse::<usize>().is_ok_and(|length| body.len() >= length) {
                return Some(got);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
