//! TLS to the database, by rustls.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream},
};
use tokio_rustls::TlsConnector;

/// Opens TLS connections, and always checks the certificate and the name in it.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the certificate authorities of a PEM file or, without a file, those that Mozilla trusts.
    pub(super) fn trusting(authorities: Option<&str>) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        match authorities {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(file) => {
                let invalid = |why: &dyn std::fmt::Display| io::Error::other(format!("sslrootcert {file}: {why}"));
                for certificate in CertificateDer::pem_file_iter(file).map_err(|error| invalid(&error))? {
                    let certificate = certificate.map_err(|error| invalid(&error))?;
                    roots.add(certificate).map_err(|error| invalid(&error))?;
                }
                if roots.is_empty() {
                    return Err(invalid(&"it contains no certificate"));
                }
            }
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

/// Connects to one host. The driver asks for it also without TLS, where the host may have no name.
pub(super) struct To {
    config: Arc<ClientConfig>,
    host: String,
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = PostgresStream;
    type TlsConnect = To;
    type Error = Infallible;

    fn make_tls_connect(&mut self, host: &str) -> Result<To, Self::Error> {
        Ok(To { config: Arc::clone(&self.0), host: host.to_owned() })
    }
}

impl TlsConnect<Socket> for To {
    type Stream = PostgresStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<PostgresStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let host = ServerName::try_from(self.host).map_err(io::Error::other)?;
            TlsConnector::from(self.config).connect(host, socket).await.map(PostgresStream)
        })
    }
}

/// A connection to a database under TLS.
#[derive(Debug)]
pub struct PostgresStream(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for PostgresStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for PostgresStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for PostgresStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
