//! Opens streams to servers: TCP, with or without TLS.

use std::{error::Error, sync::Arc};

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use tower_service::Service;

type Failure = Box<dyn Error + Send + Sync>;

/// What connections run over.
#[cfg(feature = "tls")]
pub(crate) type Stream = hyper_rustls::MaybeHttpsStream<hyper_util::rt::TokioIo<tokio::net::TcpStream>>;
#[cfg(not(feature = "tls"))]
pub(crate) type Stream = hyper_util::rt::TokioIo<tokio::net::TcpStream>;

#[cfg(feature = "tls")]
type Inner = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "tls"))]
type Inner = HttpConnector;

/// Opens streams. Clones share everything.
#[derive(Clone)]
pub(crate) struct Connector(Arc<Inner>);

impl Connector {
    /// TLS trusts the certificate authorities that Mozilla trusts.
    #[cfg(feature = "tls")]
    pub(crate) fn new() -> Self {
        use hyper_rustls::ConfigBuilderExt;

        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has the cipher suites of TLS 1.2 and 1.3");
        Self::with_tls(tls.with_webpki_roots().with_no_client_auth())
    }

    #[cfg(feature = "tls")]
    pub(crate) fn with_tls(mut tls: rustls::ClientConfig) -> Self {
        // hyper-rustls sets them itself and refuses a configuration that has some.
        tls.alpn_protocols.clear();
        let https = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        Self(Arc::new(https.wrap_connector(tcp())))
    }

    #[cfg(not(feature = "tls"))]
    pub(crate) fn new() -> Self {
        Self(Arc::new(tcp()))
    }

    pub(crate) async fn open(&self, uri: Uri) -> Result<Stream, Failure> {
        #[cfg(not(feature = "tls"))]
        if uri.scheme() == Some(&http::uri::Scheme::HTTPS) {
            return Err("pg-hyper was built without the feature tls, which https requires".into());
        }
        let mut connector = Inner::clone(&self.0);
        // Without TLS the error has another type.
        let stream = connector.call(uri).await?;
        Ok(stream)
    }
}

/// Returns the TCP stream below.
pub(crate) fn tcp_of(stream: &Stream) -> &tokio::net::TcpStream {
    #[cfg(feature = "tls")]
    let stream = match stream {
        hyper_rustls::MaybeHttpsStream::Http(stream) => stream,
        hyper_rustls::MaybeHttpsStream::Https(stream) => stream.inner().get_ref().0.inner(),
    };
    stream.inner()
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp
}
