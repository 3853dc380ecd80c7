//! A transport that can be closed, so that a run can end without a request whose outcome is unknown.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{Transport, TransportError};

use crate::transport::RedactingTransport;

/// A transport behind a gate. Clones share the gate.
#[derive(Clone)]
pub(super) struct Gate {
    transport: RedactingTransport,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    shut: AtomicBool,
    /// Requests that were sent, or may have been.
    left: AtomicUsize,
}

impl Gate {
    pub(super) fn new(transport: RedactingTransport) -> Self {
        Self { transport, shared: Arc::default() }
    }

    /// Refuses new requests from now on. Requests in flight continue.
    pub(super) fn shut(&self) {
        self.shared.shut.store(true, Ordering::SeqCst);
    }

    /// Returns the number of requests that were sent, or may have been.
    pub(super) fn left(&self) -> usize {
        self.shared.left.load(Ordering::SeqCst)
    }
}

impl Transport for Gate {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        if self.shared.shut.load(Ordering::SeqCst) {
            return Err(TransportError::not_sent("the run is ending"));
        }
        self.shared.left.fetch_add(1, Ordering::SeqCst);
        let answer = self.transport.send(request).await;
        if matches!(answer, Err(TransportError::NotSent(_))) {
            self.shared.left.fetch_sub(1, Ordering::SeqCst);
        }
        answer
    }
}
