//! A peer that answers one request with fixed bytes, or with none.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        mpsc::{Receiver, channel},
    },
    thread::JoinHandle,
};

use pg_hyper::rustls::{
    ServerConfig, ServerConnection, StreamOwned, crypto::ring::default_provider, pki_types::PrivatePkcs8KeyDer,
};

/// A server for one connection.
pub(crate) struct Peer {
    pub(crate) base: String,
    serving: JoinHandle<String>,
}

impl Peer {
    /// Reads a whole request, writes `reply` and closes the connection.
    pub(crate) fn answering(reply: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let reply = reply.to_owned();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let request = read_request(&mut stream);
            stream.write_all(reply.as_bytes()).unwrap();
            request
        });
        Self { base, serving }
    }

    /// The same over TLS, and the certificate to trust.
    pub(crate) fn answering_over_tls(reply: &str) -> (Self, rcgen::Certificate) {
        let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key.into())
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let reply = reply.to_owned();
        let serving = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream);
            let request = read_request(&mut stream);
            stream.write_all(reply.as_bytes()).unwrap();
            stream.conn.send_close_notify();
            stream.flush().unwrap();
            request
        });
        (Self { base, serving }, certified.cert)
    }

    /// Reads a whole request, reports it, and sends nothing until the client disconnects.
    pub(crate) fn silent() -> (Self, Receiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (tell, told) = channel();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let request = read_request(&mut stream);
            tell.send(()).unwrap();
            // It ends well or with a reset; either way the client is gone.
            drop(stream.read_to_end(&mut Vec::new()));
            request
        });
        (Self { base, serving }, told)
    }

    /// The request that came.
    pub(crate) fn request(self) -> String {
        self.serving.join().unwrap()
    }
}

/// A reply with a body.
pub(crate) fn reply(status: &str, content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// An address at which no server listens.
pub(crate) fn closed_address() -> String {
    // The port was free a moment ago, and is again once the listener is dropped.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

pub(crate) fn read_request(stream: &mut impl Read) -> String {
    let mut request = Vec::new();
    let mut part = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        let count = stream.read(&mut part).unwrap();
        assert_ne!(count, 0, "the request ended early");
        request.extend_from_slice(&part[..count]);
    }
}
