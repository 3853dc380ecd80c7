//! The order of requests if more arrive than can be answered at once.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

/// Limits the number of requests at the same time. The others wait: the lowest rank first, then in their order of arrival, or the newest
/// first.
///
/// Use the number of refused requests of a connection as its rank. Then a connection that sends thousands of them waits
/// behind all others, and an honest request waits only for those that are being answered.
#[derive(Clone, Debug)]
pub struct RequestQueue(Arc<Shared>);

struct Shared(Mutex<State>);

struct State {
    free: usize,
    /// Waiting requests, by rank and order.
    waiting: BTreeMap<(u64, u64), oneshot::Sender<RequestTurn>>,
    arrived: u64,
    newest_first: bool,
}

/// A turn. Dropping it gives the turn to the next request.
#[derive(Debug)]
pub struct RequestTurn(Option<RequestQueue>);

impl RequestQueue {
    /// Creates a queue that allows `at_once` requests at the same time, at least one.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        Self::ordered(at_once, false)
    }

    /// Creates the same queue, except that the newest of the waiting requests of one rank comes first.
    pub(crate) fn newest_first(at_once: usize) -> Self {
        Self::ordered(at_once, true)
    }

    fn ordered(at_once: usize, newest_first: bool) -> Self {
        let state = State { free: at_once.max(1), waiting: BTreeMap::new(), arrived: 0, newest_first };
        Self(Arc::new(Shared(Mutex::new(state))))
    }

    /// Waits for a turn. Dropping the future gives up the place in the queue.
    pub async fn take(&self, rank: u64) -> RequestTurn {
        let turn = {
            let mut state = self.0.lock();
            if let Some(free) = state.free.checked_sub(1) {
                state.free = free;
                return self.turn();
            }
            let (turn, given) = oneshot::channel();
            let arrived = state.arrived;
            state.arrived += 1;
            let order = if state.newest_first { u64::MAX - arrived } else { arrived };
            state.waiting.insert((rank, order), turn);
            given
        };
        // Only dropping the queue drops a sender, and this value holds the queue.
        turn.await.unwrap_or_else(|_| RequestTurn(None))
    }

    fn turn(&self) -> RequestTurn {
        RequestTurn(Some(self.clone()))
    }
}

impl Drop for RequestTurn {
    fn drop(&mut self) {
        let Some(turns) = self.0.take() else { return };
        loop {
            let next = {
                let mut state = turns.0.lock();
                match state.waiting.pop_first() {
                    Some((_, next)) => next,
                    None => {
                        state.free += 1;
                        return;
                    }
                }
            };
            // A request that no longer waits returns the turn.
            match next.send(turns.turn()) {
                Ok(()) => return,
                Err(mut back) => back.0 = None,
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No panic can interrupt a change midway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestQueue").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::{Pin, pin},
        task::{Context, Poll, Waker},
    };

    use super::*;

    fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn the_lowest_rank_comes_first_then_the_first_to_come() {
        let turns = RequestQueue::new(1);
        let first = poll(pin!(turns.take(0))).expect("the queue is empty");
        let (mut flood, mut later, mut honest) = (pin!(turns.take(9)), pin!(turns.take(9)), pin!(turns.take(0)));
        assert!(poll(flood.as_mut()).is_none() && poll(later.as_mut()).is_none() && poll(honest.as_mut()).is_none());
        drop(first);
        assert!(poll(flood.as_mut()).is_none());
        drop(poll(honest.as_mut()).expect("the lowest rank"));
        assert!(poll(later.as_mut()).is_none());
        drop(poll(flood.as_mut()).expect("the first of two"));
        assert!(poll(later.as_mut()).is_some());
    }

    #[test]
    fn a_turn_of_a_dropped_waiter_is_not_lost() {
        let turns = RequestQueue::new(1);
        let first = poll(pin!(turns.take(0))).expect("the queue is empty");
        let mut gone = Box::pin(turns.take(0));
        assert!(poll(gone.as_mut()).is_none());
        drop(gone);
        let mut given_and_dropped = Box::pin(turns.take(1));
        assert!(poll(given_and_dropped.as_mut()).is_none());
        drop(first);
        // The request has its turn, and is dropped without noticing.
        drop(given_and_dropped);
        assert!(poll(pin!(turns.take(0))).is_some());
    }

    #[test]
    fn at_most_the_limit_run_at_once() {
        let turns = RequestQueue::new(3);
        let held: Vec<RequestTurn> = (0..3).map(|_| poll(pin!(turns.take(0))).expect("free")).collect();
        assert!(poll(pin!(turns.take(0))).is_none());
        drop(held);
        let again: Vec<_> = (0..3).map(|_| poll(pin!(turns.take(0)))).collect();
        assert!(again.iter().all(Option::is_some));
    }
}
