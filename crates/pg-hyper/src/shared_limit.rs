//! A limit that several processes share, which a client asks before each request.

use std::{
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
};

use pg_model::{mask, method::ServiceInfo};

use crate::StoreError;

/// A future of a [`SharedLimit`].
pub type LimitFuture<'a, R> = Pin<Box<dyn Future<Output = R> + Send + 'a>>;

/// A limit that several processes share, such as the requests per minute of an account.
///
/// A client [with such a limit](crate::Client::with_shared_limit) asks it before each request of a call or a machine, after its own
/// throttle and before the machine is saved.
pub trait SharedLimit: Send + Sync + 'static {
    /// Waits until one request to this service may be sent. The future may be dropped.
    fn permit<'a>(&'a self, service: &'a ServiceInfo) -> LimitFuture<'a, Result<Box<dyn SharedPermit>, LimitError>>;
}

/// The permission to send one request. If it is dropped, the request may have been sent, and its end is unknown.
pub trait SharedPermit: Send + Sync {
    /// Keeps the permission while the request is in flight. The future never ends; the client drops it when the request
    /// has ended.
    fn keep(&self) -> LimitFuture<'_, ()>;

    /// Reports how the request ended. Awaited before the reply has any effect, except that a machine that is saved after each reply is
    /// saved first, unless the credentials were refused.
    fn landed(self: Box<Self>, end: RequestEnd) -> LimitFuture<'static, ()>;
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestEnd {
    /// The service accepted the credentials.
    Accepted,
    /// The service refused the credentials. With the reason why nothing more may be sent.
    Refused(String),
    /// There is a reply that says nothing about the credentials.
    Answered,
    /// There is no reply. The service may have executed the request, or may still do so.
    Lost,
    /// The request never left.
    NotSent,
}

/// Why a shared limit does not permit a request. Nothing was sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum LimitError {
    /// Sending was stopped for all processes, for this reason.
    Stopped(String),
    /// The store of the limit cannot be reached.
    Unavailable(StoreError),
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(reason) => {
                write!(f, "sending was stopped for all processes of the account: {}", mask::text(reason))
            }
            // The message comes from other code, so text that looks like a card number is masked.
            Self::Unavailable(error) => {
                write!(f, "the store of the shared limits cannot be reached: {}", mask::text(&error.to_string()))
            }
        }
    }
}

impl std::error::Error for LimitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Stopped(_) => None,
            Self::Unavailable(error) => Some(&**error),
        }
    }
}

/// The permission for one request; empty without a shared limit.
pub(crate) struct SharedPass(Option<Box<dyn SharedPermit>>);

impl SharedPass {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn of(permit: Box<dyn SharedPermit>) -> Self {
        Self(Some(permit))
    }

    /// Waits for the request, and keeps the permission meanwhile.
    pub(crate) async fn during<R>(&self, request: impl Future<Output = R>) -> R {
        let Some(permit) = &self.0 else { return request.await };
        let (mut request, mut keep) = (pin!(request), permit.keep());
        poll_fn(|context| {
            if let Poll::Ready(result) = request.as_mut().poll(context) {
                return Poll::Ready(result);
            }
            // This future never ends.
            let _: Poll<()> = keep.as_mut().poll(context);
            Poll::Pending
        })
        .await
    }

    pub(crate) async fn landed(self, end: RequestEnd) {
        if let Some(permit) = self.0 {
            permit.landed(end).await;
        }
    }
}

/// Returns `None` if the timer ends first.
pub(crate) async fn or_else_at<R>(future: impl Future<Output = R>, timer: impl Future<Output = ()>) -> Option<R> {
    let (mut future, mut timer) = (pin!(future), pin!(timer));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => timer.as_mut().poll(context).map(|()| None),
    })
    .await
}
