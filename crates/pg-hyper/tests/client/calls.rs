//! Calls that go well, over every kind of transport.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{Context, Poll},
};

use crate::client::server::{Answer, Server, account};
use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, Error, TowerTransport, TransportError,
    proto::{
        RawRequest,
        machine::Reconcile,
        model::{self, Encoding, Initiate, Outcome, Parameters, Session, TokenLookup, Transaction, method},
    },
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

/// Connections in the pool belong to the runtime that opened them, and their timers too.
#[test]
fn a_client_outlives_the_runtime_of_its_connections() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (send, received) = std::sync::mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let server = std::thread::spawn(move || {
        runtime().block_on(async {
            let server = Server::always(Answer::reply("200 OK", SESSION)).await;
            send.send(server.account()).expect("a test that waits");
            let _ = stopped.await;
            (server.requests(), server.connections())
        })
    });
    let client = Client::new(received.recv().expect("a server")).expect("loopback");
    for _ in 0..2 {
        runtime().block_on(client.call(&initiate())).expect("a session");
    }
    drop(stop);
    assert_eq!(server.join().expect("no panic"), (2, 2));
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
