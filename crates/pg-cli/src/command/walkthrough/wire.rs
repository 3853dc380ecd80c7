//! A transport that records its messages, so that a walk shows what was sent and received.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use pg_hyper::{HyperTransport, Transport, TransportError};

/// Real HTTP that records its messages. Clones share the connections and the record.
#[derive(Clone)]
pub(in crate::command) struct Wire {
    hyper: HyperTransport,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

/// A request and its reply. It contains unmasked data: mask the data before showing it.
pub(in crate::command) struct Exchange {
    pub(in crate::command) request: Request<Bytes>,
    /// Whether the service sent it as a callback.
    pub(in crate::command) callback: bool,
    /// `None` without a reply.
    pub(in crate::command) reply: Option<Reply>,
}

/// A reply.
pub(in crate::command) struct Reply {
    pub(in crate::command) status: StatusCode,
    pub(in crate::command) headers: HeaderMap,
    pub(in crate::command) body: Bytes,
}

impl Exchange {
    /// Creates a callback and its response.
    pub(in crate::command) fn callback(request: Request<Bytes>, status: StatusCode) -> Self {
        let reply = Reply { status, headers: HeaderMap::new(), body: Bytes::new() };
        Self { request, callback: true, reply: Some(reply) }
    }
}

impl Reply {
    /// Returns a header's text.
    pub(in crate::command) fn header(&self, name: &str) -> Option<String> {
        self.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }
}

impl Wire {
    /// Creates an empty record of messages over this transport.
    pub(in crate::command) fn new(hyper: HyperTransport) -> Self {
        Self { hyper, exchanges: Arc::default() }
    }

    /// Sets another time limit for connecting, sending and receiving together.
    pub(in crate::command) fn deadline(&self, deadline: std::time::Duration) -> Self {
        Self { hyper: self.hyper.clone().deadline(deadline), exchanges: Arc::clone(&self.exchanges) }
    }

    /// Returns the messages since the last call.
    pub(in crate::command) fn take(&self) -> Vec<Exchange> {
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
