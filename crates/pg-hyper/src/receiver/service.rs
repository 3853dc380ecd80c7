//! The receiver as a tower service: handles one request, from any server.

use std::{
    convert::Infallible,
    error::Error,
    fmt, io,
    net::{IpAddr, Ipv4Addr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, header::EXPECT};
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use pg_connections::{BodyError, ConnectionSlot, ConnectionSlots, HeldBody};
use pg_proto::CallbackOutline;
use tokio::time::timeout;
use tower_service::Service;

use super::{
    Endpoint, EndpointPurpose, Notification, ReceiptHandle, ReceiverLimits,
    answer::Answer,
    endpoint::{self, Endpoints},
    notification::InvalidNotification,
    queue::{Content, NotificationQueue},
    shares::Shares,
};

/// Handles the requests of a [`Receiver`](super::Receiver) within your existing server. It accepts bodies of any type,
/// is always ready, and never fails. Clones belong to the same receiver.
///
/// With axum: `Router::new().nest_service("/pg", receiver.service())`. Only the token at the end of the path counts, so
/// the server may keep or remove the prefix.
#[derive(Clone)]
pub struct ReceiverService {
    /// The beginning of the receiver's URLs.
    base: Arc<str>,
    limits: ReceiverLimits,
    endpoints: Arc<Endpoints>,
    notifications: Arc<NotificationQueue>,
    /// The requests that arrive or wait for their receipts, and are not closed in favour of callers without a token.
    unanswered: Shares,
    /// For requests from an existing server.
    places: ConnectionSlots,
}

impl ReceiverService {
    pub(super) fn new(base: &str, limits: ReceiverLimits, notifications: Arc<NotificationQueue>) -> Self {
        let places = ConnectionSlots::new(limits.of_connections());
        let unanswered = Shares::new(limits.connections.max(1));
        Self { base: Arc::default(), limits, endpoints: Arc::default(), notifications, unanswered, places }
            .public_url(base)
    }

    pub(super) fn public_url(self, base: &str) -> Self {
        Self { base: base.trim_end_matches('/').into(), ..self }
    }

    /// As [`Receiver::open`](super::Receiver::open).
    ///
    /// # Errors
    ///
    /// If the system has no random bytes.
    pub fn open(&self, purpose: EndpointPurpose) -> io::Result<Endpoint> {
        Ok(self.endpoints.open(endpoint::token()?, purpose, &self.base))
    }

    /// As [`Receiver::reopen`](super::Receiver::reopen).
    ///
    /// # Errors
    ///
    /// If `token` is malformed.
    pub fn reopen(&self, purpose: EndpointPurpose, token: &str) -> io::Result<Endpoint> {
        if endpoint::is_token(token) {
            Ok(self.endpoints.open(token.to_owned(), purpose, &self.base))
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "a token has 32 hexadecimal digits"))
        }
    }

    /// As [`Receiver::close`](super::Receiver::close).
    pub fn close(&self, endpoint: &Endpoint) {
        self.endpoints.close(endpoint.token());
    }

    pub(super) const fn limits(&self) -> &ReceiverLimits {
        &self.limits
    }

    /// Whether the receiver was dropped.
    pub(super) fn is_over(&self) -> bool {
        self.notifications.is_closed()
    }

    /// Answers a request that has this slot. While the body arrives, the slot may go to another request, but not to one
    /// without a token.
    pub(super) async fn answer_at<B: Body>(
        &self,
        place: &ConnectionSlot,
        request: Request<B>,
    ) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let Some((token, purpose)) = self.endpoints.at(head.uri.path()) else { return Answer::NotFound.response() };
        // A long callback takes seconds to arrive, and is sent once. Requests beyond the share of their address make room
        // like those of strangers, so that it does not block other addresses.
        let share = self.unanswered.take(&token, 1);
        if share.is_some() {
            place.known();
        }
        let limit = self.limits.body_bytes;
        // The reason does not matter, and need not be `Send`.
        let body = body.map_err(drop);
        // A sender that waits until it is asked for its body sends nothing that must be read before the answer.
        let drained = if head.headers.contains_key(EXPECT) { 0 } else { limit };
        let HeldBody { bytes, held, .. } = match pg_connections::read_body(place, body, limit, drained).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => return Answer::TooLarge.response(),
            Err(BodyError::Incomplete) => return Answer::Unreadable.response(),
        };
        place.working();
        let request = Request::from_parts(head, bytes);
        // While it waits for the owner, a notification counts in the queue, and no longer as a body.
        let read = match purpose.read(&request) {
            Ok(notification) => Ok(Content::of(notification, request)),
            Err(why) => {
                if purpose.waits() {
                    self.refused(&token, &request);
                }
                Err(why)
            }
        };
        drop(held);
        let answer = match read {
            Err(InvalidNotification::WrongMethod) => Answer::WrongMethod(purpose.methods()),
            Err(InvalidNotification::Unreadable) => Answer::Unreadable,
            Ok(content) if purpose.waits() => self.acknowledged(place, token, content, share.is_some()).await,
            Ok(content) => match self.notifications.add(token, content, ReceiptHandle::none()) {
                true => Answer::Taken,
                false => Answer::Busy,
            },
        };
        tracing::debug!(target: "pg.receiver", ?answer);
        place.idle();
        answer.response()
    }

    /// Logs and hands out what a refused callback has, so that people learn in which form the service sends it.
    fn refused(&self, token: &str, request: &Request<Bytes>) {
        let outline = CallbackOutline::of(request);
        tracing::warn!(target: "pg.receiver", %outline, "a callback was refused");
        let content = (Content::Read(Notification::Refused(outline)), 0);
        self.notifications.add(token.to_owned(), content, ReceiptHandle::none());
    }

    /// Hands out a callback, and waits for its receipt. A callback beyond the share of its address does not keep its slot.
    async fn acknowledged(
        &self,
        place: &ConnectionSlot,
        token: String,
        content: (Content, usize),
        has_share: bool,
    ) -> Answer {
        let (receipt, received) = ReceiptHandle::awaited();
        if !self.notifications.add(token, content, receipt) {
            return Answer::Busy;
        }
        if !has_share {
            place.idle();
        }
        let answer = in_time(self.limits.receipt, received).await;
        place.working();
        answer
    }
}

impl<B> Service<Request<B>> for ReceiverService
where
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move {
            let answered = timeout(service.limits.time, async {
                // The surrounding server limits its peers, so here they share all slots.
                let Some(place) = service.places.enter(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).await else {
                    return Answer::Busy.response();
                };
                tokio::select! {
                    response = service.answer_at(&place, request) => response,
                    () = place.closed() => Answer::Busy.response(),
                }
            });
            Ok(answered.await.unwrap_or_else(|_| Answer::Busy.response()))
        })
    }
}

impl fmt::Debug for ReceiverService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverService").field("limits", &self.limits).finish_non_exhaustive()
    }
}

async fn in_time(limit: Duration, received: impl Future<Output = bool>) -> Answer {
    match timeout(limit, received).await {
        Ok(true) => Answer::Taken,
        Ok(false) | Err(_) => Answer::Busy,
    }
}
