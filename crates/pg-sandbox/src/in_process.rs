//! A sandbox inside a test: no socket, and a clock that only the test changes.

use std::{
    fmt,
    future::{Ready, ready},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use tower_service::Service;

use crate::{ResponseDelivery, Sandbox, Timestamp, merchants::Merchant};

/// A sandbox in the caller's process. Clones share it, and its clock.
///
/// It replies as the server would, and a fault has the same effect on the caller as over a network:
/// `drop-request` and `drop-reply` are [`NoReply::Closed`], which look the same to the caller; `delay`
/// advances the clock, and is [`NoReply::Late`] if it exceeds the deadline; `duplicate`,
/// `status` and `garble` are replies.
///
/// It is a [`tower_service::Service`]. Its `poll_ready` fails while the sandbox is unplugged, so a client knows that
/// nothing was sent. Other callers use [`InProcess::send`].
///
/// ```
/// use bytes::Bytes;
/// use http::Request;
/// use pg_sandbox::{InProcess, NoReply, Sandbox, Timestamp};
///
/// let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z")?);
/// let fault = r#"{"method": "token/lookup", "kind": "drop-reply"}"#;
/// sandbox.send(Request::post("/_sandbox/faults").body(Bytes::from(fault))?)?;
/// let lookup = || Request::post("/v3/token/lookup/json").body(Bytes::new());
/// assert_eq!(sandbox.send(lookup()?).unwrap_err(), NoReply::Closed);
/// assert_eq!(sandbox.send(lookup()?)?.status(), 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct InProcess {
    held: Arc<Mutex<Held>>,
}

struct Held {
    sandbox: Sandbox,
    /// The real time of the sandbox.
    now: Timestamp,
    deadline: Duration,
    plugged: bool,
}

/// Why there is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoReply {
    /// The sandbox is unplugged: the request certainly did not arrive.
    #[error("the sandbox is unplugged; the request did not arrive")]
    Unplugged,
    /// The connection was closed without a reply: the request may have been executed.
    #[error("the sandbox closed the connection without a reply")]
    Closed,
    /// The reply was later than the deadline: the request may have been executed.
    #[error("no reply came within {0:?}")]
    Late(Duration),
}

impl NoReply {
    /// Whether the request may have been executed.
    #[must_use]
    pub const fn may_be_executed(self) -> bool {
        !matches!(self, Self::Unplugged)
    }
}

impl InProcess {
    /// The base URL of the version 3 services. Its host does not exist on the Internet, and no request is ever sent
    /// there.
    pub const BASE_URL: &'static str = "http://localhost";
    /// The base URL of the version 5 service.
    pub const ENTERPRISE_BASE_URL: &'static str = "http://localhost/enterprise";

    /// Wraps a sandbox, whose clock shows this instant until it is advanced.
    #[must_use]
    pub fn new(sandbox: Sandbox, now: Timestamp) -> Self {
        let held = Held { sandbox, now, deadline: Duration::from_secs(60), plugged: true };
        Self { held: Arc::new(Mutex::new(held)) }
    }

    /// Sets the deadline for replies, by default 60 seconds.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        self.lock().deadline = deadline;
        self
    }

    /// Returns an account of the sandbox, with its credentials.
    #[must_use]
    pub fn merchant(&self, name: &str) -> Option<Merchant> {
        self.lock().sandbox.settings().merchants.by_name(name).cloned()
    }

    /// Returns the time of the clock outside the sandbox. The sandbox's own clock shows the same, unless the control
    /// interface changed it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.lock().now
    }

    /// Returns the same time as a duration since 1970-01-01T00:00:00Z, for a client's clock.
    #[must_use]
    pub fn unix_time(&self) -> Duration {
        self.now().since(Timestamp::MIN)
    }

    /// Advances the clock.
    pub fn advance(&self, duration: Duration) {
        self.lock().pass(duration);
    }

    /// Unplugs the sandbox: requests do not arrive until [`InProcess::plug_in`].
    pub fn unplug(&self) {
        self.lock().plugged = false;
    }

    /// Plugs the sandbox in again: requests arrive from now on.
    pub fn plug_in(&self) {
        self.lock().plugged = true;
    }

    /// Sends a request, to an absolute URL or a path, and returns the reply.
    ///
    /// # Errors
    /// [`NoReply`] if there is none; a refusal is a reply.
    pub fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, NoReply> {
        let mut held = self.lock();
        if !held.plugged {
            return Err(NoReply::Unplugged);
        }
        let now = held.now;
        let response = held.sandbox.handle(now, as_received(request));
        match ResponseDelivery::of(&response) {
            ResponseDelivery::Send => Ok(response),
            ResponseDelivery::Close => Err(NoReply::Closed),
            ResponseDelivery::SendAfter(delay) => {
                let deadline = held.deadline;
                held.pass(delay.min(deadline));
                if delay > deadline { Err(NoReply::Late(deadline)) } else { Ok(response) }
            }
        }
    }

    /// Passes every due callback to a receiver, and journals the status that it returns.
    /// Returns the number of callbacks.
    ///
    /// The receiver may send requests too. It gets a request with an absolute URL, for which no host was resolved and
    /// no connection opened.
    pub fn deliver(&self, mut receiver: impl FnMut(Request<Bytes>) -> StatusCode) -> usize {
        let mut delivered = 0;
        loop {
            let due = {
                let mut held = self.lock();
                let now = held.now;
                held.sandbox.due(now)
            };
            if due.is_empty() {
                return delivered;
            }
            for outgoing in due {
                let status = receiver(outgoing.request);
                let mut held = self.lock();
                let now = held.now;
                held.sandbox.delivered(now, &outgoing.id, Ok(status));
                delivered += 1;
            }
        }
    }

    /// A caller's panic leaves no partial change: the caller's code never runs under this lock.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn pass(&mut self, duration: Duration) {
        self.now = self.now.plus(duration);
    }
}

/// Returns the request as a server receives it: a path, with the host in a header.
fn as_received(request: Request<Bytes>) -> Request<Bytes> {
    let (mut parts, body) = request.into_parts();
    if let Some(host) = parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
        parts.headers.entry(header::HOST).or_insert(host);
        if let Some(path) = parts.uri.path_and_query().cloned() {
            parts.uri = Uri::from(path);
        }
    }
    Request::from_parts(parts, body)
}

impl Service<Request<Bytes>> for InProcess {
    type Response = Response<Bytes>;
    type Error = NoReply;
    type Future = Ready<Result<Response<Bytes>, NoReply>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoReply>> {
        Poll::Ready(if self.lock().plugged { Ok(()) } else { Err(NoReply::Unplugged) })
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        ready(self.send(request))
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use serde_json::{Value, json};

    use super::*;

    fn held() -> InProcess {
        InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z").unwrap())
    }

    fn control(sandbox: &InProcess, path: &str, body: &Value) -> Value {
        let request = Request::post(format!("{}/_sandbox/{path}", InProcess::BASE_URL));
        let response = sandbox.send(request.body(Bytes::from(body.to_string())).unwrap()).unwrap();
        assert!(response.status().is_success(), "{:?}", response.body());
        serde_json::from_slice(response.body()).unwrap()
    }

    fn lookup(sandbox: &InProcess) -> Result<StatusCode, NoReply> {
        let request = Request::post(format!("{}/v3/token/lookup/json", InProcess::BASE_URL));
        sandbox.send(request.body(Bytes::new()).unwrap()).map(|response| response.status())
    }

    #[test]
    fn clones_share_the_sandbox_and_its_clock() {
        let sandbox = held();
        let clone = sandbox.clone();
        clone.advance(Duration::from_secs(90));
        assert_eq!(sandbox.now(), Timestamp::parse("2026-05-04T10:01:30Z").unwrap());
        assert_eq!(sandbox.unix_time(), Duration::from_secs(1_777_888_890));
        let clock = control(&sandbox, "clock", &json!({"advanceSeconds": 30}));
        assert_eq!(clock["now"], "2026-05-04T10:02:00Z");
        assert_eq!(clone.merchant("main").unwrap().name, "main");
        assert!(clone.merchant("nobody").is_none());
        assert_eq!(format!("{clone:?}"), "InProcess(…)");
    }

    #[test]
    fn an_unplugged_sandbox_gets_nothing() {
        let sandbox = held();
        sandbox.unplug();
        assert_eq!(lookup(&sandbox), Err(NoReply::Unplugged));
        assert!(!NoReply::Unplugged.may_be_executed());
        let mut ready = Context::from_waker(Waker::noop());
        assert_eq!(sandbox.clone().poll_ready(&mut ready), Poll::Ready(Err(NoReply::Unplugged)));
        sandbox.plug_in();
        assert_eq!(lookup(&sandbox), Ok(StatusCode::BAD_REQUEST));
        assert_eq!(sandbox.clone().poll_ready(&mut ready), Poll::Ready(Ok(())));
    }

    #[test]
    fn a_delay_moves_the_clock_up_to_the_deadline() {
        let sandbox = held().deadline(Duration::from_secs(2));
        let start = sandbox.now();
        control(&sandbox, "faults", &json!({"method": "token/lookup", "kind": "delay", "milliseconds": 1500}));
        assert_eq!(lookup(&sandbox), Ok(StatusCode::BAD_REQUEST));
        assert_eq!(sandbox.now().since(start), Duration::from_millis(1500));
        control(&sandbox, "faults", &json!({"method": "token/lookup", "kind": "delay", "milliseconds": 2001}));
        assert_eq!(lookup(&sandbox), Err(NoReply::Late(Duration::from_secs(2))));
        assert_eq!(sandbox.now().since(start), Duration::from_millis(3500));
    }

    #[test]
    fn lost_requests_and_lost_replies_look_alike() {
        let sandbox = held();
        for kind in ["drop-request", "drop-reply"] {
            control(&sandbox, "faults", &json!({"method": "token/lookup", "kind": kind}));
            assert_eq!(lookup(&sandbox), Err(NoReply::Closed), "{kind}");
            assert!(NoReply::Closed.may_be_executed());
        }
    }

    #[test]
    fn a_request_arrives_with_its_host() {
        let request = Request::get("http://localhost/a?b=c").body(Bytes::new()).unwrap();
        let received = as_received(request);
        assert_eq!(
            (received.uri().to_string(), received.headers()["host"].as_bytes()),
            ("/a?b=c".into(), &b"localhost"[..])
        );
        let request = Request::get("/a").header("host", "127.0.0.1").body(Bytes::new()).unwrap();
        assert_eq!(as_received(request).headers()["host"], "127.0.0.1");
    }
}
