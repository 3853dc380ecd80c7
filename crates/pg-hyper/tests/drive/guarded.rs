//! Services within a server that keeps to limits.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use pg_hyper::{
    BodyError, ConnectionLimits, EndpointPurpose, GuardedBody, Notification, Receiver, ReceiverLimits, proto::BaseUrl,
    serve_guarded, serve_guarded_until,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::receiver::send;

/// A receiver within a server that keeps to limits, and the address that customers come back to.
async fn guarded(limits: ConnectionLimits) -> (Receiver, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/pg", listener.local_addr().unwrap());
    let receiver = Receiver::nested(&BaseUrl::parse(&base).unwrap(), ReceiverLimits::default());
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    tokio::spawn(serve_guarded(listener, limits, receiver.service()));
    (receiver, endpoint.url().to_owned())
}

/// A connection that has sent this.
async fn connected(url: &str, sent: &str) -> TcpStream {
    let (host, _) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(sent.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn within_a_guarded_server_silent_callers_make_room_for_others() {
    let (mut receiver, url) = guarded(ConnectionLimits::default().connections(4)).await;
    let mut silent = Vec::new();
    for sent in [
        "",
        "P",
        "POST /pg HTTP/1.1\r\nhost: a\r\nx-drip: ",
        "POST /pg HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n1",
    ] {
        silent.push(connected(&url, sent).await);
    }
    silent.push(connected(&url, "").await);
    let sent = tokio::spawn(async move { send("POST", &url, "trans_key=4711").await });
    let received = receiver.next().await.unwrap();
    assert!(matches!(&received.notification, Notification::Paid(hint) if hint.trans_key() == "4711"));
    received.receipt.acknowledge();
    assert_eq!(sent.await.unwrap().status(), StatusCode::OK);
    assert_eq!(silent[0].read(&mut [0; 1]).await.unwrap_or(0), 0, "the oldest is closed");
}

#[tokio::test]
async fn within_a_guarded_server_a_request_that_is_being_answered_is_not_closed() {
    let (mut receiver, url) = guarded(ConnectionLimits::default().connections(2)).await;
    let to = url.clone();
    let sent = tokio::spawn(async move { send("POST", &to, "trans_key=4711").await });
    // It is answered once it is acknowledged.
    let received = receiver.next().await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..6 {
        silent.push(connected(&url, "").await);
    }
    // The last but one was closed in favour of the last: the server has seen all of them.
    assert_eq!(silent[4].read(&mut [0; 1]).await.unwrap_or(0), 0);
    received.receipt.acknowledge();
    assert_eq!(sent.await.unwrap().status(), StatusCode::OK);
}

/// A server that is stopped answers what it is answering, closes the others, and ends.
#[tokio::test]
async fn a_guarded_server_that_stops_finishes_the_requests_that_it_is_answering() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let base = BaseUrl::parse(&format!("http://{address}/pg")).unwrap();
    let mut receiver = Receiver::nested(&base, ReceiverLimits::default().receipt(Duration::from_secs(3_600)));
    let url = receiver.open(EndpointPurpose::CheckoutCallback).unwrap().url().to_owned();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopped = async { stopped.await.unwrap_or_default() };
    let server = tokio::spawn(serve_guarded_until(listener, ConnectionLimits::default(), receiver.service(), stopped));
    let mut silent = connected(&url, "").await;
    let mut again = connected(&url, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_ne!(again.read(&mut [0; 4096]).await.unwrap(), 0, "it is answered, and stays open");
    let to = url.clone();
    let sent = tokio::spawn(async move { send("POST", &to, "trans_key=4711").await });
    let received = receiver.next().await.unwrap();
    stop.send(()).unwrap();
    for closed in [&mut silent, &mut again] {
        assert_eq!(closed.read(&mut [0; 1]).await.unwrap_or(0), 0);
    }
    assert!(!server.is_finished() && TcpStream::connect(address).await.is_err());
    received.receipt.acknowledge();
    assert_eq!(sent.await.unwrap().status(), StatusCode::OK);
    server.await.unwrap();
}

/// Answers every request, and tells its path.
#[derive(Clone)]
struct Paths(tokio::sync::mpsc::UnboundedSender<String>);

impl tower_service::Service<Request<GuardedBody>> for Paths {
    type Response = Response<http_body_util::Empty<Bytes>>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<GuardedBody>) -> Self::Future {
        self.0.send(request.uri().path().to_owned()).unwrap();
        std::future::ready(Ok(Response::default()))
    }
}

/// A hundred requests in one write are not all answered before the request of another connection.
#[tokio::test]
async fn requests_of_one_write_let_other_connections_have_their_turn() {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Everything is sent before the server starts.
    let write = |requests: &str| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(requests.as_bytes()).unwrap();
        stream
    };
    let many = write(&"GET /many HTTP/1.1\r\nHost: shop\r\n\r\n".repeat(100));
    let mut one = write("GET /one HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n");
    let (answered, mut paths) = tokio::sync::mpsc::unbounded_channel();
    let server = tokio::spawn(serve_guarded(listener, ConnectionLimits::default(), Paths(answered)));
    let mut before = 0;
    while paths.recv().await.unwrap() == "/many" {
        before += 1;
    }
    assert!(before <= 3, "{before} requests of one write were answered first");
    let reply = tokio::task::spawn_blocking(move || {
        let mut reply = String::new();
        one.read_to_string(&mut reply).map(|_| reply)
    });
    assert!(reply.await.unwrap().unwrap().starts_with("HTTP/1.1 200"));
    server.abort();
    drop(many);
}

/// Reads bodies of up to 64 bytes.
#[derive(Clone)]
struct Reads;

impl tower_service::Service<Request<GuardedBody>> for Reads {
    type Response = Response<http_body_util::Empty<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<GuardedBody>) -> Self::Future {
        Box::pin(async move {
            let mut response = Response::default();
            *response.status_mut() = match request.into_body().read(64).await {
                Ok(body) if body.bytes == "abc" => StatusCode::OK,
                Ok(_) => StatusCode::ACCEPTED,
                Err(BodyError::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
                Err(BodyError::Incomplete) => StatusCode::BAD_REQUEST,
            };
            Ok(response)
        })
    }
}

#[tokio::test]
async fn a_body_that_does_not_arrive_gives_its_room_to_another_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let limits = ConnectionLimits::default().body_bytes(64).free_body_bytes(0);
    tokio::spawn(serve_guarded(listener, limits, Reads));
    let head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n";
    let mut stalled = connected(&url, &format!("{head}expect: 100-continue\r\ncontent-length: 64\r\n\r\n")).await;
    let mut said = [0; 12];
    stalled.read_exact(&mut said).await.unwrap();
    assert_eq!(&said, b"HTTP/1.1 100");
    let long = "a".repeat(65);
    for (rest, status) in [
        ("content-length: 3\r\n\r\nabc", "200"),
        (&*format!("content-length: 65\r\n\r\n{long}"), "413"),
        ("transfer-encoding: chunked\r\n\r\nno length\r\n", "400"),
    ] {
        let mut reply = String::new();
        connected(&url, &format!("{head}{rest}")).await.read_to_string(&mut reply).await.unwrap();
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{rest}: {reply}");
    }
    stalled.read_to_end(&mut Vec::new()).await.unwrap();
}
