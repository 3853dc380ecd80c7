//! The thread on which tokio watches sockets and timers, and the wait of other threads for a result.

use std::{
    io,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
    task::coop::unconstrained,
};

/// Within an async task, a future that yields is polled again after this time.
const NO_WAKE_UP: Duration = Duration::from_millis(5);

/// A runtime on its own thread. The thread ends when this is dropped.
///
/// Without this thread, idle connections would only be watched while a caller waits. That the peer has closed a
/// connection would be noticed only after a request was sent over it.
pub(super) struct Background {
    runtime: Handle,
    /// Dropping the sender ends the thread.
    _stop: oneshot::Sender<()>,
}

impl Background {
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::Builder::new().name("pg-hyper".to_owned()).spawn(move || {
            // A message and a dropped sender mean the same.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { runtime: handle, _stop: stop })
    }

    /// Polls a future on this thread until it ends. tokio's own function would panic within an async task.
    ///
    /// Within an async task, tokio counts the whole wait as one poll of that task. The task's budget for one poll would
    /// be used up, and then no resource of tokio would ever be ready. So the future runs without a budget.
    #[expect(clippy::disallowed_methods, reason = "no wake-up may arrive within an async task")]
    pub(super) fn wait<F: Future>(&self, future: F) -> F::Output {
        let in_a_task = Handle::try_current().is_ok();
        let _entered = self.runtime.enter();
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(unconstrained(future));
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                // tokio leaves the wake-up of a future that yields to the runtime whose thread waits here.
                Poll::Pending if in_a_task => thread::park_timeout(NO_WAKE_UP),
                // A wake-up that arrived in the meantime is not lost: then this call returns at once.
                Poll::Pending => thread::park(),
            }
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
