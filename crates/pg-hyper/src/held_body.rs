//! A request body that knows whether the connection has taken it.
//!
//! hyper writes the head of a request and then takes the body, before it writes either to the socket. A body that was
//! never taken therefore proves that at most a head without its body was sent, which no server executes. If a deadline
//! fires at the same moment, one atomic exchange decides: either the connection has the body, or the request is
//! withdrawn.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

const HELD: u8 = 0;
const TAKEN: u8 = 1;
const WITHDRAWN: u8 = 2;
/// An empty body, which hyper never takes.
const EMPTY: u8 = 3;

/// A body of known length that can be withdrawn until the connection takes it. It can be taken once.
pub(crate) struct HeldBody {
    bytes: Bytes,
    state: Arc<AtomicU8>,
}

/// The sender's side of a [`HeldBody`].
pub(crate) struct Hold(Arc<AtomicU8>);

/// The body was withdrawn before the connection took it.
#[derive(Debug, thiserror::Error)]
#[error("the request was withdrawn before it was sent")]
pub(crate) struct Withdrawn;

impl HeldBody {
    pub(crate) fn new(bytes: Bytes) -> (Self, Hold) {
        let state = Arc::new(AtomicU8::new(if bytes.is_empty() { EMPTY } else { HELD }));
        (Self { bytes, state: Arc::clone(&state) }, Hold(state))
    }
}

impl Hold {
    /// Withdraws the body. `true` means that the connection never had the body, and never will. It is always `false`
    /// for an empty body: hyper sends such a request without taking the body.
    pub(crate) fn withdraw(&self) -> bool {
        matches!(self.0.compare_exchange(HELD, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire), Ok(_) | Err(WITHDRAWN))
    }

    /// The same for a request that no connection had, or that a connection returned unwritten: then it is also `true`
    /// for an empty body.
    pub(crate) fn withdraw_unsent(&self) -> bool {
        self.withdraw() || self.0.load(Ordering::Acquire) == EMPTY
    }
}

impl Body for HeldBody {
    type Data = Bytes;
    type Error = Withdrawn;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        if self.bytes.is_empty() {
            return Poll::Ready(None);
        }
        let bytes = std::mem::take(&mut self.bytes);
        let given = self.state.compare_exchange(HELD, TAKEN, Ordering::AcqRel, Ordering::Acquire);
        Poll::Ready(Some(given.map(|_| Frame::data(bytes)).map_err(|_| Withdrawn)))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn ask(body: &mut HeldBody) -> Poll<Option<Result<Frame<Bytes>, Withdrawn>>> {
        Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_body_withdrawn_before_use_is_never_sent() {
        let (mut body, hold) = HeldBody::new(Bytes::from_static(b"a=1"));
        assert!(hold.withdraw());
        assert!(matches!(ask(&mut body), Poll::Ready(Some(Err(Withdrawn)))));
        assert!(hold.withdraw(), "it stays withdrawn");
    }

    #[test]
    fn a_sent_body_is_neither_withdrawn_nor_repeated() {
        let (mut body, hold) = HeldBody::new(Bytes::from_static(b"a=1"));
        assert!(matches!(ask(&mut body), Poll::Ready(Some(Ok(_)))));
        assert!(!hold.withdraw());
        assert!(matches!(ask(&mut body), Poll::Ready(None)));
        assert!(body.is_end_stream());
    }

    #[test]
    fn an_empty_body_proves_nothing_once_a_connection_had_the_request() {
        let (_, hold) = HeldBody::new(Bytes::new());
        assert!(!hold.withdraw());
        assert!(hold.withdraw_unsent());
        let (mut body, hold) = HeldBody::new(Bytes::from_static(b"a=1"));
        assert!(matches!(ask(&mut body), Poll::Ready(Some(Ok(_)))));
        assert!(!hold.withdraw_unsent(), "a body that was given out was sent");
    }
}
