//! Virtual time, and the executor that advances it: one thread without timers. When every task waits, the time becomes that of the
//! next alarm.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use tokio::runtime::Builder;

use crate::agenda::Millis;

/// More alarms than any world needs.
const MOST_ALARMS: u64 = 200_000;

/// Clones show the same time.
#[derive(Clone)]
pub(super) struct Time(Arc<Mutex<Shown>>);

struct Shown {
    now: Millis,
    /// The number of alarms set so far. Alarms for the same time ring in this order.
    set: u64,
    rung: u64,
    alarms: BTreeMap<(Millis, u64), Waker>,
    over: bool,
    waits_for_the_end: Option<Waker>,
}

/// Ends at a time.
pub(super) struct Sleep {
    time: Time,
    until: Millis,
    alarm: Option<(Millis, u64)>,
}

impl Time {
    pub(super) fn new(now: Millis) -> Self {
        let alarms = BTreeMap::new();
        Self(Arc::new(Mutex::new(Shown { now, set: 0, rung: 0, alarms, over: false, waits_for_the_end: None })))
    }

    pub(super) fn now(&self) -> Millis {
        self.lock().now
    }

    pub(super) fn sleep(&self, millis: Millis) -> Sleep {
        self.sleep_until(self.now().saturating_add(millis))
    }

    pub(super) fn sleep_until(&self, until: Millis) -> Sleep {
        Sleep { time: self.clone(), until, alarm: None }
    }

    /// Ends the world now.
    pub(super) fn end(&self) {
        let mut shown = self.lock();
        shown.over = true;
        let waker = shown.waits_for_the_end.take();
        drop(shown);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Runs the world until it ends; `None` if a check ended it, or it would never end.
    pub(super) fn run<F: Future>(&self, world: F) -> Option<F::Output> {
        let time = self.clone();
        let runtime = Builder::new_current_thread().on_thread_park(move || time.advance()).build();
        let runtime = runtime.expect("an executor without drivers needs nothing of the system");
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.over() => None,
                end = world => Some(end),
            }
        })
    }

    async fn over(&self) {
        poll_fn(|context| {
            let mut shown = self.lock();
            if shown.over {
                return Poll::Ready(());
            }
            shown.waits_for_the_end = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Every task waits: rings the next alarm.
    fn advance(&self) {
        let mut shown = self.lock();
        shown.rung += 1;
        let next = shown.alarms.pop_first().filter(|_| shown.rung < MOST_ALARMS);
        let Some(((at, _), waker)) = next else {
            drop(shown);
            return self.end();
        };
        shown.now = shown.now.max(at);
        drop(shown);
        waker.wake();
    }

    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut shown = this.time.lock();
        if shown.now >= this.until {
            return Poll::Ready(());
        }
        let alarm = *this.alarm.get_or_insert_with(|| {
            shown.set += 1;
            (this.until, shown.set)
        });
        shown.alarms.insert(alarm, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(alarm) = self.alarm {
            self.time.lock().alarms.remove(&alarm);
        }
    }
}
