//! Wakes the task that drives a connection, unless that task is polling it.
//!
//! A connection and its user wake each other: the head of a reply wakes the reader of the body, which requests the body
//! and wakes the connection. If one task polls both, each wake-up would pass the task through the runtime's queue
//! again. Here the task polls again at once.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// The task polls, or has ended its wait: wake-ups are recorded.
const POLLED: u8 = 0;
/// The task waits: a wake-up is passed on to it.
const WAITING: u8 = 1;
/// Woken since the task began to poll, or since it began to wait.
const WOKEN: u8 = 2;
/// Number of polls in a row before other tasks have their turn. A third is needed only if a reply arrives in pieces.
const AT_ONCE: usize = 4;

/// Polls a future again as long as polling wakes it.
pub(crate) struct Turns {
    gate: Arc<Gate>,
    waker: Waker,
}

struct Gate {
    state: AtomicU8,
    task: Mutex<Waker>,
}

impl Turns {
    pub(crate) fn new() -> Self {
        let gate = Arc::new(Gate { state: AtomicU8::new(POLLED), task: Mutex::new(Waker::noop().clone()) });
        Self { waker: Waker::from(Arc::clone(&gate)), gate }
    }

    /// Polls on behalf of the task in `context`, with a waker that is always the same.
    pub(crate) fn poll<T>(&self, context: &Context<'_>, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        let gate = &self.gate;
        for _ in 0..AT_ONCE {
            // The poll below handles all earlier wake-ups.
            gate.state.swap(POLLED, Ordering::AcqRel);
            if let Poll::Ready(value) = poll(&mut Context::from_waker(&self.waker)) {
                return Poll::Ready(value);
            }
            gate.task().clone_from(context.waker());
            if gate.state.compare_exchange(POLLED, WAITING, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Gate {
    fn task(&self) -> MutexGuard<'_, Waker> {
        // A waker is complete whenever the lock is free.
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::AcqRel) == WAITING {
            self.task().wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn task() -> (Arc<Counter>, Waker) {
        let counter = Arc::<Counter>::default();
        (Arc::clone(&counter), Waker::from(counter))
    }

    #[test]
    fn a_wake_while_it_is_polled_is_one_more_turn_and_wakes_no_task() {
        let (woken, waker) = task();
        let (turns, mut polls) = (Turns::new(), 0);
        let polled = turns.poll(&Context::from_waker(&waker), |context| {
            polls += 1;
            if polls < 3 {
                context.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!((polls, woken.0.load(Ordering::Relaxed)), (3, 0));
    }

    #[test]
    fn a_wake_while_it_waits_wakes_the_task_that_polled_last_and_only_once() {
        let ((first, one), (second, other)) = (task(), task());
        let turns = Turns::new();
        for waker in [&one, &other] {
            assert!(turns.poll(&Context::from_waker(waker), |_| Poll::<()>::Pending).is_pending());
        }
        turns.waker.wake_by_ref();
        turns.waker.wake_by_ref();
        assert_eq!((first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed)), (0, 1));
    }

    #[test]
    fn what_always_wakes_itself_lets_other_tasks_have_their_turn() {
        let (woken, waker) = task();
        let turns = Turns::new();
        let polled = turns.poll(&Context::from_waker(&waker), |context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn no_task_is_woken_for_what_is_done() {
        let (woken, waker) = task();
        let turns = Turns::new();
        assert!(turns.poll(&Context::from_waker(&waker), |_| Poll::Ready(())).is_ready());
        turns.waker.wake_by_ref();
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
    }
}
