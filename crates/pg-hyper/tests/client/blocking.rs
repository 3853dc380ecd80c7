//! The blocking client, within an async task and against a server that never pauses.

use std::{
    convert::Infallible,
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::mpsc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, Error, TransportError, TransportErrorKind, blocking,
    proto::{
        machine::throttle::ThrottleLimits,
        model::{Initiate, TokenLookup},
    },
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
    task,
};

use crate::client::server::{Answer, Server, account};

const SESSION: &str = "<serviceResponse><sessionKey>0123456789abcdef0123456789abcdef</sessionKey></serviceResponse>";

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// tokio lets one poll of a task use 128 times what is ready. All calls are within one poll.
#[test]
fn hundreds_of_calls_within_one_async_task_return() {
    let (send, received) = mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = thread::spawn(move || {
        runtime().block_on(async {
            let server = Server::always(Answer::reply("200 OK", SESSION)).await;
            send.send(server.account()).expect("a test that waits");
            let _ = stopped.await;
            server.requests()
        })
    });
    let client = Client::builder(received.recv().expect("a server"))
        .expect("loopback")
        .limits(ThrottleLimits::unlimited())
        .build();
    let client = blocking::Client::over(client).expect("a thread");
    runtime().block_on(async {
        for _ in 0..300 {
            client.call(&Initiate::new("https://shop.example/error")).expect("a session");
        }
    });
    drop(stop);
    assert_eq!(server.join().expect("no panic"), 300);
}

#[test]
fn a_transport_that_yields_continues_within_an_async_task() {
    let transport = |_: Request<Bytes>| async {
        task::yield_now().await;
        Ok::<_, Infallible>(Response::new(Bytes::from_static(b"<serviceResponse><cardKeyDetails/></serviceResponse>")))
    };
    let client = blocking::Client::over(Client::with_transport(account("https://gateway.example"), transport))
        .expect("a thread");
    let found = runtime().block_on(async { client.call(&TokenLookup::new().card_key("a")) });
    assert!(found.expect("a reply").card_key_details.is_empty());
}

/// Outside a runtime, no budget ends a poll that always finds bytes.
#[test]
fn the_deadline_ends_a_reply_that_never_gets_beyond_interim_heads() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        // A reply before the request would be an error of its own.
        stream.read_exact(&mut [0; 64]).expect("a request");
        let heads = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000);
        // Until the client closes the connection.
        while stream.write_all(&heads).is_ok() {}
    });
    let soon = Duration::from_millis(200);
    let client = Client::builder(account(&format!("http://{address}"))).expect("loopback").deadline(soon).build();
    let client = blocking::Client::over(client).expect("a thread");
    let error = client.call(&Initiate::new("https://shop.example/error")).expect_err("no reply");
    assert!(
        matches!(&error, Error::Transport(TransportError::MaybeSent(TransportErrorKind::Deadline(_)))),
        "{error:?}"
    );
    drop(client);
    server.join().expect("no panic");
}
