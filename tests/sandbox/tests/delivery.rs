//! Callbacks over real HTTP: the server sends them to a receiver on this machine when they are due.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that it calls")]

mod receiver;
mod service;

use pg_sandbox::{Config, OutgoingAccess, Settings, StoreChoice};
use receiver::{Answer, Receiver};
use serde_json::{Value, json};
use service::Service;

#[tokio::test]
async fn a_callback_is_sent_when_the_clock_is_advanced() {
    let mut receiver = Receiver::start(Answer::status("200 OK")).await;
    let service = Service::start(Config::default()).await;
    service.turn(r#"{"speed": 0}"#).await;
    let batch = service.request_batch(&receiver.url("/hook?a=1")).await;
    assert_eq!(service.callbacks().await, json!([]));
    service.turn(r#"{"advanceSeconds": 120}"#).await;
    let got = receiver.next().await;
    assert!(got.head.starts_with("POST /hook?a=1 HTTP/1.1\r\n"), "{}", got.head);
    assert_eq!(got.header("host"), receiver.authority());
    assert_eq!(got.header("content-type"), "application/json; charset=utf-8");
    let said: Value = serde_json::from_str(&got.body).unwrap();
    assert_eq!((&said["batchKey"], &said["cardKeyDetails"][0]["response"]), (&json!(batch), &json!("706")));
    let journaled = service.settled().await;
    assert_eq!((&journaled["status"], &journaled["attempts"]), (&json!("delivered"), &json!(1)));
    assert_eq!(journaled["id"], got.header("pg-callback"));
    service.stop().await;
}

/// An address may have no path (RFC 3986 §3.3), a request line has one.
#[tokio::test]
async fn an_address_needs_no_path() {
    let mut receiver = Receiver::start(Answer::status("200 OK")).await;
    let service = Service::start(Config::default()).await;
    for (address, path) in [("", "/"), ("?shop=7", "/?shop=7"), ("#top", "/")] {
        service.finish_batch(&receiver.url(address)).await;
        let journaled = service.settled().await;
        assert_eq!(journaled["status"], "delivered", "{address:?}: {journaled}");
        assert!(receiver.next().await.head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{address:?}");
    }
    service.stop().await;
}

// spec: 1 §6
#[tokio::test]
async fn a_due_callback_is_sent_without_a_request() {
    let mut receiver = Receiver::start(Answer::status("204 No Content")).await;
    let service = Service::start(Config::default()).await;
    service.turn(r#"{"speed": 100000}"#).await;
    service.request_batch(&receiver.url("/")).await;
    assert!(receiver.next().await.body.contains("706"));
    assert_eq!(service.settled().await["status"], "delivered");
    service.stop().await;
}

#[tokio::test]
async fn a_callback_is_duplicated_and_resent_on_request() {
    let mut receiver = Receiver::start(Answer::status("200 OK")).await;
    let service = Service::start(Config::default()).await;
    service.control("callbacks/behaviour", r#"{"kind": "twice"}"#).await;
    service.finish_batch(&receiver.url("/")).await;
    let (first, second) = (receiver.next().await, receiver.next().await);
    assert_eq!(first, second);
    let id = service.settled().await["id"].as_str().unwrap().to_owned();
    service.control(&format!("callbacks/{id}/redeliver"), "").await;
    assert_eq!(receiver.next().await, first);
    let journaled = service.settled().await;
    assert_eq!((&journaled["status"], &journaled["attempts"]), (&json!("delivered"), &json!(3)));
    service.stop().await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Receiver::start(Answer::status("200 OK")).await;
    let location = format!("302 Found\r\nLocation: {}", elsewhere.url("/"));
    let mut receiver = Receiver::start(Answer::status(&location)).await;
    let service = Service::start(Config::default()).await;
    service.finish_batch(&receiver.url("/")).await;
    receiver.next().await;
    let journaled = service.settled().await;
    assert_eq!((&journaled["status"], &journaled["lastResult"]["status"]), (&json!("failed"), &json!(302)));
    service.stop().await;
    assert_eq!(elsewhere.count(), 0);
}

#[tokio::test]
async fn only_the_beginning_of_a_long_answer_is_read() {
    let mut receiver = Receiver::start(Answer::endless()).await;
    let service = Service::start(Config::default()).await;
    service.finish_batch(&receiver.url("/")).await;
    receiver.next().await;
    assert_eq!(service.settled().await["status"], "delivered");
    // The sandbox has closed the connection, so the receiver could not continue forever.
    assert!(receiver.was_cut_off().await);
    service.stop().await;
}

#[tokio::test]
async fn unreachable_and_unreadable_services_fail_with_their_reason() {
    let stopped = Receiver::start(Answer::status("200 OK")).await;
    let url = stopped.url("/");
    stopped.stop().await;
    let service = Service::start(Config::default()).await;
    service.finish_batch(&url).await;
    let failed = service.settled().await;
    assert!(failed["lastResult"]["error"].as_str().unwrap().starts_with("no connection: "), "{failed}");
    for answer in ["", "this is no HTTP\r\n\r\n"] {
        let mut receiver = Receiver::start(Answer::raw(answer)).await;
        service.finish_batch(&receiver.url("/")).await;
        receiver.next().await;
        let failed = service.settled().await;
        assert_eq!(failed["status"], "failed");
        assert!(failed["lastResult"]["error"].as_str().unwrap().starts_with("no answer: "), "{failed}");
    }
    service.stop().await;
}

// spec: 1 §4.8, A77
#[tokio::test]
async fn tls_requires_a_trusted_certificate() {
    let (mut receiver, certificate) = Receiver::start_tls(Answer::status("200 OK")).await;
    let service = Service::start(Config::default()).await;
    service.finish_batch(&receiver.url("/")).await;
    let failed = service.settled().await;
    let error = failed["lastResult"]["error"].as_str().unwrap();
    assert!(error.starts_with("TLS failed: invalid peer certificate"), "{error}");
    service.stop().await;
    assert_eq!(receiver.count(), 0);

    let outgoing = OutgoingAccess::default().certificate_authorities(vec![certificate]);
    let config = Config::default().settings(Settings::default().outgoing(outgoing));
    let service = Service::start(config).await;
    service.finish_batch(&receiver.url("/secret")).await;
    assert!(receiver.next().await.head.starts_with("POST /secret "));
    assert_eq!(service.settled().await["status"], "delivered");
    service.stop().await;
}

#[tokio::test]
async fn an_unusable_certificate_authority_is_reported_at_once() {
    let outgoing = OutgoingAccess::default().certificate_authorities(vec![b"no certificate".to_vec()]);
    let config = Config::default().settings(Settings::default().outgoing(outgoing));
    let error = pg_sandbox::Server::start(config).await.err().unwrap();
    assert!(error.to_string().starts_with("a certificate authority for callbacks is invalid"), "{error}");
}

#[tokio::test]
async fn a_waiting_callback_is_sent_by_the_next_server() {
    let mut receiver = Receiver::start(Answer::status("200 OK")).await;
    let folder = tempfile::tempdir().unwrap();
    let store = StoreChoice::File(folder.path().join("store.sqlite"));
    let config = || Config::default().store(store.clone());
    let service = Service::start(config()).await;
    service.turn(r#"{"speed": 0}"#).await;
    service.control("callbacks/behaviour", r#"{"kind": "late", "seconds": 60}"#).await;
    let batch = service.finish_batch(&receiver.url("/")).await;
    assert_eq!(service.callbacks().await[0]["status"], "pending");
    service.stop().await;
    assert_eq!(receiver.count(), 0);
    let service = Service::start(config()).await;
    service.turn(r#"{"advanceSeconds": 60}"#).await;
    assert!(receiver.next().await.body.contains(&batch));
    assert_eq!(service.settled().await["status"], "delivered");
    service.stop().await;
}
