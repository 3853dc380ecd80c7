//! The blocking client within an async task.

use std::{convert::Infallible, sync::mpsc, thread};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    Client, blocking,
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
        Ok::<_, Infallible>(Response::new(Bytes::from_static(b"<serviceResponse/>")))
    };
    let client = blocking::Client::over(Client::with_transport(account("https://gateway.example"), transport))
        .expect("a thread");
    let found = runtime().block_on(async { client.call(&TokenLookup::new().card_key("a")) });
    assert!(found.expect("a reply").card_key_details.is_empty());
}
