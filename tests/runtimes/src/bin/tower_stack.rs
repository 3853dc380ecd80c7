//! A tower stack as the transport of `pg-hyper`'s client, which drives the machine: a time limit, a span for each
//! request, and no retry.
//!
//! ```sh
//! cargo run -p pg-runtimes --bin tower_stack
//! ```
//!
//! Needs: `pg-hyper`, `tower`, `tracing`, and here `hyper-util` with `hyper-rustls` below.

use std::{
    error::Error,
    fmt::Display,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client as Pool, connect::HttpConnector},
    rt::TokioExecutor,
};
use pg_hyper::{Client, TowerTransport, TransportError};
use pg_runtimes::{shop, tls};
use tower::{Service, ServiceBuilder, layer::layer_fn, service_fn};
use tracing::Instrument;

const MOST_BYTES: usize = 1 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    tracing_subscriber::fmt().with_writer(io::stderr).without_time().with_ansi(false).init();
    let https = HttpsConnectorBuilder::new().with_tls_config(tls::config()?).https_or_http().enable_http1().build();
    // By default, this pool resends a request over a new connection if an idle one turns out to be closed.
    let pool = Pool::builder(TokioExecutor::new())
        .retry_canceled_requests(false)
        // A second reply on a connection that is used again would be taken for the next one.
        .pool_max_idle_per_host(0)
        .build(https);

    let stack = ServiceBuilder::new()
        .layer(layer_fn(Traced))
        // No retry layer: it can't know what the machine knows. Elapsed does not say whether the request was sent, so
        // the client treats it as maybe sent.
        .timeout(Duration::from_secs(10))
        .service(service_fn(move |request| send(pool.clone(), request)));

    let client = Client::with_transport(shop::account()?, TowerTransport::new(stack));
    let charged = client.charge(shop::payment())?.bounds(shop::bounds()).await;
    shop::report(&charged);
    Ok(())
}

/// A span around each request. It records the path, which names the method. It omits headers and body, which contain
/// credentials and cards.
#[derive(Clone)]
struct Traced<S>(S);

impl<S> Service<Request<Bytes>> for Traced<S>
where
    S: Service<Request<Bytes>, Response = Response<Bytes>, Error: Display, Future: Send + 'static>,
{
    type Response = Response<Bytes>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Bytes>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let span = tracing::info_span!("request", path = request.uri().path());
        let reply = self.0.call(request);
        let told = async {
            let reply = reply.await;
            match &reply {
                Ok(reply) => tracing::info!(status = reply.status().as_u16(), "a reply"),
                Err(error) => tracing::info!(%error, "no reply"),
            }
            reply
        };
        Box::pin(told.instrument(span))
    }
}

/// The service below the layers: a request that failed while connecting was certainly not sent; after any other error it may have been sent.
async fn send(
    pool: Pool<HttpsConnector<HttpConnector>, Full<Bytes>>,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, TransportError> {
    let reply = pool.request(request.map(Full::new)).await.map_err(|error| {
        if error.is_connect() { TransportError::not_sent(error) } else { TransportError::maybe_sent(error) }
    })?;
    let (head, body) = reply.into_parts();
    let body = Limited::new(body, MOST_BYTES).collect().await.map_err(TransportError::maybe_sent)?;
    Ok(Response::from_parts(head, body.to_bytes()))
}
