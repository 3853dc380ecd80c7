//! A body that may be truncated.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::clock;

/// How long the first part has to be sent before the connection is closed.
const FLUSH: Duration = Duration::from_millis(40);

/// A reply's body.
pub(super) struct Reply {
    bytes: Option<Bytes>,
    /// The connection is closed after this time.
    cut: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Reply {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self { bytes: Some(bytes), cut: None }
    }

    /// Returns the number of bytes that are sent.
    pub(super) fn part(bytes: Bytes) -> Self {
        Self { bytes: Some(bytes).filter(|bytes| !bytes.is_empty()), cut: Some(Box::pin(clock::pause(FLUSH))) }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match &mut self.cut {
            None => Poll::Ready(None),
            Some(cut) => cut.as_mut().poll(cx).map(|()| Some(Err(io::Error::other("cut by the drill")))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && self.cut.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.bytes, &self.cut) {
            (_, Some(_)) => SizeHint::default(),
            (bytes, None) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}
