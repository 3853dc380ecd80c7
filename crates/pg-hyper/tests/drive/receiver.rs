//! Callers that mean no good, or are slow, or come at the wrong time.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use pg_hyper::{
    Client, ConnectionLimits, EndpointPurpose, HyperTransport, Notification, Receiver, ReceiverLimits, Transport,
    TransportError,
    proto::{Account, BaseUrl, Credentials, machine::account_update::UpdatePlan},
    serve_guarded,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

pub(super) async fn receiver(limits: ReceiverLimits) -> Receiver {
    Receiver::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), limits).unwrap()
}

pub(super) async fn send(method: &str, url: &str, body: impl Into<Bytes>) -> Response<Bytes> {
    let request = Request::builder().method(method).uri(url).body(body.into()).unwrap();
    HyperTransport::new().send(request).await.unwrap()
}

#[tokio::test]
async fn only_open_addresses_take_anything() {
    let mut receiver = receiver(ReceiverLimits::default()).await;
    let endpoint = receiver.open(EndpointPurpose::Challenge).unwrap();
    let base = format!("http://{}", receiver.local_address().unwrap());
    for path in ["/", "/challenge", "/00000000000000000000000000000000", &format!("/{}/", endpoint.token())] {
        let reply = send("GET", &format!("{base}{path}"), "").await;
        assert_eq!(reply.status(), StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(send("GET", endpoint.url(), "").await.status(), StatusCode::OK);
    let received = receiver.next().await.unwrap();
    assert_eq!(
        (received.token.as_str(), matches!(received.notification, Notification::Challenged)),
        (endpoint.token(), true)
    );
    receiver.close(&endpoint);
    assert_eq!(send("GET", endpoint.url(), "").await.status(), StatusCode::NOT_FOUND);
    // Another process opens it again.
    assert_eq!(receiver.reopen(EndpointPurpose::Challenge, endpoint.token()).unwrap(), endpoint);
    assert_eq!(send("POST", endpoint.url(), "PaRes=x").await.status(), StatusCode::OK);
    assert!(receiver.reopen(EndpointPurpose::Challenge, "../etc").is_err());
}

#[tokio::test]
async fn refusals_repeat_no_input() {
    let receiver = receiver(ReceiverLimits::default().body_bytes(1000)).await;
    let evil = "%3Cscript%3Ealert(1)%3C/script%3E";
    for (purpose, method, query, body, status) in [
        (EndpointPurpose::CheckoutReturn, "GET", format!("?trans_key={evil}%20"), String::new(), 400),
        (EndpointPurpose::CheckoutReturn, "POST", format!("?trans_key={evil}"), evil.to_owned(), 405),
        (EndpointPurpose::CheckoutCallback, "POST", format!("?{evil}"), evil.to_owned(), 400),
        (EndpointPurpose::CheckoutCallback, "POST", String::new(), format!("trans_key=a&x={}", "a".repeat(2000)), 413),
        (EndpointPurpose::UpdaterCallback, "POST", String::new(), format!("<{evil}"), 400),
        (EndpointPurpose::UpdaterCallback, "SCRIPT", String::new(), String::new(), 405),
        (EndpointPurpose::CardForm, "GET", format!("?{evil}"), String::new(), 400),
        (EndpointPurpose::CheckoutCancel, "GET", format!("?{evil}"), String::new(), 200),
    ] {
        let endpoint = receiver.open(purpose).unwrap();
        let reply = send(method, &format!("{}{query}", endpoint.url()), body).await;
        assert_eq!(reply.status().as_u16(), status, "{purpose:?} {method}");
        let text = String::from_utf8(reply.body().to_vec()).unwrap();
        assert!(!text.contains("script") && text.lines().count() == 1, "{text}");
        let headers = reply.headers();
        assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers.contains_key("allow"), status == 405);
        assert!(headers.values().all(|value| !value.to_str().unwrap().contains("script")));
    }
}

// spec: 3 §6, A121
#[tokio::test]
async fn a_refused_callback_is_shown_without_its_values() {
    let mut receiver = receiver(ReceiverLimits::default()).await;
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    for (method, body, status, shown) in [
        ("POST", "transactionid=4000000000001000", 400, "POST, no content type, fields: transactionid"),
        ("PUT", "trans_key=7", 405, "PUT, no content type, fields: trans_key"),
    ] {
        assert_eq!(send(method, endpoint.url(), body).await.status().as_u16(), status);
        let received = receiver.next().await.unwrap();
        let Notification::Refused(outline) = received.notification else { panic!("refused") };
        assert_eq!(outline.to_string(), shown);
        received.receipt.acknowledge();
    }
    let page = receiver.open(EndpointPurpose::CheckoutReturn).unwrap();
    assert_eq!(send("GET", page.url(), "").await.status().as_u16(), 400, "a browser's request is not shown");
    assert_eq!(send("GET", &format!("{}?trans_key=7", page.url()), "").await.status().as_u16(), 200);
    assert!(matches!(receiver.next().await.unwrap().notification, Notification::Paid(_)));
}

#[tokio::test]
async fn an_endless_body_is_limited() {
    let receiver = receiver(ReceiverLimits::default().body_bytes(1000)).await;
    let endpoint = receiver.open(EndpointPurpose::UpdaterCallback).unwrap();
    let mut stream = TcpStream::connect(receiver.local_address().unwrap()).await.unwrap();
    let head = format!("POST /{} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n", endpoint.token());
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("{:x}\r\n{}\r\n", 4096, "a".repeat(4096));
    while stream.write_all(chunk.as_bytes()).await.is_ok() {}
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply).await;
    assert!(reply.is_empty() || reply.starts_with(b"HTTP/1.1 413"), "{}", String::from_utf8_lossy(&reply));
}

#[tokio::test]
async fn callers_that_say_nothing_make_room_for_others() {
    let limits = ReceiverLimits::default().connections(2).time(Duration::from_secs(3_600));
    let mut receiver = receiver(limits).await;
    let endpoint = receiver.open(EndpointPurpose::Challenge).unwrap();
    let mut silent = Vec::new();
    for _ in 0..5 {
        silent.push(TcpStream::connect(receiver.local_address().unwrap()).await.unwrap());
    }
    assert_eq!(send("GET", endpoint.url(), "").await.status(), StatusCode::OK);
    assert!(receiver.next().await.is_some());
    // Two were closed for the two newest connections, and one for the browser.
    for mut stream in silent.drain(..4) {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
}

#[tokio::test]
async fn excess_callbacks_get_503() {
    let mut receiver = receiver(ReceiverLimits::default().waiting(2)).await;
    let endpoint = receiver.open(EndpointPurpose::Challenge).unwrap();
    for expected in [200, 200, 503, 503] {
        assert_eq!(send("GET", endpoint.url(), "").await.status().as_u16(), expected);
    }
    assert!(receiver.next().await.is_some());
    assert_eq!(send("GET", endpoint.url(), "").await.status().as_u16(), 200);
}

/// The sender of many valid notifications neither keeps those of another address out nor delays them.
#[tokio::test]
async fn one_address_cannot_fill_the_queue_of_the_others() {
    let mut receiver = receiver(ReceiverLimits::default().waiting(4)).await;
    let hostile = receiver.open(EndpointPurpose::Challenge).unwrap();
    let honest = receiver.open(EndpointPurpose::Challenge).unwrap();
    for expected in [200, 200, 200, 200, 503, 503] {
        assert_eq!(send("GET", hostile.url(), "").await.status().as_u16(), expected);
    }
    assert_eq!(send("POST", honest.url(), "PaRes=x").await.status().as_u16(), 200);
    let mut of_honest = Vec::new();
    for _ in 0..5 {
        of_honest.push(receiver.next().await.unwrap().token == honest.token());
    }
    assert_eq!(of_honest, [false, true, false, false, false]);
}

/// Long notifications wait in bounded memory, and one address cannot have all of it.
#[tokio::test]
async fn one_address_cannot_take_the_memory_of_the_others() {
    let receiver = receiver(ReceiverLimits::default().body_bytes(1000)).await;
    let [hostile, honest] = [(); 2].map(|()| receiver.open(EndpointPurpose::CardForm).unwrap());
    let query = format!("?formId=card&iv=y&data={}", "a".repeat(30_000));
    let mut accepted = 0;
    while send("GET", &format!("{}{query}", hostile.url()), "").await.status() == StatusCode::OK {
        accepted += 1;
    }
    assert_eq!(accepted, 9, "of 256 short ones");
    assert_eq!(send("GET", &format!("{}{query}", honest.url()), "").await.status(), StatusCode::OK);
}

fn post(path: &str, body: &'static str) -> Request<http_body_util::Full<Bytes>> {
    Request::post(path).body(http_body_util::Full::new(Bytes::from_static(body.as_bytes()))).unwrap()
}

/// A batch of empty records takes many times its length once it is read: it waits as it was sent.
#[test]
fn callbacks_that_wait_take_no_more_memory_than_their_bodies() {
    use tower_service::Service;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let base = BaseUrl::parse("https://shop.example/pg").unwrap();
    let mut receiver = Receiver::nested(&base, ReceiverLimits::default());
    let endpoint = receiver.open(EndpointPurpose::UpdaterCallback).unwrap();
    let mut service = receiver.service();
    let records = vec![format!(r#"{{"oldCardKey":"{}"}}"#, "a".repeat(16)); 4_000].join(",");
    let body = format!(r#"{{"batchKey":"b1","createdOn":"2026-05-04T10:00:00+00:00","cardKeyDetails":[{records}]}}"#);
    let sent = body.len();
    let counted = allocation_counter::measure(|| {
        runtime.block_on(async {
            for _ in 0..4 {
                let body = http_body_util::Full::new(Bytes::from(body.clone()));
                tokio::spawn(service.call(Request::post(format!("/{}", endpoint.token())).body(body).unwrap()));
            }
            tokio::task::yield_now().await;
        });
    });
    let held = usize::try_from(counted.bytes_current).unwrap();
    assert!((4 * sent..5 * sent).contains(&held), "{held} bytes for 4 callbacks of {sent}");
    let received = runtime.block_on(receiver.next()).unwrap();
    let Notification::Updater(hint) = received.notification else { panic!("a batch") };
    assert_eq!(hint.claimed().card_key_details.len(), 4_000);
}

/// The owner is slow, and one address sends callbacks all the time: they do not take every place of those that are answered.
#[tokio::test(start_paused = true)]
async fn callbacks_of_one_address_that_wait_for_receipts_make_room_for_others() {
    use tower_service::Service;
    let base = BaseUrl::parse("https://shop.example/pg").unwrap();
    let limits = ReceiverLimits::default().connections(4).receipt(Duration::from_secs(3_600));
    let receiver = Receiver::nested(&base, limits);
    let mut service = receiver.service();
    let open = |purpose| format!("/{}", receiver.open(purpose).unwrap().token());
    let hostile = open(EndpointPurpose::CheckoutCallback);
    let flood: Vec<_> = (0..8).map(|_| tokio::spawn(service.call(post(&hostile, "trans_key=a")))).collect();
    let honest = tokio::spawn(service.call(post(&open(EndpointPurpose::CheckoutCallback), "trans_key=b")));
    tokio::task::yield_now().await;
    let reply = service.call(post(&open(EndpointPurpose::Challenge), ""));
    let reply = tokio::time::timeout(Duration::from_secs(1), reply).await.expect("there is a place for it");
    assert_eq!(reply.unwrap().status(), StatusCode::OK);
    tokio::task::yield_now().await;
    assert_eq!(flood.iter().filter(|callback| callback.is_finished()).count(), 6, "those beyond its share");
    assert!(!honest.is_finished(), "it waits for its receipt");
}

/// Its callbacks were not handed out, so the service must not take them for stored.
#[tokio::test(start_paused = true)]
async fn dropped_it_refuses_callbacks_that_still_wait() {
    use tower_service::Service;
    let base = BaseUrl::parse("https://shop.example/pg").unwrap();
    let receiver = Receiver::nested(&base, ReceiverLimits::default());
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    let callback = tokio::spawn(receiver.service().call(post(&format!("/{}", endpoint.token()), "trans_key=abc")));
    tokio::task::yield_now().await;
    drop(receiver);
    assert_eq!(callback.await.unwrap().unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_callback_is_acknowledged_when_its_owner_has_received_it() {
    let mut receiver = receiver(ReceiverLimits::default().receipt(Duration::from_secs(3_600))).await;
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    for (refuse, expected) in [(false, 200), (true, 503)] {
        let url = endpoint.url().to_owned();
        let callback = tokio::spawn(async move { send("POST", &url, "trans_key=abc").await.status().as_u16() });
        let received = receiver.next().await.unwrap();
        assert!(!callback.is_finished() && !format!("{received:?}").contains(endpoint.token()));
        let Notification::Paid(hint) = received.notification else { panic!("a payment") };
        let also = received.receipt.clone();
        assert!(hint.trans_key() == "abc" && !callback.is_finished());
        if refuse {
            received.receipt.refuse();
        } else {
            received.receipt.acknowledge();
        }
        assert_eq!(callback.await.unwrap(), expected);
        // Only the first answer counts.
        also.acknowledge();
    }
    // A process that is killed meanwhile has not answered.
    let url = endpoint.url().to_owned();
    let callback = tokio::spawn(async move {
        let request = Request::post(url).body("trans_key=abc".into()).unwrap();
        HyperTransport::new().send(request).await
    });
    let received = receiver.next().await.unwrap();
    drop(receiver);
    assert!(callback.await.unwrap().is_err());
    drop(received);
}

#[tokio::test]
async fn a_callback_that_its_owner_loses_gets_503() {
    let mut receiver = receiver(ReceiverLimits::default().receipt(Duration::from_secs(3_600))).await;
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    let callback = || {
        let url = endpoint.url().to_owned();
        tokio::spawn(async move { send("POST", &url, "trans_key=abc").await.status().as_u16() })
    };
    let answer = callback();
    let received = receiver.next().await.unwrap();
    let clone = received.receipt.clone();
    drop(received);
    assert!(!answer.is_finished(), "a clone may still acknowledge it");
    drop(clone);
    assert_eq!(answer.await.unwrap(), 503);

    let answer = callback();
    let received = receiver.next().await.unwrap();
    let panics = tokio::spawn(async move {
        let Notification::Updater(_) = received.notification else { panic!("a defect of the owner") };
        received.receipt.acknowledge();
    });
    assert!(panics.await.unwrap_err().is_panic());
    assert_eq!(answer.await.unwrap(), 503);

    let answer = callback();
    let received = receiver.next().await.unwrap();
    let storing = tokio::spawn(async move {
        std::future::pending::<()>().await;
        received.receipt.acknowledge();
    });
    tokio::task::yield_now().await;
    storing.abort();
    assert_eq!(answer.await.unwrap(), 503);
}

#[tokio::test]
async fn an_account_update_refuses_a_callback_about_something_else() {
    let mut receiver = receiver(ReceiverLimits::default().receipt(Duration::from_secs(3_600))).await;
    let account = Account::new(
        BaseUrl::parse("https://gateway.example").unwrap(),
        Credentials::new("key", "password", "sha key"),
    );
    let client = Client::with_transport(account, |_: Request<Bytes>| async {
        Err::<Response<Bytes>, _>(TransportError::not_sent("no cable"))
    });
    let plan = UpdatePlan::new("updater key");
    let mut updating = client.update_accounts(plan, ["a".to_owned()].into_iter()).unwrap();
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    let url = endpoint.url().to_owned();
    let callback = tokio::spawn(async move { send("POST", &url, "trans_key=abc").await.status().as_u16() });
    updating.receive(receiver.next().await.unwrap());
    assert_eq!(callback.await.unwrap(), 503);
}

#[tokio::test]
async fn a_callback_that_is_not_received_in_time_gets_503() {
    let mut receiver = receiver(ReceiverLimits::default().receipt(Duration::from_millis(1))).await;
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    assert_eq!(send("POST", endpoint.url(), "trans_key=abc").await.status().as_u16(), 503);
    assert!(receiver.next().await.is_some(), "and is handed out all the same");
}

#[tokio::test]
async fn behind_a_proxy_its_addresses_begin_as_they_are_known_outside() {
    let base = BaseUrl::parse("https://shop.example/pg/").unwrap();
    let receiver = receiver(ReceiverLimits::default()).await.public_url(&base);
    let endpoint = receiver.open(EndpointPurpose::Challenge).unwrap();
    assert_eq!(endpoint.url(), format!("https://shop.example/pg/{}", endpoint.token()));
    // The proxy passes the whole path on.
    let inside = format!("http://{}/pg/{}", receiver.local_address().unwrap(), endpoint.token());
    assert_eq!(send("GET", &inside, "").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn dropped_it_stops() {
    let receiver = receiver(ReceiverLimits::default()).await;
    let address = receiver.local_address().unwrap();
    let mut open = TcpStream::connect(address).await.unwrap();
    drop(receiver);
    assert_eq!(open.read_to_end(&mut Vec::new()).await.unwrap_or_default(), 0);
    TcpListener::bind(address).await.unwrap();
}

/// The only bytes of a body that arrive.
struct Endless(Option<Bytes>);

impl hyper::body::Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
        match self.0.take() {
            Some(bytes) => std::task::Poll::Ready(Some(Ok(hyper::body::Frame::data(bytes)))),
            None => std::task::Poll::Pending,
        }
    }
}

/// As many requests as it takes at a time, or as many bytes, whose bodies never end: a browser that comes back is answered all the
/// same, before any of them runs out of time.
#[tokio::test(start_paused = true)]
async fn as_a_service_it_abandons_endless_bodies() {
    use tower_service::Service;
    let base = BaseUrl::parse("https://shop.example/pg").unwrap();
    for (connections, bytes) in [(2, 0), (64, 100_000)] {
        let limits = ReceiverLimits::default().connections(connections).body_bytes(100_001);
        let mut receiver = Receiver::nested(&base, limits);
        let endpoint = receiver.open(EndpointPurpose::Challenge).unwrap();
        let mut service = receiver.service();
        let endless: Vec<_> = (0..5)
            .map(|_| {
                let body = Endless(Some(Bytes::from(vec![b'a'; bytes])));
                tokio::spawn(service.call(Request::post(format!("/{}", endpoint.token())).body(body).unwrap()))
            })
            .collect();
        tokio::task::yield_now().await;
        let body = http_body_util::Full::new(Bytes::from(vec![b'a'; 100_000]));
        let reply = service.call(Request::post(format!("/{}", endpoint.token())).body(body).unwrap());
        // The clock stands still unless everything waits for it: a reply that needs a body to run out of time comes later.
        let reply = tokio::time::timeout(Duration::from_secs(1), reply).await.expect("it waits for no limit of time");
        assert_eq!(reply.unwrap().status(), StatusCode::OK);
        assert!(receiver.next().await.is_some());
        // Those that had to go were told so; the others have until their time is over.
        let mut told = 0;
        for hostile in endless {
            told += usize::from(hostile.is_finished());
            assert_eq!(hostile.await.unwrap().unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
        }
        assert!(told >= 1, "{told}");
    }
}

/// Without a port: as a service in another server.
#[tokio::test]
async fn as_a_service_it_accepts_the_same_and_bodies_of_any_kind() {
    use tower_service::Service;
    let base = BaseUrl::parse("https://shop.example/pg").unwrap();
    let limits = ReceiverLimits::default().body_bytes(1000).receipt(Duration::from_secs(3_600));
    let mut receiver = Receiver::nested(&base, limits);
    assert_eq!(receiver.local_address(), None);
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    assert_eq!(endpoint.url(), format!("https://shop.example/pg/{}", endpoint.token()));
    let mut service = receiver.service();
    let mut post = |path: String, body: &str| {
        service.call(Request::post(path).body(http_body_util::Full::new(Bytes::from(body.to_owned()))).unwrap())
    };
    let status = |reply: Result<Response<_>, std::convert::Infallible>| reply.unwrap().status().as_u16();
    // A server that nests it cuts its prefix off, or not.
    for path in [format!("/pg/{}", endpoint.token()), format!("/{}", endpoint.token())] {
        let answer = tokio::spawn(post(path, "trans_key=abc"));
        let received = receiver.next().await.unwrap();
        assert!(!answer.is_finished() && received.token == endpoint.token());
        received.receipt.acknowledge();
        assert_eq!(status(answer.await.unwrap()), 200);
    }
    assert_eq!(status(post("/pg/0123".to_owned(), "trans_key=abc").await), 404);
    assert_eq!(status(post(format!("/{}", endpoint.token()), &"a".repeat(1001)).await), 413);
    drop(receiver);
    assert_eq!(status(post(format!("/{}", endpoint.token()), "trans_key=abc").await), 503);
}

/// Behind a proxy that sees another end of a request, the bytes behind it are those of another customer.
#[tokio::test]
async fn no_request_is_hidden_in_one_that_two_servers_read_differently() {
    for is_guarded in [false, true] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let base = BaseUrl::parse(&format!("http://{address}")).unwrap();
        let mut receiver = if is_guarded {
            let receiver = Receiver::nested(&base, ReceiverLimits::default());
            tokio::spawn(serve_guarded(listener, ConnectionLimits::default(), receiver.service()));
            receiver
        } else {
            Receiver::on(listener, ReceiverLimits::default()).unwrap()
        };
        let [carrier, hidden, last] = [(); 3].map(|()| receiver.open(EndpointPurpose::Challenge).unwrap());
        let hidden_request = format!("GET /{} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", hidden.token());
        for smuggled in pg_support::smuggled(&format!("POST /{}", carrier.token()), &hidden_request) {
            let mut stream = TcpStream::connect(address).await.unwrap();
            // The server may refuse it before it has read everything.
            let _ = stream.write_all(&smuggled.bytes).await;
            let _ = stream.shutdown().await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
            assert_eq!(send("GET", last.url(), "").await.status(), StatusCode::OK);
            let mut found = false;
            loop {
                let token = receiver.next().await.unwrap().token;
                found |= token == hidden.token();
                if token == last.token() {
                    break;
                }
            }
            // On its own port it answers one request a connection.
            assert_eq!(found, smuggled.is_plain && is_guarded, "{}", smuggled.shape);
        }
    }
}
