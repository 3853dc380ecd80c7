//! TLS: an untrusted certificate ends the call before a request is sent.

use std::sync::Arc;

use crate::client::server::{Answer, account, serve};
use pg_hyper::{
    Client, Error, HyperTransport, TransportError, TransportErrorKind,
    proto::model::{Initiate, Remedy},
    rustls::{
        ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion,
        crypto::ring::default_provider,
        pki_types::{CertificateDer, PrivatePkcs8KeyDer},
        version::{TLS12, TLS13},
    },
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const SESSION: &str = "<serviceResponse><sessionKey>0123456789abcdef0123456789abcdef</sessionKey></serviceResponse>";

/// Starts a server with a self-signed certificate for `localhost`.
async fn start(version: &'static SupportedProtocolVersion) -> (String, CertificateDer<'static>) {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let certificate = certified.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .expect("a version that ring has")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.into())
        .expect("a certificate and its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("https://localhost:{}", listener.local_addr().expect("an address").port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                tokio::spawn(serve(stream, || Answer::reply("200 OK", SESSION)));
            }
        }
    });
    (base, certificate)
}

#[tokio::test]
async fn an_untrusted_certificate_is_rejected_before_anything_is_sent() {
    let (base, _) = start(&TLS13).await;
    let client = Client::new(account(&base)).expect("https");
    let error = client.call(&Initiate::new("https://shop.example/error")).await.unwrap_err();
    assert!(
        matches!(error, Error::Transport(TransportError::NotSent(TransportErrorKind::Connect { .. }))),
        "{error:?}"
    );
    assert!(error.to_string().contains("its certificate is not of a trusted authority"), "{error}");
    assert_eq!(error.remedy(), Remedy::Retry);
}

#[tokio::test]
async fn both_versions_of_tls_work_with_roots_of_ones_own() {
    for version in [&TLS12, &TLS13] {
        let (base, certificate) = start(version).await;
        let mut roots = RootCertStore::empty();
        roots.add(certificate).expect("a certificate");
        let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions that ring has")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = Client::with_transport(account(&base), HyperTransport::with_tls(tls));
        client.call(&Initiate::new("https://shop.example/error")).await.expect("a session");
    }
}
