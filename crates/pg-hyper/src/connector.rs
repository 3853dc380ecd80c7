//! Opens streams to servers: TCP, with or without TLS.

use std::{error::Error, sync::Arc, time::Duration};
#[cfg(feature = "tls")]
use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http::Uri;
use hyper_util::client::legacy::connect::{HttpConnector, dns::GaiResolver};
use tower_service::Service;

use crate::InsecureAddress;
use crate::records::Records;
#[cfg(feature = "tls")]
use crate::records::Unfinished;

/// How long all addresses of a host together may take to accept a connection, if that is not longer than the time until
/// the deadline. Each address gets an equal part, so that an address that does not respond leaves time for the others.
const CONNECT_TIME: Duration = Duration::from_secs(10);

type Failure = Box<dyn Error + Send + Sync>;

/// The streams over which connections run.
#[cfg(feature = "tls")]
pub(crate) type Stream = hyper_rustls::MaybeHttpsStream<Records>;
#[cfg(not(feature = "tls"))]
pub(crate) type Stream = Records;

/// Opens streams. Clones share everything.
#[derive(Clone)]
pub(crate) struct Connector {
    #[cfg(feature = "tls")]
    tls: Arc<rustls::ClientConfig>,
}

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
        // HTTP/1.1 needs no negotiation, and a server must not choose another protocol.
        tls.alpn_protocols.clear();
        Self { tls: Arc::new(tls) }
    }

    #[cfg(not(feature = "tls"))]
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Opens a stream: with TLS, or to this machine. `left` is the time until the deadline.
    pub(crate) async fn open(&self, uri: Uri, left: Duration) -> Result<Stream, Failure> {
        #[cfg(not(feature = "tls"))]
        if uri.scheme() == Some(&http::uri::Scheme::HTTPS) {
            return Err("pg-hyper was built without the feature tls, which https requires".into());
        }
        let connector = tcp(GaiResolver::new(), left);
        #[cfg(feature = "tls")]
        let connector = hyper_rustls::HttpsConnector::from((Tcp(connector), Arc::clone(&self.tls)));
        let mut connector = connector;
        // Without the feature, the error has another type.
        let stream = connector.call(uri.clone()).await?;
        #[cfg(not(feature = "tls"))]
        let stream = Records::of(stream, false);
        // Without TLS, nothing has been written yet.
        InsecureAddress::check_peer(&uri, tcp_of(&stream).peer_addr()?.ip())?;
        Ok(stream)
    }
}

/// Opens TCP streams whose records are followed if TLS runs over them.
#[cfg(feature = "tls")]
#[derive(Clone)]
struct Tcp(HttpConnector);

#[cfg(feature = "tls")]
impl Service<Uri> for Tcp {
    type Response = Records;
    type Error = <HttpConnector as Service<Uri>>::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Records, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let is_tls = uri.scheme() == Some(&http::uri::Scheme::HTTPS);
        let connecting = self.0.call(uri);
        Box::pin(async move { Ok(Records::of(connecting.await?, is_tls)) })
    }
}

#[cfg(feature = "tls")]
fn records_of(stream: &Stream) -> &Records {
    match stream {
        hyper_rustls::MaybeHttpsStream::Http(stream) => stream,
        hyper_rustls::MaybeHttpsStream::Https(stream) => stream.inner().get_ref().0.inner(),
    }
}

/// Returns the TCP stream below.
pub(crate) fn tcp_of(stream: &Stream) -> &tokio::net::TcpStream {
    #[cfg(feature = "tls")]
    return records_of(stream).tcp();
    #[cfg(not(feature = "tls"))]
    stream.tcp()
}

/// Returns whether a part of a TLS record was received, now and later.
#[cfg(feature = "tls")]
pub(crate) fn unfinished_of(stream: &Stream) -> Unfinished {
    records_of(stream).unfinished()
}

fn tcp<R>(resolver: R, left: Duration) -> HttpConnector<R> {
    let mut tcp = HttpConnector::new_with_resolver(resolver);
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_TIME.min(left)));
    tcp
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::{Ready, ready},
        net::{IpAddr, Ipv4Addr, SocketAddr},
        task::{Context, Poll},
    };

    use hyper_util::client::legacy::connect::dns::Name;
    use socket2::{Domain, Socket, Type};

    use super::*;

    /// A host with these addresses.
    #[derive(Clone)]
    struct Host([SocketAddr; 2]);

    impl Service<Name> for Host {
        type Response = std::array::IntoIter<SocketAddr, 2>;
        type Error = Infallible;
        type Future = Ready<Result<Self::Response, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Name) -> Self::Future {
            ready(Ok(self.0.into_iter()))
        }
    }

    fn socket() -> Socket {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    }

    fn bound(backlog: i32) -> (Socket, SocketAddr) {
        let listener = socket();
        listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        listener.listen(backlog).unwrap();
        let address = listener.local_addr().unwrap().as_socket().unwrap();
        (listener, address)
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_does_not_respond_leaves_time_for_the_next_one() {
        // Nothing is accepted, so the kernel drops further connections once the queue is full.
        let (_full, dark) = bound(0);
        let waiting: Vec<Socket> = (0..8).map(|_| socket()).collect();
        for socket in &waiting {
            // Not established at once: it ends in the queue, or waits.
            let _ = socket.connect(&dark.into());
        }
        let (_listener, open) = bound(8);
        for deadline in [60, 4, 1].map(Duration::from_secs) {
            let mut connector = tcp(Host([dark, open]), deadline);
            let connecting = connector.call(Uri::from_static("http://gateway.example/"));
            let connected = tokio::time::timeout(deadline, connecting).await;
            let stream = connected.expect("within the deadline of a request").expect("a connection");
            assert_eq!(stream.inner().peer_addr().unwrap(), open);
        }
    }

    /// Returns an address of this machine that other machines can reach; `None` without a network. Sends nothing.
    fn outside_address() -> Option<IpAddr> {
        let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
        Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback())
    }

    /// The name `localhost` may have any address.
    #[tokio::test]
    async fn a_stream_without_tls_leads_to_this_machine() {
        let name = Uri::from_static("http://localhost:8480/v3");
        for (peer, is_allowed) in [
            ("127.0.0.1", true),
            ("127.8.0.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("192.0.2.2", false),
            ("::ffff:192.0.2.2", false),
            ("2001:db8::1", false),
            ("0.0.0.0", false),
        ] {
            let peer: IpAddr = peer.parse().unwrap();
            assert_eq!(InsecureAddress::check_peer(&name, peer).is_ok(), is_allowed, "{peer}");
            assert!(InsecureAddress::check_peer(&Uri::from_static("https://gateway.example/"), peer).is_ok());
        }
        for host in [Some(Ipv4Addr::LOCALHOST.into()), outside_address()].into_iter().flatten() {
            let listener = tokio::net::TcpListener::bind((host, 0)).await.unwrap();
            let uri: Uri = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
            let opened = Connector::new().open(uri.clone(), CONNECT_TIME).await;
            assert_eq!(opened.is_ok(), host.is_loopback());
            if let Err(error) = opened {
                let text = format!(
                    "http://{host}, which has the address {host} here, is neither https nor on this machine: card data must not be sent to it"
                );
                assert_eq!(error.downcast::<InsecureAddress>().unwrap().to_string(), text);
            }
        }
    }
}
