//! Callbacks whose bodies arrive late, early or not at all.

use std::time::Duration;

use pg_hyper::{Endpoint, EndpointPurpose, Receiver, ReceiverLimits};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::receiver::receiver;

#[tokio::test]
async fn a_body_that_ends_early_cannot_be_read_and_one_that_is_too_long_is_not_asked_for() {
    let receiver = receiver(ReceiverLimits::default().body_bytes(1000)).await;
    let endpoint = receiver.open(EndpointPurpose::UpdaterCallback).unwrap();
    for (headers, body, status) in [
        ("content-length: 100", "a=1", "HTTP/1.1 400 "),
        ("content-length: 1001\r\nexpect: 100-continue", "", "HTTP/1.1 413 "),
    ] {
        let mut stream = TcpStream::connect(receiver.local_address().unwrap()).await.unwrap();
        let request = format!("POST /{} HTTP/1.1\r\nhost: a\r\n{headers}\r\n\r\n{body}", endpoint.token());
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).await.unwrap();
        assert!(reply.starts_with(status), "{reply}");
    }
}

/// Sends the head of a request with a body, and returns when the receiver asks for the body.
async fn begin(receiver: &Receiver, endpoint: &Endpoint, length: usize) -> TcpStream {
    let mut stream = TcpStream::connect(receiver.local_address().unwrap()).await.unwrap();
    let head = format!(
        "POST /{} HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n",
        endpoint.token()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut asked = *b"HTTP/1.1 100 Continue\r\n\r\n";
    stream.read_exact(&mut asked).await.unwrap();
    assert!(asked.starts_with(b"HTTP/1.1 100 "));
    stream
}

/// A callback about thousands of cards takes seconds, and is sent once.
#[tokio::test]
async fn a_callback_that_arrives_slowly_is_not_closed_for_silent_callers() {
    // The holder of one address cannot do this with all connections.
    for of_one_address in [0, 4] {
        let limits = ReceiverLimits::default().connections(4).time(Duration::from_secs(3_600));
        let receiver = receiver(limits).await;
        let [hostile, honest] = [(); 2].map(|()| receiver.open(EndpointPurpose::Challenge).unwrap());
        let mut incomplete = Vec::new();
        for _ in 0..of_one_address {
            incomplete.push(begin(&receiver, &hostile, 7).await);
        }
        let mut callback = begin(&receiver, &honest, 7).await;
        callback.write_all(b"PaR").await.unwrap();
        let mut silent = Vec::new();
        for _ in 0..8 {
            silent.push(TcpStream::connect(receiver.local_address().unwrap()).await.unwrap());
        }
        let left_for_silent = 4 - 1 - of_one_address / 2;
        for mut stream in silent.drain(..8 - left_for_silent) {
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
        let _ = callback.write_all(b"es=x").await;
        let mut reply = Vec::new();
        let _ = callback.read_to_end(&mut reply).await;
        assert!(reply.starts_with(b"HTTP/1.1 200 "), "{of_one_address}: {}", String::from_utf8_lossy(&reply));
    }
}
