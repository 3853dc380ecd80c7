//! How long a call stays with a payment on which it works itself.

use std::pin::Pin;

use tracing::Instrument as _;

use super::stopwatch::Patience;

/// The work of a call. It is on the heap, since the futures of payments are large.
pub(super) type Work<R> = Pin<Box<dyn Future<Output = R> + Send>>;

/// How long a call stays with its work.
#[derive(Clone, Copy)]
pub(super) enum Stays<'a> {
    UntilItEnds,
    /// Then the work goes on in a task of its own: a request in flight gets its reply, and the lease is kept.
    For(&'a Patience),
}

impl Stays<'_> {
    /// Returns the result of the work; `None` if it goes on without the call. If the call is dropped before, the work ends, and another
    /// worker continues it after the lease.
    pub(super) async fn with<R: Send + 'static>(self, mut work: Work<R>) -> Option<R> {
        let Self::For(patience) = self else { return Some(work.await) };
        tokio::select! {
            biased;
            result = &mut work => return Some(result),
            () = patience.over() => {}
        }
        tokio::spawn(async move { drop(work.await) }.in_current_span());
        None
    }
}
