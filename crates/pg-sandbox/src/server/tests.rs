use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::*;

#[cfg(unix)]
mod failed_disk;
mod groups;
mod memory;
mod pipelined;
mod tls;

async fn server() -> Server {
    Server::start(Config::default()).await.unwrap()
}

/// Sends bytes, reads to the end of the connection, and gives the text.
async fn exchange(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    // A server that refuses early may close before everything is sent.
    let _ = stream.write_all(bytes).await;
    if !bytes.starts_with(b"GET /") && !bytes.starts_with(b"POST /") {
        // An incomplete request gets no response before the server knows that no more bytes follow.
        let _ = stream.shutdown().await;
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn head(method: &str, path: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{more}\r\n")
}

fn post(path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let more = format!("Content-Type: {content_type}\r\nContent-Length: {}\r\n", body.len());
    [head("POST", path, &more).as_bytes(), body].concat()
}

fn json(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn the_control_interface_over_a_socket() {
    let server = server().await;
    assert!(server.address().ip().is_loopback() && server.address().port() != 0);
    let merchants = exchange(&server, head("GET", "/_sandbox/merchants", "").as_bytes()).await;
    assert_eq!(json(&merchants)[0]["name"], "main");
    let cards = exchange(&server, head("GET", "/_sandbox/cards", "").as_bytes()).await;
    assert_eq!(json(&cards)[0]["scenario"], "approved");
    let set = br#"{"set": "2026-01-01T00:00:00Z", "speed": 0}"#;
    exchange(&server, &post("/_sandbox/clock", FORM, set)).await;
    let clock = exchange(&server, head("GET", "/_sandbox/clock", "").as_bytes()).await;
    assert_eq!(json(&clock)["now"], "2026-01-01T00:00:00Z");
    server.shutdown().await.unwrap();
}

// spec: codes SandboxErrorCode 931 932 933
#[tokio::test]
async fn bad_bytes_get_an_error_of_the_service_and_it_stays_up() {
    let server = server().await;
    let path = "/v3/token/enable/json";
    let large = vec![b'a'; 10 << 20];
    let many: String = (0..10_000).map(|number| format!("p{number}=1&")).collect();
    for (content_type, body, wanted) in [
        ("application/json", &b"{}"[..], "933"),
        (FORM, &large, "931"),
        (FORM, b"a=%zz", "930"),
        (FORM, b"a=%ff", "930"),
        (FORM, b"a=1&a=2", "935"),
        (FORM, many.as_bytes(), "932"),
        (FORM, b"", "101"),
    ] {
        let answer = exchange(&server, &post(path, content_type, body)).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{wanted}: {answer}");
        assert_eq!(json(&answer)["errorCode"], wanted);
    }
    let get = exchange(&server, head("GET", path, "").as_bytes()).await;
    assert_eq!(json(&get)["errorCode"], "934");
    for garbage in [&b"\x00\xff\x16\x03\x01 not http\r\n\r\n"[..], b"GET\r\n\r\n", b"\r\n\r\n\r\n"] {
        exchange(&server, garbage).await;
    }
    let after = exchange(&server, head("GET", "/_sandbox/cards", "").as_bytes()).await;
    assert!(after.starts_with("HTTP/1.1 200 "));
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_body_that_ends_early_is_no_request() {
    let server = server().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let short = head("POST", "/v3/token/enable", "Content-Type: text/plain\r\nContent-Length: 100\r\n") + "a=1";
    stream.write_all(short.as_bytes()).await.unwrap();
    drop(stream);
    let after = exchange(&server, head("GET", "/_sandbox/cards", "").as_bytes()).await;
    assert!(after.starts_with("HTTP/1.1 200 "));
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_control_call_whose_body_was_not_read_whole_changes_nothing() {
    let server = server().await;
    let long = [br#"{"name": "ci-1"}"#.as_slice(), &[b' '; 2 << 20]].concat();
    for path in ["accounts", "faults"] {
        let answer = exchange(&server, &post(&format!("/_sandbox/{path}"), "application/json", &long)).await;
        let error = json(&answer);
        assert!(answer.starts_with("HTTP/1.1 400 ") && error["code"] == "invalid", "{answer}");
        assert!(error["error"].as_str().unwrap().contains("1048576 bytes"), "{answer}");
    }
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let short = head("POST", "/_sandbox/accounts", "Content-Length: 100\r\n") + "{}";
    stream.write_all(short.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    assert!(!answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let accounts = exchange(&server, head("GET", "/_sandbox/accounts", "").as_bytes()).await;
    assert_eq!(json(&accounts), serde_json::json!([]));
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_body_that_is_too_long_is_not_asked_for() {
    let server = server().await;
    let long = format!("Expect: 100-continue\r\nContent-Type: {FORM}\r\nContent-Length: 999999999\r\n");
    let answer = exchange(&server, head("POST", "/v3/token/enable/json", &long).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(json(&answer)["errorCode"], "931");
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn several_requests_share_a_connection() {
    let server = server().await;
    let one = "GET /_sandbox/clock HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answers = exchange(&server, (one.repeat(3) + &head("GET", "/_sandbox/clock", "")).as_bytes()).await;
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 4);
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_host_that_was_rebound_is_refused() {
    let server = server().await;
    let request = b"GET /_sandbox/merchants HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    let answer = exchange(&server, request).await;
    assert!(answer.starts_with(&format!("HTTP/1.1 {}", StatusCode::FORBIDDEN.as_u16())), "{answer}");
    assert!(!answer.contains("apiKey"));
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn answered_requests_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = StoreChoice::File(folder.path().join("store.sqlite"));
    let config = || Config { store: store.clone(), ..Config::default() };
    let first = Server::start(config()).await.unwrap();
    exchange(&first, &post("/_sandbox/clock", FORM, br#"{"set":"2030-01-01T00:00:00Z","speed":0}"#)).await;
    let second = Server::start(config()).await.err().unwrap();
    assert!(second.to_string().contains("in use"), "{second}");
    first.shutdown().await.unwrap();
    let again = Server::start(config()).await.unwrap();
    let clock = exchange(&again, head("GET", "/_sandbox/clock", "").as_bytes()).await;
    assert_eq!(json(&clock)["now"], "2030-01-01T00:00:00Z");
    again.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_shutdown_ends_idle_connections_and_frees_the_address() {
    let server = server().await;
    let address = server.address();
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET /_sandbox/clock HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut some = [0; 15];
    idle.read_exact(&mut some).await.unwrap();
    server.shutdown().await.unwrap();
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

/// A server with room for few connections and few bytes of bodies.
async fn small_server(connections: usize, body_bytes: u32) -> Server {
    let connections = crate::ConnectionLimits::default().connections(connections).body_bytes(body_bytes);
    let settings = Settings { connections, ..Settings::default() };
    Server::start(Config { settings, ..Config::default() }).await.unwrap()
}

/// Whether the server has closed this connection; waits until it has sent something or closed it.
async fn is_closed(stream: &mut TcpStream) -> bool {
    stream.read(&mut [0; 1]).await.unwrap_or(0) == 0
}

#[tokio::test]
async fn silent_connections_make_room_the_oldest_first() {
    let server = small_server(4, 1 << 20).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        silent.push(TcpStream::connect(server.address()).await.unwrap());
    }
    // Half of a head counts as silence, too.
    silent[7].write_all(b"POST /v3/token/enable HTTP/1.1\r\nHost: ").await.unwrap();
    let answer = exchange(&server, head("GET", "/_sandbox/clock", "").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    for stream in &mut silent[..5] {
        assert!(is_closed(stream).await);
    }
    silent[7].write_all(b"localhost\r\nConnection: close\r\n\r\n").await.unwrap();
    assert!(!is_closed(&mut silent[7]).await, "what is left is served");
    drop(silent);
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn incomplete_bodies_share_a_budget_and_make_room_for_complete_ones() {
    let server = small_server(64, 300_000).await;
    let short = post("/v3/token/enable/json", FORM, &[b'a'; 100_000]);
    let mut waiting = Vec::new();
    for _ in 0..5 {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(&short[..short.len() - 1]).await.unwrap();
        waiting.push(stream);
    }
    let answer = exchange(&server, &post("/v3/token/enable/json", FORM, &[b'a'; 200_000])).await;
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    assert!(is_closed(&mut waiting[0]).await);
    drop(waiting);
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn a_probe_is_answered() {
    let server = server().await;
    for path in ["live", "ready"] {
        let answer = exchange(&server, head("GET", &format!("/_sandbox/health/{path}"), "").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert_eq!(json(&answer)["status"], path);
    }
    server.shutdown().await.unwrap();
}

/// If a proxy sees another end of the request, the bytes after it belong to another caller.
#[tokio::test]
async fn no_request_is_hidden_in_one_that_two_servers_read_differently() {
    let server = server().await;
    let hidden = "GET /_sandbox/clock HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    for smuggled in pg_support::smuggled("POST /v3/token/lookup/json", hidden) {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        // The server may refuse it before it has read everything.
        let _ = stream.write_all(&smuggled.bytes).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let found = String::from_utf8_lossy(&answer).contains("\"speed\"");
        assert_eq!(found, smuggled.is_plain, "{}", smuggled.shape);
    }
    server.shutdown().await.unwrap();
}

/// A caller can write anything into forwarding headers, unless a proxy replaces them. So they determine neither the
/// address that is locked out nor the addresses in replies.
#[tokio::test]
async fn forwarding_headers_change_neither_lockouts_nor_addresses() {
    let server = server().await;
    let lies = |number: usize| {
        format!(
            "X-Forwarded-For: 192.0.2.{number}\r\nX-Real-IP: 192.0.2.{number}\r\nForwarded: for=192.0.2.{number};host=evil.example;proto=https\r\n\
             X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\nX-Original-URL: /_sandbox/merchants\r\nContent-Type: {FORM}\r\n"
        )
    };
    let send = |number: usize, path: &str, body: &str| {
        head("POST", path, &format!("{}Content-Length: {}\r\n", lies(number), body.len())) + body
    };
    let settings = Settings::default();
    let main = settings.merchants.by_name("main").unwrap();
    let enterprise = main.enterprise.as_ref().unwrap();
    let token = format!(
        "version=5&api_key={}&api_password={}&currency=GBP&item_name[0]=Tea&item_price[0]=4.99&item_quantity[0]=1",
        enterprise.api_key.expose(),
        enterprise.api_password.expose()
    );
    let page = exchange(&server, send(0, "/enterprise/gettoken", &token).as_bytes()).await;
    assert!(page.contains("/pay/") && !page.contains("evil.example"), "{page}");
    let mut codes = Vec::new();
    for number in 1..=7 {
        let refused =
            exchange(&server, send(number, "/v3/token/lookup/json", "apiKey=x&apiPassword=y").as_bytes()).await;
        assert!(!refused.contains("evil.example"), "{refused}");
        codes.push(json(&refused)["errorCode"].as_str().unwrap().to_owned());
    }
    assert_eq!((codes[0].as_str(), codes[6].as_str()), ("102", "121"), "{codes:?}");
    server.shutdown().await.unwrap();
}
