//! `reqwest`, with rustls.
//!
//! ```sh
//! cargo run -p pg-runtimes --bin reqwest
//! ```
//!
//! Needs beside `pg-proto`: `bytes`, `http`, `http-body-util`, `tokio`, `reqwest`.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Limited};
use pg_proto::machine::Failure;
use pg_runtimes::{
    driving::{drive_async, maybe_sent, not_sent},
    shop, tls,
};
use reqwest::{Client, redirect::Policy, retry};

const MOST_BYTES: usize = 1 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls::config()?)
        // Sent at most once, to the address that it was signed for, within a time.
        .retry(retry::never())
        .redirect(Policy::none())
        // A second reply on a connection that is used again would be taken for the next one.
        .pool_max_idle_per_host(0)
        // A proxy of the environment would get the card in clear if the service is on this machine, over http.
        .no_proxy()
        .timeout(Duration::from_secs(10))
        .build()?;
    let charged = drive_async(shop::charge()?, async |request| send(&client, request).await, sleep).await;
    shop::report(&charged);
    Ok(())
}

/// After an error of the connection (`is_connect`) or of building the request (`is_builder`) nothing was sent. After
/// any other error the request may have been sent.
async fn send(client: &Client, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let request = request.try_into().map_err(not_sent)?;
    let judged = |error: reqwest::Error| {
        if error.is_connect() || error.is_builder() { not_sent(error) } else { maybe_sent(error) }
    };
    let reply = client.execute(request).await.map_err(judged)?;
    let (head, body) = Response::from(reply).into_parts();
    // Part of a reply arrived, so the service received the request.
    let body = Limited::new(body, MOST_BYTES).collect().await.map_err(maybe_sent)?;
    Ok(Response::from_parts(head, body.to_bytes()))
}

#[expect(clippy::disallowed_methods, reason = "the driver waits, so that machines need not")]
async fn sleep(pause: Duration) {
    tokio::time::sleep(pause).await;
}
