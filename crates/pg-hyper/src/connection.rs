//! One connection: opened, used by one request after the other, and driven by whoever waits for the reply.
//!
//! hyper leaves it to its user who drives a connection. To do it in the task that makes the call saves the two switches
//! between tasks that a request costs otherwise, and lets a call that is dropped take its connection along.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::{
    body::{Body, Incoming},
    client::conn::{TrySendError, http1},
};

use crate::{Fault, connector::Stream, held_body::HeldBody};

/// An open connection that speaks HTTP/1.1.
pub(crate) struct Connection {
    sender: http1::SendRequest<HeldBody>,
    driver: Pin<Box<http1::Connection<Stream, HeldBody>>>,
    open: bool,
}

impl Connection {
    pub(crate) async fn over(stream: Stream) -> Result<Self, hyper::Error> {
        // A body holds card data. It is written from the buffer that it came in, which is wiped; one piece made of head and
        // body would stay in hyper's buffer for as long as the connection is kept.
        let (sender, driver) = http1::Builder::new().writev(true).handshake(stream).await?;
        Ok(Self { sender, driver: Box::pin(driver), open: true })
    }

    /// Whether the next request may go over it, as far as can be seen without waiting.
    pub(crate) async fn is_ready(&mut self) -> bool {
        poll_fn(|context| {
            self.drive(context);
            Poll::Ready(self.open && self.sender.is_ready())
        })
        .await
    }

    /// Sends a request and waits for the head of its reply. A request of which nothing was written comes back.
    pub(crate) async fn send(
        &mut self,
        request: Request<HeldBody>,
    ) -> Result<Response<Incoming>, TrySendError<Request<HeldBody>>> {
        let reply = self.sender.try_send_request(request);
        self.driving(reply).await
    }

    /// Reads the whole body of a reply, as long as it keeps to the limit. Most bodies come in one piece, which is not
    /// copied.
    pub(crate) async fn collect(&mut self, mut body: Incoming, limit: usize) -> Result<Bytes, Fault> {
        if body.size_hint().lower() > limit as u64 {
            return Err(Fault::ReplyTooLarge(limit));
        }
        let mut first = Bytes::new();
        let mut whole = BytesMut::new();
        while let Some(frame) = self.driving(body.frame()).await {
            let Ok(piece) = frame.map_err(|error| Fault::Connection(error.into()))?.into_data() else { continue };
            if first.len() + whole.len() + piece.len() > limit {
                return Err(Fault::ReplyTooLarge(limit));
            }
            if first.is_empty() && whole.is_empty() {
                first = piece;
            } else {
                whole.extend_from_slice(&std::mem::take(&mut first));
                whole.extend_from_slice(&piece);
            }
        }
        Ok(if whole.is_empty() { first } else { whole.freeze() })
    }

    /// Waits for something that the connection brings about.
    async fn driving<F: Future>(&mut self, awaited: F) -> F::Output {
        let mut awaited = pin!(awaited);
        poll_fn(|context| {
            self.drive(context);
            // When the connection has ended it has left word of how.
            awaited.as_mut().poll(context)
        })
        .await
    }

    fn drive(&mut self, context: &mut Context<'_>) {
        self.open = self.open && self.driver.as_mut().poll(context).is_pending();
    }
}
