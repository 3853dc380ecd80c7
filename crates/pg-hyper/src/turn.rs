//! Wakes the task that drives a connection, unless that task is polling it.
//!
//! A connection and its user wake each other: the head of a reply wakes the reader of the body, which requests the body
//! and wakes the connection. If one task polls both, each wake-up would send the task through the runtime's queue
//! again. With this module, the task polls again at once.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// The task polls, or has ended its wait. Wake-ups are recorded.
const POLLED: u8 = 0;
/// The task waits. A wake-up is passed on to it.
const WAITING: u8 = 1;
/// Woken since the task began to poll, or since it began to wait.
const WOKEN: u8 = 2;
/// Number of polls in a row before other tasks have their turn. A third poll is needed only if a reply arrives in
/// pieces.
pub(crate) const AT_ONCE: usize = 4;

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
            gate.begin();
            if let Poll::Ready(value) = poll(&mut Context::from_waker(&self.waker)) {
                return Poll::Ready(value);
            }
            gate.task().clone_from(context.waker());
            if gate.waits() {
                return Poll::Pending;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Gate {
    /// Begins a poll, which handles all earlier wake-ups.
    fn begin(&self) {
        self.state.swap(POLLED, Ordering::AcqRel);
    }

    /// Ends a poll, and says whether the task waits: not if it was woken since the poll began.
    fn waits(&self) -> bool {
        self.state.compare_exchange(POLLED, WAITING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Records a wake-up, and says whether the task must be woken.
    fn woken(&self) -> bool {
        self.state.swap(WOKEN, Ordering::AcqRel) == WAITING
    }

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
        if self.woken() {
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
    fn a_task_that_always_wakes_itself_leaves_other_tasks_their_turn() {
        let (woken, waker) = task();
        let turns = Turns::new();
        let polled = turns.poll(&Context::from_waker(&waker), |context| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }

    /// The task that polls, and what it has seen.
    #[derive(Clone, Copy, PartialEq)]
    enum Polls {
        Begin,
        Look,
        Remember,
        Wait,
        Parked,
    }

    /// Runs one order of the steps of a task and of two other tasks, which each produce something for it and wake it.
    /// Each step is one access to shared state. Says whether the task has seen everything when none of them can
    /// continue.
    fn sees_all(schedule: &mut Vec<(usize, usize)>, waits: impl Fn(&Gate) -> bool) -> bool {
        let (counter, waker) = task();
        let gate = Turns::new().gate;
        let (mut events, mut seen, mut polls, mut depth) = (0, 0, Polls::Begin, 0);
        // For each other task: its next step, and whether it has to wake the task.
        let mut others = [(0, false); 2];
        loop {
            let can_go_on: Vec<usize> =
                (0..3).filter(|at| if *at == 2 { polls != Polls::Parked } else { others[*at].0 < 3 }).collect();
            if can_go_on.is_empty() {
                return seen == events;
            }
            if depth == schedule.len() {
                schedule.push((0, can_go_on.len()));
            }
            let chosen = can_go_on[schedule[depth].0];
            depth += 1;
            if chosen == 2 {
                polls = match polls {
                    Polls::Begin => {
                        gate.begin();
                        Polls::Look
                    }
                    Polls::Look => {
                        seen = events;
                        Polls::Remember
                    }
                    Polls::Remember => {
                        gate.task().clone_from(&waker);
                        Polls::Wait
                    }
                    Polls::Wait if waits(&gate) => Polls::Parked,
                    Polls::Wait | Polls::Parked => Polls::Begin,
                };
                continue;
            }
            let (step, passes_on) = &mut others[chosen];
            match step {
                0 => events += 1,
                1 => *passes_on = gate.woken(),
                _ if *passes_on => {
                    let before = counter.0.load(Ordering::Relaxed);
                    gate.task().wake_by_ref();
                    assert_eq!(counter.0.load(Ordering::Relaxed), before + 1, "the task is the one that waits");
                    polls = Polls::Begin;
                }
                _ => {}
            }
            *step += 1;
        }
    }

    /// The number of orders of all steps, and of those in which a wake-up is lost.
    fn in_every_order(waits: impl Fn(&Gate) -> bool) -> (usize, usize) {
        let (mut schedule, mut orders, mut lost) = (Vec::new(), 0, 0);
        loop {
            orders += 1;
            lost += usize::from(!sees_all(&mut schedule, &waits));
            loop {
                match schedule.pop() {
                    None => return (orders, lost),
                    Some((choice, of)) if choice + 1 < of => {
                        schedule.push((choice + 1, of));
                        break;
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// All of their interaction is one atomic and the lock around a waker, so the orders of these accesses are all that can happen.
    #[test]
    fn no_wake_is_lost_in_any_order_of_steps() {
        let (orders, lost) = in_every_order(Gate::waits);
        assert!(orders > 1_000, "{orders}");
        assert_eq!(lost, 0, "of {orders}");
        // A faulty task: it waits although it was woken meanwhile.
        let (_, lost) = in_every_order(|gate| {
            gate.state.store(WAITING, Ordering::Release);
            true
        });
        assert_ne!(lost, 0, "the test finds a planted bug");
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
