//! The sandbox answers any bytes with an error in its own format and keeps running.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use pg_model::{Encoding, Initiate, ServiceError, decode_into};
use pg_tests::shop::{ERROR_PAGE, Shop};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Sends bytes on a new connection and reads the whole response.
async fn send(shop: &Shop, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(shop.server.address()).await.unwrap();
    // The sandbox may close the connection before it has read everything, so a write error is allowed.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply).await;
    String::from_utf8_lossy(&reply).into_owned()
}

fn post(path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

const FORM: &str = "application/x-www-form-urlencoded";

/// Status and error of a reply.
fn error_of(reply: &str) -> (u16, ServiceError) {
    let status = reply.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let mut error = ServiceError::default();
    decode_into(body.as_bytes(), &mut error).unwrap_or_else(|problem| panic!("{problem}: {reply}"));
    (status, error)
}

async fn still_up(shop: &Shop) {
    shop.client.call(&Initiate::new(ERROR_PAGE)).await.expect("the sandbox is up");
}

#[tokio::test]
async fn bodies_that_are_no_forms_get_an_error_in_both_encodings() {
    let shop = Shop::open(Encoding::Json).await;
    let many: String = (0..10_000).map(|number| format!("p{number}=1&")).collect();
    let large = vec![b'a'; 10 * 1024 * 1024];
    let cases: [(&str, &str, &[u8], &str); 8] = [
        ("a content type that is not a form", "application/json", b"{}", "933"),
        ("broken percent-encoding", FORM, b"apiKey=%zz", "930"),
        ("a percent sign at the end", FORM, b"apiKey=%", "930"),
        ("text that is not UTF-8", FORM, b"apiKey=%ff%fe", "930"),
        ("raw bytes that are not UTF-8", FORM, b"apiKey=\xff\xfe", "930"),
        ("a parameter twice", FORM, b"apiKey=a&apiKey=b", "935"),
        ("ten thousand parameters", FORM, many.as_bytes(), "932"),
        ("ten megabytes", FORM, &large, "931"),
    ];
    for (what, content_type, body, code) in cases {
        for encoding in ["xml", "json"] {
            let path = format!("/v3/transaction/auth/{encoding}");
            let reply = send(&shop, &post(&path, content_type, body)).await;
            let (status, error) = error_of(&reply);
            assert_eq!((status, error.error_code.as_str()), (400, code), "{what}, {encoding}: {reply}");
            assert!(reply.to_ascii_lowercase().contains("pg-basis:"), "{what}, {encoding}: {reply}");
            let first = if encoding == "xml" { '<' } else { '{' };
            assert_eq!(reply.split_once("\r\n\r\n").and_then(|(_, body)| body.chars().next()), Some(first), "{what}");
        }
    }
    still_up(&shop).await;
}

// spec: 1 §4.1, A49
#[tokio::test]
async fn wrong_paths_and_methods_get_an_error() {
    let shop = Shop::open(Encoding::Xml).await;
    for (request, code) in [
        (post("/v3/transaction/noSuchMethod", FORM, b"a=b"), "103"),
        (post("/v3/transaction/auth/yaml", FORM, b"a=b"), "104"),
        (post("/v3/transaction/auth/json", FORM, b""), "101"),
        (b"GET /v3/transaction/auth/xml HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".to_vec(), "934"),
    ] {
        let (status, error) = error_of(&send(&shop, &request).await);
        assert_eq!((status, error.error_code.as_str()), (400, code));
    }
    let nowhere = send(&shop, b"GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").await;
    assert!(nowhere.starts_with("HTTP/1.1 404"), "{nowhere}");
    still_up(&shop).await;
}

#[tokio::test]
async fn bytes_that_are_no_http_do_no_harm() {
    let shop = Shop::open(Encoding::Xml).await;
    let endless = b"POST /v3/transaction/auth HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\ncut";
    let header = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(1_000_000));
    for bytes in [&b"\0\xff\r\n\r\n"[..], b"GET", b"", b"POST / HTTP/9.9\r\n\r\n", endless, header.as_bytes()] {
        let reply = send(&shop, bytes).await;
        assert!(!reply.contains("panicked"), "{reply}");
    }
    still_up(&shop).await;
}

#[tokio::test]
async fn a_card_number_never_comes_back_in_an_error() {
    let shop = Shop::open(Encoding::Json).await;
    let body = b"apiKey=4111111111111111&apiPassword=987654&cardNumber=4111111111111111&cardCV2=987654&shaSignature=4111111111111111";
    let reply = send(&shop, &post("/v3/transaction/auth/json", FORM, body)).await;
    assert!(!reply.contains("4111111111111111") && !reply.contains("987654"), "{reply}");
    let reply = send(
        &shop,
        &post("/v3/session/postform/json", FORM, b"sessionKey=4111111111111111&cardNumber=4111111111111111"),
    )
    .await;
    assert!(!reply.contains("4111111111111111"), "{reply}");
}
