//! The sandbox as a server with more and more connections, each sending requests without a pause. The client is the thread that
//! measures; it implements only the necessary part of HTTP.

use std::{sync::Arc, time::Instant};

use pg_measure::{Growth, median, quick};
use pg_sandbox::{Config, Server};
use pg_tests::shop::account_at;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{requests::payment, sizes};

pub(crate) fn measure() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config::default().store(pg_sandbox::StoreChoice::File(folder.path().join("store.sqlite")));
    // The server has its own thread.
    let (told, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let server = Server::start(config).await.expect("a sandbox");
            told.send(server.address()).expect("the benchmark waits");
            std::future::pending::<()>().await;
        });
    });
    let address = address.recv().expect("the server starts");
    let account = Arc::new(account_at(&format!("http://{address}"), "main"));
    let growth = Growth::of("connections of the server", "connections", "µs a payment", 0);
    let most = if quick() { 64 } else { 1_000 };
    let mut made = 0_u64;
    for size in sizes(16, most) {
        let each = (8_000 / size).max(4);
        let mut costs = Vec::new();
        runtime.block_on(async {
            let mut streams = Vec::new();
            for _ in 0..size {
                let stream = TcpStream::connect(address).await.expect("a connection");
                stream.set_nodelay(true).expect("a socket");
                streams.push(stream);
            }
            for round in 0..if quick() { 2 } else { 6 } {
                let requests: Vec<Vec<Vec<u8>>> = (0..size)
                    .map(|_| {
                        let next = |made: &mut u64| {
                            *made += 1;
                            let reference = format!("order-{:016x}", made.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                            on_the_wire(&account.request(&payment(1, &reference)).expect("a request"))
                        };
                        (0..each).map(|_| next(&mut made)).collect()
                    })
                    .collect();
                let start = now();
                let mut running = tokio::task::JoinSet::new();
                for (stream, requests) in streams.drain(..).zip(requests) {
                    running.spawn(ask(stream, requests));
                }
                while let Some(stream) = running.join_next().await {
                    streams.push(stream.expect("every request is answered"));
                }
                // The first round warms up.
                if round > 0 {
                    costs.push((now() - start).as_secs_f64() * 1e6 / (size * each) as f64);
                }
            }
        });
        growth.point(size, median(costs));
    }
}

async fn ask(mut stream: TcpStream, requests: Vec<Vec<u8>>) -> TcpStream {
    let mut reply = vec![0; 16 << 10];
    for request in requests {
        stream.write_all(&request).await.expect("a connection that stays open");
        let mut length = 0;
        loop {
            length += stream.read(&mut reply[length..]).await.expect("a connection that stays open");
            if is_whole(&reply[..length]) {
                break;
            }
        }
        assert!(reply.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&reply[..length]));
    }
    stream
}

/// Whether a reply is complete, including its body.
fn is_whole(reply: &[u8]) -> bool {
    let Some(head) = reply.windows(4).position(|end| end == b"\r\n\r\n") else { return false };
    let text = String::from_utf8_lossy(&reply[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    reply.len() >= head + 4 + length.expect("a length")
}

fn on_the_wire(request: &http::Request<bytes::Bytes>) -> Vec<u8> {
    let (uri, body) = (request.uri(), request.body());
    let host = uri.authority().expect("an address");
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n",
        uri.path(),
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock; that is what it is for")]
fn now() -> Instant {
    Instant::now()
}
