//! How long a call stays with a payment on which it works itself.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use pg_hyper::Transport;
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::{Fleet, stopwatch::Patience};
use crate::IntentStore;

/// The work of a call. It is on the heap, since the futures of payments are large.
pub(super) type Work<R> = Pin<Box<dyn Future<Output = R> + Send>>;

/// How long a call stays with its work.
#[derive(Clone)]
pub(super) enum Stays {
    UntilItEnds,
    /// The page of a customer is shown then.
    For(Patience),
}

/// What became of the work of a call.
pub(super) enum Stayed<R> {
    Ended(R),
    /// It goes on without the call.
    GoesOn,
    /// It was dropped before its payment had a row: nothing was sent, and nothing will be. A row that a slow database stores later ends as
    /// not paid.
    Dropped,
}

/// What is known of the row of a payment. Shared by the call that begins the payment and the keepers of its machines.
#[derive(Clone, Default)]
pub(super) struct RowWatch(Arc<Mutex<RowState>>);

#[derive(Clone, Copy, Default, PartialEq)]
pub(super) enum RowState {
    #[default]
    Absent,
    /// The statement that stores it has no answer yet, or an answer that does not tell.
    InDoubt,
    Exists,
}

/// The work that calls have left. It belongs to the process.
#[derive(Default)]
pub(super) struct LeftWork(Mutex<JoinSet<()>>);

/// Ends the left work of a worker whose future is dropped.
pub(super) struct EndsLeftWork<'a>(pub(super) &'a LeftWork);

impl RowWatch {
    pub(super) fn of_a_row() -> Self {
        let watch = Self::default();
        watch.is(RowState::Exists);
        watch
    }

    pub(super) fn is(&self, state: RowState) {
        *self.lock() = state;
    }

    fn state(&self) -> RowState {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, RowState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LeftWork {
    /// Waits until all of it has ended, once none is added.
    pub(super) async fn ended(&self) {
        let mut left = std::mem::take(&mut *self.lock());
        while left.join_next().await.is_some() {}
    }

    fn lock(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for EndsLeftWork<'_> {
    fn drop(&mut self) {
        self.0.lock().abort_all();
    }
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Works on a payment for a call, within the call's patience. Then the work goes on in a task if the payment has a row, since a request
    /// may be in flight, and is dropped if it has none: the caller and everyone who asks are told that nothing was begun, so
    /// nothing may be sent later. If the call itself is dropped, the work ends, and another worker continues it after the lease.
    pub(super) async fn stay<R: Send + 'static>(&self, stays: &Stays, row: &RowWatch, mut work: Work<R>) -> Stayed<R> {
        let Stays::For(patience) = stays else { return Stayed::Ended(work.await) };
        let mut over = pin!(patience.over());
        let mut is_over = false;
        let ended = poll_fn(|context| {
            if let Poll::Ready(result) = work.as_mut().poll(context) {
                return Poll::Ready(Some(result));
            }
            is_over = is_over || over.as_mut().poll(context).is_ready();
            // The store answers within seconds whether the row exists.
            if is_over && row.state() != RowState::InDoubt { Poll::Ready(None) } else { Poll::Pending }
        });
        match ended.await {
            Some(result) => Stayed::Ended(result),
            None if row.state() == RowState::Absent => Stayed::Dropped,
            None => match self.leave(work) {
                Ok(()) => Stayed::GoesOn,
                Err(work) => Stayed::Ended(work.await),
            },
        }
    }

    /// Moves work into a task. A process that shuts down takes none, since it may have waited for the others already: the call stays until
    /// its request has its reply.
    fn leave<R: Send + 'static>(&self, work: Work<R>) -> Result<(), Work<R>> {
        let mut left = self.0.left.lock();
        if self.is_stopping() {
            return Err(work);
        }
        while left.try_join_next().is_some() {}
        left.spawn(async move { drop(work.await) }.in_current_span());
        Ok(())
    }
}
