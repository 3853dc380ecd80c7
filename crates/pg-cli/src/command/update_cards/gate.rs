//! A transport that can be shut, so that a run can be ended without a request of unknown end.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{HyperTransport, Transport, TransportError};
use tokio::sync::Notify;

/// Hyper behind a gate. Clones share the gate.
#[derive(Clone)]
pub(super) struct Gate {
    hyper: HyperTransport,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    shut: AtomicBool,
    under_way: AtomicUsize,
    /// Requests that have left this machine, or may have.
    left: AtomicUsize,
    landed: Notify,
}

impl Gate {
    pub(super) fn new(hyper: HyperTransport) -> Self {
        Self { hyper, shared: Arc::default() }
    }

    /// Sends nothing from now on. Requests that are under way go on.
    pub(super) fn shut(&self) {
        self.shared.shut.store(true, Ordering::SeqCst);
    }

    /// How many requests have left this machine, or may have.
    pub(super) fn left(&self) -> usize {
        self.shared.left.load(Ordering::SeqCst)
    }

    /// Waits until no request is under way. Who drives the machine meanwhile has told it by then.
    pub(super) async fn quiet(&self) {
        let landed = self.shared.landed.notified();
        if self.shared.under_way.load(Ordering::SeqCst) > 0 {
            landed.await;
        }
    }
}

impl Transport for Gate {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        if self.shared.shut.load(Ordering::SeqCst) {
            return Err(TransportError::not_sent("the run is being ended"));
        }
        self.shared.under_way.fetch_add(1, Ordering::SeqCst);
        let _landing = Landing(&self.shared);
        self.shared.left.fetch_add(1, Ordering::SeqCst);
        let answer = self.hyper.send(request).await;
        if matches!(answer, Err(TransportError::NotSent(_))) {
            self.shared.left.fetch_sub(1, Ordering::SeqCst);
        }
        answer
    }
}

/// A request under way, until it is dropped.
struct Landing<'a>(&'a Shared);

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        if self.0.under_way.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.landed.notify_waiters();
        }
    }
}
