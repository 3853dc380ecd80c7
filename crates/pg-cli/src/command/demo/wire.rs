//! A transport that remembers what went over it, so that the demo shows what was really sent and received.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use pg_hyper::{HyperTransport, Transport, TransportError};

/// Real HTTP over loopback, with a memory. Clones share both.
#[derive(Clone, Default)]
pub(super) struct Wire {
    hyper: HyperTransport,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

/// A request and what came back. Holds what was sent as it was: mask it before it is shown.
pub(super) struct Exchange {
    pub(super) request: Request<Bytes>,
    /// Whether it is the service that sent it: a callback.
    pub(super) callback: bool,
    /// `None` when nothing came back.
    pub(super) reply: Option<Reply>,
}

/// What came back.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Exchange {
    /// A callback, and what it was answered with.
    pub(super) fn callback(request: Request<Bytes>, status: StatusCode) -> Self {
        let reply = Reply { status, headers: HeaderMap::new(), body: Bytes::new() };
        Self { request, callback: true, reply: Some(reply) }
    }
}

impl Reply {
    /// A header's text.
    pub(super) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }
}

impl Wire {
    /// What went over it since the last time.
    pub(super) fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut *self.exchanges.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Transport for Wire {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let result = self.hyper.send(request.clone()).await;
        let reply = result.as_ref().ok().map(|response| Reply {
            status: response.status(),
            headers: response.headers().clone(),
            body: response.body().clone(),
        });
        self.exchanges.lock().unwrap_or_else(PoisonError::into_inner).push(Exchange {
            request,
            callback: false,
            reply,
        });
        result
    }
}
