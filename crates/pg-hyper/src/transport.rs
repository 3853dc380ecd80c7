//! Transports send a request to the service and return its reply.

use std::{error::Error, fmt, future::poll_fn, pin::pin};

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use crate::TransportError;

/// Sends requests: [`HyperTransport`](crate::HyperTransport), a closure, or a [`TowerTransport`].
///
/// A client relies on this:
/// - A request is sent at most once, and redirects are not followed.
/// - [`TransportError::NotSent`] means that the request *certainly* did not reach the service. If in doubt, use
///   `MaybeSent`.
/// - Every request ends. [`HyperTransport`](crate::HyperTransport) has a deadline and a limit for replies. Any other
///   transport needs its own, since the client adds neither. The client needs no runtime of its own either.
/// - The certificate of an https address is checked, also behind a proxy.
///
/// The client passes on no request to an address that is neither https nor on this machine. It judges by the name:
/// if `localhost` may be another machine, the transport has to check the address that it connects to.
///
/// Machines need a transport that can be cloned. They abandon a request only when they are dropped.
///
/// Every closure from a request to a future of a reply is a transport. Its error is a [`TransportError`], or an error
/// that converts to one:
///
/// ```
/// use std::convert::Infallible;
/// use bytes::Bytes;
/// use pg_hyper::{Client, proto::{Account, BaseUrl, Credentials}};
///
/// # let account = Account::new(BaseUrl::parse("https://gateway.example").unwrap(), Credentials::new("k", "p", "s"));
/// let client = Client::with_transport(account, |_: http::Request<Bytes>| async {
///     Ok::<_, Infallible>(http::Response::new(Bytes::from_static(b"<serviceResponse><result>OK</result></serviceResponse>")))
/// });
/// ```
pub trait Transport: Send + Sync {
    /// Sends a request and waits for the complete reply.
    fn send(&self, request: Request<Bytes>) -> impl Future<Output = Result<Response<Bytes>, TransportError>> + Send;
}

impl<F, Reply, E> Transport for F
where
    F: Fn(Request<Bytes>) -> Reply + Send + Sync,
    Reply: Future<Output = Result<Response<Bytes>, E>> + Send,
    E: Into<TransportError>,
{
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self(request).await.map_err(Into::into)
    }
}

/// A tower service as a transport. Each request goes to a clone of it.
///
/// An error from `poll_ready` is a [`TransportError::NotSent`], since the service never saw the request. An error of
/// the call is a `MaybeSent`, unless it is a [`TransportError`] that says otherwise.
#[derive(Clone)]
pub struct TowerTransport<S>(S);

impl<S> TowerTransport<S> {
    /// Wraps a service.
    pub const fn new(service: S) -> Self {
        Self(service)
    }
}

impl<S> Transport for TowerTransport<S>
where
    S: Service<Request<Bytes>, Response = Response<Bytes>> + Clone + Send + Sync,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
{
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let mut service = self.0.clone();
        poll_fn(|context| service.poll_ready(context)).await.map_err(TransportError::not_sent)?;
        pin!(service.call(request)).await.map_err(|error| TransportError::from(error.into()))
    }
}

impl<S> fmt::Debug for TowerTransport<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TowerTransport(…)")
    }
}
