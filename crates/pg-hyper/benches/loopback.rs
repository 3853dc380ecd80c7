//! What a call costs beside the HTTP client under it: 32 calls at once over loopback, against hyper-util's legacy client
//! doing a bare POST of the same bytes to the same server.

use std::{convert::Infallible, hint::black_box, net::SocketAddr, thread, time::Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    client::legacy::{Client as Legacy, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use pg_hyper::{
    Client,
    proto::{
        Account, BaseUrl, Credentials,
        machine::throttle::ThrottleLimits,
        model::{AuthSessionKey, Currency, Encoding, Item, Order},
    },
};
use pg_measure::{Bounds, median, note, process_seconds, processor_seconds, quick, ratio};
use tokio::{net::TcpListener, runtime};

const AT_ONCE: usize = 32;
const CALLS_EACH: usize = 40;
const ROUNDS: usize = 41;
const FEW_ROUNDS: usize = 3;
const REPLY: &[u8] = br#"{"transactionStatusCode":"600","transactionStatus":"Transaction approved","transactionType":"Auth","transactionKey":"0123456789abcdef0123456789abcdef","bankAuthCode":"889433"}"#;

fn main() {
    let address = serve();
    let client = runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    client.block_on(async {
        let base = BaseUrl::parse(&format!("http://{address}")).expect("an address");
        let account = Account::new(base, Credentials::new("0123456789abcdef0123456789abcdef", "s3cret", "5f2b8c9d"));
        let builder = Client::builder(account.encoding(Encoding::Json)).expect("loopback is private");
        let ours = builder.limits(ThrottleLimits::unlimited()).build();
        let bare = Legacy::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(AT_ONCE)
            .build::<_, Full<Bytes>>(connector());
        let request = ours.account().request(&payment()).expect("a valid request");

        let (mut ratios, mut calls, mut posts) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..=if quick() { FEW_ROUNDS } else { ROUNDS } {
            let (with, without) = if round % 2 == 0 {
                let with = calls_a_second(&ours).await;
                (with, posts_a_second(&bare, &request, &mut posts).await)
            } else {
                let without = posts_a_second(&bare, &request, &mut posts).await;
                (calls_a_second(&ours).await, without)
            };
            // The first round opens the connections.
            if round > 0 {
                ratios.push(with / without);
                calls.push(with);
            }
        }
        ratio("client calls over loopback, 32 at once", median(ratios), Bounds::at_least(0.95, 1.0));
        println!("  {:.0} calls a second, on the cores that the server has too", median(calls));
        let (post, own) = (median(posts) * 1e6, codec_seconds(ours.account()) * 1e6);
        note(&format!(
            "A bare POST over loopback takes {post:.1} µs of processor time, client and server together. To sign and encode a call's \
             request and to decode its reply takes {own:.1} µs. So even a client that adds nothing else reaches at most {:.3} of the bare \
             rate.",
            post / (post + own)
        ));
    });
}

fn payment() -> AuthSessionKey {
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499).quantity(2)).unique_merchant_reference("order-7");
    AuthSessionKey::new("0123456789abcdef0123456789abcdef", order)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock; that is what it is for")]
async fn calls_a_second(client: &Client) -> f64 {
    let start = Instant::now();
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let payment = payment();
                for _ in 0..CALLS_EACH {
                    assert!(client.call(&payment).await.expect("a reply").is_approved());
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.expect("no panic");
    }
    (AT_ONCE * CALLS_EACH) as f64 / start.elapsed().as_secs_f64()
}

type Bare = Legacy<HttpConnector, Full<Bytes>>;

/// Sends at once, as ours does.
fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock; that is what it is for")]
async fn posts_a_second(client: &Bare, request: &Request<Bytes>, seconds_each: &mut Vec<f64>) -> f64 {
    let (start, processor) = (Instant::now(), process_seconds());
    let workers: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (client, request) = (client.clone(), request.clone());
            tokio::spawn(async move {
                for _ in 0..CALLS_EACH {
                    let reply = client.request(request.clone().map(Full::new)).await.expect("a reply");
                    let body = reply.into_body().collect().await.expect("a body").to_bytes();
                    assert_eq!(body.len(), REPLY.len());
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.expect("no panic");
    }
    seconds_each.push((process_seconds() - processor) / (AT_ONCE * CALLS_EACH) as f64);
    (AT_ONCE * CALLS_EACH) as f64 / start.elapsed().as_secs_f64()
}

/// The processor time of what a call does besides its POST.
fn codec_seconds(account: &Account) -> f64 {
    let payment = payment();
    let each = || {
        let start = processor_seconds();
        for _ in 0..AT_ONCE * CALLS_EACH {
            black_box(account.request(black_box(&payment)).expect("a valid request"));
            let response = Response::new(Bytes::from_static(REPLY));
            assert!(account.reply::<AuthSessionKey>(black_box(response)).expect("a reply").is_approved());
        }
        (processor_seconds() - start) / (AT_ONCE * CALLS_EACH) as f64
    };
    median((0..ROUNDS).map(|_| each()).collect())
}

/// A server on its own thread that reads every request and gives one fixed answer.
fn serve() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let runtime = runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            listener.set_nonblocking(true).expect("a socket");
            let listener = TcpListener::from_std(listener).expect("a socket");
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).expect("a socket");
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)));
            }
        });
    });
    address
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    // The body is read to its end, so that the connection can be used again.
    let _ = request.into_body().collect().await;
    Ok(Response::new(Full::new(Bytes::from_static(REPLY))))
}
