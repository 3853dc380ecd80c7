//! Calls that go well, over every kind of transport.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::mpsc,
    task::{Context, Poll},
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::client::server::{Answer, Server, account};
use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, Error, TowerTransport, TransportError,
    proto::{
        Account, RawRequest,
        machine::Reconcile,
        model::{self, Encoding, Initiate, Outcome, Parameters, Session, TokenLookup, Transaction, method},
    },
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
    time::timeout,
};
use tower_service::Service;

const SESSION: &str = "<serviceResponse><sessionKey>0123456789abcdef0123456789abcdef</sessionKey></serviceResponse>";
const PAID: &str = r#"{"transactionStatusCode":"600","transactionStatus":"Transaction approved","transactionType":"Auth","transactionKey":"0123456789abcdef0123456789abcdef"}"#;

fn initiate() -> Initiate {
    Initiate::new("https://shop.example/error")
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::always(Answer::reply("200 OK", SESSION)).await;
    let client = Client::new(server.account()).expect("loopback");
    for _ in 0..3 {
        let session = client.clone().call(&initiate()).await.expect("a session");
        assert_eq!(session.session_key, "0123456789abcdef0123456789abcdef");
    }
    assert_eq!((server.requests(), server.connections()), (3, 1));
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A server on a thread of its own, until [`end`](Self::end).
struct Apart {
    account: Account,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<(usize, usize)>,
}

impl Apart {
    fn start() -> Self {
        let (send, received) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            runtime().block_on(async {
                let server = Server::always(Answer::reply("200 OK", SESSION)).await;
                send.send(server.account()).expect("a test that waits");
                let _ = stopped.await;
                (server.requests(), server.connections())
            })
        });
        Self { account: received.recv().expect("a server"), stop, thread }
    }

    /// Returns how many requests and how many connections there were.
    fn end(self) -> (usize, usize) {
        drop(self.stop);
        self.thread.join().expect("no panic")
    }
}

/// Connections in the pool belong to the runtime that opened them, and their timers too.
#[test]
fn a_client_outlives_the_runtime_of_its_connections() {
    let server = Apart::start();
    let client = Client::new(server.account.clone()).expect("loopback");
    for _ in 0..2 {
        runtime().block_on(client.call(&initiate())).expect("a session");
    }
    assert_eq!(server.end(), (2, 2));
}

/// Threads of a program without async: each has a runtime, which only runs while it waits for a call.
#[test]
fn runtimes_that_share_a_client_do_not_wait_for_connections_of_each_other() {
    let server = Apart::start();
    let client = Client::new(server.account.clone()).expect("loopback");
    let (one, other) = (runtime(), runtime());
    for runtime in [&one, &other, &one, &other] {
        let called = runtime.block_on(async { timeout(Duration::from_secs(30), client.call(&initiate())).await });
        called.expect("no connection of the other runtime").expect("a session");
    }
    assert_eq!(server.end(), (4, 2));
}

/// A program that starts a runtime for each request.
#[test]
fn connections_of_runtimes_that_have_ended_do_not_fill_the_pool() {
    let server = Apart::start();
    let builder = Client::builder(server.account.clone()).expect("loopback");
    let client = builder.pool(2, Duration::from_secs(3_600)).build();
    for _ in 0..3 {
        runtime().block_on(client.call(&initiate())).expect("a session");
    }
    let last = runtime();
    for _ in 0..3 {
        last.block_on(client.call(&initiate())).expect("a session");
    }
    assert_eq!(server.end(), (6, 4));
}

#[tokio::test]
async fn raw_calls_are_read_as_what_the_caller_says() {
    let server = Server::always(Answer::reply("200 OK", PAID)).await;
    let client = Client::new(server.account().encoding(Encoding::Json)).expect("loopback");
    let raw = RawRequest::gateway("preauthCardKey").parameter("cardKey", "4F2C-91").parameter("currency", "GBP");
    let outcome =
        Outcome::read(client.call_raw::<Transaction>(&raw).await.expect("a transaction"), client.account().dialect());
    assert!(outcome.is_approved());
}

#[tokio::test]
async fn calls_by_name_are_read_as_the_tables_say() {
    let server = Server::always(Answer::reply("200 OK", SESSION)).await;
    let client = Client::new(server.account()).expect("loopback");
    let info = method::method("session/initiate").expect("a method");
    let parameters = Parameters::from_iter([("errorPageUrl", "https://shop.example/error")]);
    let record = client.call_by_name(info, parameters).await.expect("a session");
    assert_eq!(model::json::write(&*record), r#"{"sessionKey":"0123456789abcdef0123456789abcdef"}"#);
}

// spec: 1 §4.1, A22: A method that may be repeated is marked so, with the reason.
// spec: 2 §4.4, A130
#[tokio::test]
async fn raw_calls_that_no_table_knows_end_unknown_and_known_ones_as_their_retry_class_says() {
    let client = Client::with_transport(account("https://gateway.example"), |_: Request<Bytes>| {
        ready(Err::<Response<Bytes>, _>(TransportError::maybe_sent("cut")))
    });
    let payment = RawRequest::gateway("preauthCardKey").parameter("uniqueMerchantReference", "order-7");
    let error = client.call_raw::<Transaction>(&payment).await.unwrap_err();
    assert!(matches!(error, Error::Unknown { reconcile: Reconcile::Transaction(_), .. }), "{error:?}");

    let info = method::method("token/lookup").expect("a method");
    let error = client.call_by_name(info, Parameters::new()).await.err().expect("an error");
    assert!(matches!(error, Error::Transport(TransportError::MaybeSent(_))), "{error:?}");
}

#[tokio::test]
async fn a_closure_is_a_transport() {
    let client = Client::with_transport(account("https://gateway.example"), async |request: Request<Bytes>| {
        assert_eq!(request.uri(), "https://gateway.example/v3/session/initiate/xml");
        Ok::<_, Infallible>(Response::new(Bytes::from_static(SESSION.as_bytes())))
    });
    client.call(&initiate()).await.expect("a session");
}

#[tokio::test]
async fn a_tower_service_is_a_transport() {
    let client = |service| Client::with_transport(account("https://gateway.example"), TowerTransport::new(service));
    client(Tower::Answers).call(&initiate()).await.expect("a session");

    for (service, sent) in [(Tower::NeverReady, false), (Tower::Fails, true), (Tower::FailsUnsent, false)] {
        let error = client(service).call(&TokenLookup::new().card_key("4F2C-91")).await.unwrap_err();
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
        assert_eq!(error.may_be_executed(), sent, "{error:?}");
    }
}

#[test]
fn calls_can_be_spawned() {
    fn spawnable<F: Future<Output = Result<Session, Error>> + Send>(_: F) {}
    let client = Client::new(account("https://gateway.example")).expect("https");
    spawnable(client.call(&initiate()));
    spawnable(client.call_raw(&RawRequest::session("initiate")));
}

#[derive(Clone)]
enum Tower {
    Answers,
    NeverReady,
    Fails,
    FailsUnsent,
}

impl Service<Request<Bytes>> for Tower {
    type Response = Response<Bytes>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(if matches!(self, Self::NeverReady) { Err("not ready".into()) } else { Ok(()) })
    }

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        ready(match self {
            Self::Fails => Err("it failed".into()),
            Self::FailsUnsent => Err(TransportError::not_sent("no route").into()),
            _ => Ok(Response::new(Bytes::from_static(SESSION.as_bytes()))),
        })
    }
}
