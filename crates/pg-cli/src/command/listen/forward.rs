//! `--forward-to`: each callback is forwarded unchanged to another address, and acknowledged only if that address
//! acknowledges it.

use std::{
    collections::HashMap,
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, Request, Response, StatusCode, Uri, header};
use http_body_util::Empty;
use pg_hyper::{BodyError, ConnectionLimits, GuardedBody, HyperTransport, ReceiverLimits, Transport, serve_guarded};
use pg_proto::BaseUrl;
use tokio::{net::TcpListener, sync::mpsc, time::timeout};
use tower_service::Service;

use super::{confirm::Claim, event::Forwarded};
use crate::transport::connection_advice;

/// Shorter than the ten seconds that the sandbox waits for a response.
pub(super) const DEADLINE: Duration = Duration::from_secs(9);
/// So many bodies of maximum length may be in progress.
const BODIES: u32 = 8;
/// The header with the id of a callback in the sandbox's journal.
const CALLBACK: &str = "pg-callback";
/// Headers that belong to one connection, not to the request (RFC 9110, 7.6.1), and headers that are recomputed.
const OF_A_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::CONTENT_LENGTH,
];

/// An address to which callbacks are forwarded.
#[derive(Clone, Debug)]
pub(super) struct Target(Uri);

impl Target {
    /// Reads an address.
    ///
    /// # Errors
    /// If it is not http or https, or plain HTTP to another machine.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        const FORM: &str = "expected an address such as http://localhost:8000/callbacks";
        let uri: Uri = text.parse().map_err(|_| FORM.to_owned())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(FORM.to_owned()) };
        if authority.as_str().contains('@') {
            return Err("credentials in the address are not supported".to_owned());
        }
        let base = BaseUrl::parse(&format!("{scheme}://{authority}")).map_err(|_| FORM.to_owned())?;
        if base.is_private() {
            Ok(Self(uri))
        } else {
            Err("plain HTTP is allowed on this machine only; use https".to_owned())
        }
    }
}

/// A server that forwards callbacks.
pub(super) struct Forwarding {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    target: Target,
    /// The name of each token's address.
    names: HashMap<String, &'static str>,
    http: HyperTransport,
    limits: ReceiverLimits,
    arrived: mpsc::Sender<Claim>,
}

impl Forwarding {
    /// Listens for callbacks at the addresses with these tokens.
    pub(super) fn new(
        listener: TcpListener,
        target: Target,
        names: HashMap<String, &'static str>,
        http: HyperTransport,
    ) -> (Self, mpsc::Receiver<Claim>) {
        let limits = ReceiverLimits::default();
        let (arrived, arriving) = mpsc::channel(limits.waiting);
        let shared = Shared { target, names, http, limits, arrived };
        (Self { listener, shared: Arc::new(shared) }, arriving)
    }

    /// Returns the listening address.
    pub(super) fn address(listener: &TcpListener) -> std::io::Result<SocketAddr> {
        listener.local_addr()
    }

    /// Serves until it is dropped. A proxy or a tunnel makes all peers look like one.
    pub(super) async fn serve(self) {
        let body_bytes = u32::try_from(self.shared.limits.body_bytes).unwrap_or(u32::MAX).saturating_mul(BODIES);
        let limits = ConnectionLimits::default().per_address(usize::MAX).body_bytes(body_bytes);
        serve_guarded(self.listener, limits, Answers(self.shared)).await;
    }
}

/// Answers requests.
#[derive(Clone)]
struct Answers(Arc<Shared>);

impl Service<Request<GuardedBody>> for Answers {
    type Response = Response<Empty<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<GuardedBody>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let mut response = Response::new(Empty::new());
            *response.status_mut() = answer(request, &shared).await;
            Ok(response)
        })
    }
}

/// Forwards a callback, and returns the status for the service.
async fn answer(request: Request<GuardedBody>, shared: &Shared) -> StatusCode {
    let token = request.uri().path().rsplit('/').next().unwrap_or_default();
    let Some(what) = shared.names.get(token).copied() else { return StatusCode::NOT_FOUND };
    let (parts, body) = request.into_parts();
    let received = timeout(shared.limits.time, async {
        let body = body.read(shared.limits.body_bytes).await.map_err(|error| match error {
            BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::Incomplete => StatusCode::BAD_REQUEST,
        })?;
        // A callback that could not be shown is not acknowledged.
        let place = shared.arrived.reserve().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        Ok((body, place))
    });
    let (body, place) = match received.await.unwrap_or(Err(StatusCode::SERVICE_UNAVAILABLE)) {
        Ok(received) => received,
        Err(status) => return status,
    };
    let request = Request::from_parts(parts, body.bytes);
    let callback = request.headers().get(CALLBACK).and_then(|id| id.to_str().ok()).map(pg_model::mask::text);
    let (status, error) = match shared.http.send(handed_on(&request, &shared.target)).await {
        Ok(response) => (Some(response.status()), None),
        Err(error) => (None, Some(format!("{}{}", error.kind(), connection_advice(&error)))),
    };
    // An interim response is no answer.
    let told = status.filter(|status| !status.is_informational()).unwrap_or(StatusCode::BAD_GATEWAY);
    place.send(Claim::of(what, &request).forwarded(Forwarded {
        to: pg_model::mask::text(&shared.target.0.to_string()),
        status: status.map(|status| status.as_u16()),
        error,
        acknowledged: told.is_success(),
        callback,
    }));
    told
}

/// Sends the same request to the target. A query is appended to that of the target: it may have the fields of a callback.
fn handed_on(request: &Request<Bytes>, target: &Target) -> Request<Bytes> {
    let mut copy = Request::new(request.body().clone());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = with_query(&target.0, request.uri().query().unwrap_or_default());
    for (name, value) in request.headers() {
        if *name != header::HOST && !OF_A_CONNECTION.contains(name) {
            copy.headers_mut().append(name, value.clone());
        }
    }
    copy
}

fn with_query(target: &Uri, query: &str) -> Uri {
    let longer = || {
        let path = target.path_and_query()?;
        let between = if path.query().is_some() { '&' } else { '?' };
        let mut parts = target.clone().into_parts();
        parts.path_and_query = Some(format!("{path}{between}{query}").parse().ok()?);
        Uri::from_parts(parts).ok()
    };
    if query.is_empty() { target.clone() } else { longer().unwrap_or_else(|| target.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_addresses_that_may_be_called() {
        for good in ["http://localhost:8000/callbacks?x=1", "https://shop.example/hook", "http://127.0.0.1:1"] {
            assert!(Target::parse(good).is_ok(), "{good}");
        }
        for (wrong, says) in [
            ("localhost:8000", "expected an address"),
            ("ftp://localhost/", "expected an address"),
            ("http://shop.example/hook", "use https"),
            ("http://a:b@localhost/", "credentials"),
        ] {
            let said = Target::parse(wrong).unwrap_err();
            assert!(said.contains(says), "{wrong}: {said}");
        }
    }

    #[test]
    fn a_callback_is_forwarded_unchanged() {
        let request = Request::post("/token")
            .header("host", "127.0.0.1:8490")
            .header("connection", "close")
            .header("content-type", "application/json")
            .header("pg-callback", "7")
            .body(Bytes::from("{}"))
            .unwrap();
        let copy = handed_on(&request, &Target::parse("http://localhost:8000/hook").unwrap());
        assert_eq!((copy.method().as_str(), copy.uri().to_string()), ("POST", "http://localhost:8000/hook".to_owned()));
        let names: Vec<&str> = copy.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["content-type", "pg-callback"]);
        assert_eq!(copy.body(), "{}");
    }

    #[test]
    fn the_query_of_a_callback_is_forwarded() {
        for (target, expected) in [
            ("http://localhost:8000", "http://localhost:8000/?trans_key=7"),
            ("http://localhost:8000/hook", "http://localhost:8000/hook?trans_key=7"),
            ("http://localhost:8000/hook?x=1", "http://localhost:8000/hook?x=1&trans_key=7"),
        ] {
            let request = Request::get("/token?trans_key=7").body(Bytes::new()).unwrap();
            let copy = handed_on(&request, &Target::parse(target).unwrap());
            assert_eq!((copy.method().as_str(), copy.uri().to_string()), ("GET", expected.to_owned()));
        }
    }
}
