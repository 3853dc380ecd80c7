//! Faults as they arrive at a client: over a socket.

use pg_sandbox::{Config, Server, Settings};
use pg_support::signed_form;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::control::order;

async fn exchange(server: &Server, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    answer
}

fn post(path: &str, body: &str, more: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n{more}\r\n{body}",
        body.len()
    )
}

fn pay(reference: &str) -> String {
    post(
        "/v3/transaction/auth/json",
        &signed_form(Settings::default().merchants.by_name("main").unwrap(), &order("100", reference)),
        LAST,
    )
}

const LAST: &str = "Connection: close\r\n";

async fn fault(server: &Server, body: &str) {
    let answer = exchange(server, post("/_sandbox/faults", body, LAST).as_bytes()).await;
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
}

async fn paid(server: &Server, reference: &str) -> usize {
    let body = signed_form(Settings::default().merchants.by_name("main").unwrap(), &[("merchantReference", reference)]);
    let answer = exchange(server, post("/v3/transaction/lookup/json", &body, LAST).as_bytes()).await;
    String::from_utf8(answer).unwrap().matches("\"transactionKey\"").count()
}

#[tokio::test]
async fn a_dropped_call_ends_the_connection_without_a_byte() {
    let server = Server::start(Config::default()).await.unwrap();
    for (kind, executed) in [("drop-request", 0), ("drop-reply", 1)] {
        fault(&server, &format!(r#"{{"method": "transaction/auth", "kind": "{kind}"}}"#)).await;
        assert_eq!(exchange(&server, pay(kind).as_bytes()).await, b"", "{kind}");
        assert_eq!(paid(&server, kind).await, executed, "{kind}");
    }
    let answer = exchange(&server, pay("well").as_bytes()).await;
    assert!(answer.starts_with(b"HTTP/1.1 200 "));
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn an_earlier_reply_on_the_connection_arrives() {
    let server = Server::start(Config::default()).await.unwrap();
    fault(&server, r#"{"method": "transaction/auth", "kind": "drop-reply"}"#).await;
    let clock = "GET /_sandbox/clock HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = String::from_utf8(exchange(&server, (clock.to_owned() + &pay("after")).as_bytes()).await).unwrap();
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    assert!(answer.contains("unixSeconds"));
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_delayed_reply_comes_whole_and_others_do_not_wait_for_it() {
    let server = Server::start(Config::default()).await.unwrap();
    // So long that a test that waited for it would never pass unnoticed.
    fault(&server, r#"{"method": "transaction/auth", "kind": "delay", "delaySeconds": 3600}"#).await;
    let mut waiting = TcpStream::connect(server.address()).await.unwrap();
    waiting.write_all(pay("held").as_bytes()).await.unwrap();
    // It is executed although its reply was not sent yet.
    while paid(&server, "held").await == 0 {}
    fault(&server, r#"{"method": "transaction/auth", "kind": "delay", "milliseconds": 1}"#).await;
    let answer = exchange(&server, pay("late").as_bytes()).await;
    assert!(answer.starts_with(b"HTTP/1.1 200 "));
    drop(waiting);
    drop(server);
}

#[tokio::test]
async fn a_garbled_reply_has_the_length_in_its_head() {
    let server = Server::start(Config::default()).await.unwrap();
    fault(&server, r#"{"method": "transaction/auth", "kind": "garble"}"#).await;
    let answer = exchange(&server, pay("garbled").as_bytes()).await;
    let at = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let (head, body) = (String::from_utf8(answer[..at].to_vec()).unwrap(), &answer[at + 4..]);
    assert!(head.to_lowercase().contains(&format!("content-length: {}", body.len())), "{head}");
    assert!(body.ends_with(b"\xff\xfe<\"{"));
    server.shutdown().await.unwrap();
}
