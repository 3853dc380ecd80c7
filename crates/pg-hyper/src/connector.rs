//! How connections are opened: TCP, and TLS over it where the address says https.

use std::{
    error::Error,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::ClientConfig;
use tower_service::Service;

type Https = HttpsConnector<HttpConnector>;

/// Opens connections. hyper-util clones its connector twice for every request, and the threads that do so would quarrel
/// over each of the counters in it; so it is one counter here.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Https>);

impl Connector {
    pub(crate) fn new(mut tls: ClientConfig) -> Self {
        // hyper-rustls insists on choosing them itself.
        tls.alpn_protocols.clear();
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        Self(Arc::new(https.wrap_connector(tcp)))
    }
}

impl Service<Uri> for Connector {
    type Response = <Https as Service<Uri>>::Response;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let mut https = Https::clone(&self.0);
        Box::pin(async move {
            poll_fn(|context| https.poll_ready(context)).await?;
            https.call(uri).await
        })
    }
}
