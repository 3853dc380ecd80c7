//! The queue of the thread that owns the sandbox, and when the thread stops waiting for more.

use std::{
    mem,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::sync::{Notify, oneshot};

use crate::inbound::Inbound;

/// The number of requests after which a write takes no more. The last batch may exceed it slightly.
pub(super) const GROUP: usize = 64;
/// The number of jobs in a batch that is handed over while connections still read other requests. If a whole round of
/// the runtime were one batch, the thread would be idle until the last request of the round is read and checked.
/// Smaller batches would wake the thread more often.
pub(super) const HAND_OVER: usize = 4;

/// How often the thread looks for a message before it sleeps, each time letting other threads run first. Under load the next message
/// is a few microseconds away: to sleep, and to be woken by a connection, costs both threads more than that.
const LOOKS: u32 = 100;

#[expect(clippy::large_enum_variant, reason = "nearly every job is a request, and a box for each would cost more")]
pub(super) enum Job {
    /// A request and the channel for its response.
    Answer(Inbound, oneshot::Sender<Response<Bytes>>),
    /// The result of a callback.
    Report(String, Result<StatusCode, String>),
}

/// A message to the thread.
pub(super) enum Message {
    /// Jobs that arrived together.
    Jobs(Vec<Job>),
    /// No more jobs will follow.
    End,
}

/// Jobs that connections have added and not yet handed over to the thread.
pub(super) struct Gathered {
    jobs: Mutex<Vec<Job>>,
    /// Notified when there is something to hand over.
    some: Arc<Notify>,
    messages: Sender<Message>,
}

impl Gathered {
    pub(super) const fn new(messages: Sender<Message>, some: Arc<Notify>) -> Self {
        Self { jobs: Mutex::new(Vec::new()), some, messages }
    }

    /// Adds a job. If there are fewer than [`HAND_OVER`], notifies the task that hands them over.
    pub(super) fn add(&self, job: Job) {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.push(job);
        match jobs.len() {
            1 => self.some.notify_one(),
            HAND_OVER => self.send(mem::take(&mut jobs)),
            _ => {}
        }
    }

    /// Hands over all jobs that were added.
    pub(super) fn hand_over(&self) {
        let jobs = mem::take(&mut *self.jobs.lock().unwrap_or_else(PoisonError::into_inner));
        if !jobs.is_empty() {
            self.send(jobs);
        }
    }

    fn send(&self, jobs: Vec<Job>) {
        // If the thread has ended, the jobs are dropped, and with them the channels for the responses.
        let _ = self.messages.send(Message::Jobs(jobs));
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        self.hand_over();
        // If the thread has ended, it needs no message.
        let _ = self.messages.send(Message::End);
        self.some.notify_one();
    }
}

/// Received requests that have no response yet.
pub(super) struct Inbox {
    messages: Receiver<Message>,
    /// A received message whose jobs were not taken yet.
    early: Option<Message>,
    /// The channels for the responses, in order.
    pub(super) waiting: Vec<oneshot::Sender<Response<Bytes>>>,
    pub(super) reports: Vec<(String, Result<StatusCode, String>)>,
    pub(super) ended: bool,
}

impl Inbox {
    pub(super) const fn new(messages: Receiver<Message>) -> Self {
        Self { messages, early: None, waiting: Vec::new(), reports: Vec::new(), ended: false }
    }

    /// Waits for a message, up to a limit, and takes all that have arrived.
    pub(super) fn wait(&mut self, requests: &mut Vec<Inbound>, most: Option<Duration>) {
        for _ in 0..LOOKS {
            if self.has_more() {
                break;
            }
            thread::yield_now();
        }
        let first = match (self.early.take(), most) {
            (Some(early), _) => Ok(early),
            (None, None) => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            (None, Some(most)) => self.messages.recv_timeout(most),
        };
        match first {
            Ok(message) => self.take(message, requests),
            Err(RecvTimeoutError::Timeout) => return,
            Err(RecvTimeoutError::Disconnected) => self.ended = true,
        }
        self.add(requests);
    }

    /// Takes the messages that have arrived meanwhile, unless a write is large enough without them.
    pub(super) fn add(&mut self, requests: &mut Vec<Inbound>) {
        while requests.len() < GROUP
            && let Some(message) = self.early.take().or_else(|| self.messages.try_recv().ok())
        {
            self.take(message, requests);
        }
    }

    /// Whether a message is waiting.
    pub(super) fn has_more(&mut self) -> bool {
        if self.early.is_none() {
            self.early = self.messages.try_recv().ok();
        }
        self.early.is_some()
    }

    fn take(&mut self, message: Message, requests: &mut Vec<Inbound>) {
        match message {
            Message::Jobs(jobs) => jobs.into_iter().for_each(|job| match job {
                Job::Answer(request, answer) => {
                    requests.push(request);
                    self.waiting.push(answer);
                }
                Job::Report(id, result) => self.reports.push((id, result)),
            }),
            Message::End => self.ended = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::{
            atomic::{AtomicBool, Ordering::Relaxed},
            mpsc::channel,
        },
        task::{Context, Wake, Waker},
    };

    use http::Request;

    use super::*;
    use crate::Settings;

    fn job() -> Job {
        let request = Inbound::new(&Settings::default(), Request::new(Bytes::new()));
        Job::Answer(request, oneshot::channel().0)
    }

    fn request() -> Message {
        Message::Jobs(vec![job()])
    }

    /// The number of jobs in each message that has arrived.
    fn arrived(messages: &Receiver<Message>) -> Vec<usize> {
        let jobs = |message| match message {
            Message::Jobs(jobs) => jobs.len(),
            Message::End => 0,
        };
        messages.try_iter().map(jobs).collect()
    }

    #[test]
    fn a_few_jobs_are_handed_over_before_a_round_of_the_runtime_ends_and_the_rest_after_it() {
        let (to, messages) = channel();
        let gathered = Gathered::new(to, Arc::default());
        (0..2 * HAND_OVER + 1).for_each(|_| gathered.add(job()));
        assert_eq!(arrived(&messages), [HAND_OVER, HAND_OVER]);
        gathered.hand_over();
        gathered.hand_over();
        assert_eq!(arrived(&messages), [1]);
    }

    #[test]
    fn what_was_added_last_is_handed_over_before_the_end() {
        let (to, messages) = channel();
        let some = Arc::new(Notify::new());
        let gathered = Gathered::new(to, Arc::clone(&some));
        gathered.add(job());
        drop(gathered);
        assert_eq!(arrived(&messages), [1, 0], "a job and the end");
    }

    #[test]
    fn a_write_takes_all_pending_groups_without_waiting() {
        let (to, messages) = channel();
        let (mut inbox, mut requests) = (Inbox::new(messages), Vec::new());
        to.send(request()).unwrap();
        inbox.wait(&mut requests, None);
        inbox.add(&mut requests);
        assert_eq!(requests.len(), 1);
        to.send(request()).unwrap();
        to.send(request()).unwrap();
        inbox.add(&mut requests);
        assert_eq!((requests.len(), inbox.waiting.len()), (3, 3));
    }

    #[test]
    fn a_write_takes_no_more_than_a_group() {
        let (to, messages) = channel();
        let (mut inbox, mut requests) = (Inbox::new(messages), Vec::new());
        (0..3 * GROUP).for_each(|_| to.send(request()).unwrap());
        inbox.wait(&mut requests, None);
        inbox.add(&mut requests);
        assert_eq!(requests.len(), GROUP);
    }

    #[test]
    fn a_message_that_was_seen_is_taken_first() {
        let (to, messages) = channel();
        let (mut inbox, mut requests) = (Inbox::new(messages), Vec::new());
        assert!(!inbox.has_more());
        to.send(request()).unwrap();
        assert!(inbox.has_more() && inbox.has_more());
        drop(Gathered::new(to, Arc::default()));
        inbox.wait(&mut requests, None);
        assert_eq!((requests.len(), inbox.ended, inbox.has_more()), (1, true, false));
    }

    #[test]
    fn the_end_of_the_queue_is_noticed() {
        let (to, messages) = channel();
        let (mut inbox, mut requests) = (Inbox::new(messages), Vec::new());
        drop(Gathered::new(to, Arc::default()));
        inbox.wait(&mut requests, None);
        assert!(inbox.ended);
    }

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Relaxed);
        }
    }

    /// What the task that hands over does next.
    #[derive(Clone, Copy, PartialEq)]
    enum Task {
        Wait,
        Sleep,
        HandOver,
    }

    /// Runs one order of steps: a bit of `order` that is set is a step of the task, and any other the next one of `add`.
    /// Returns the number of jobs that the task leaves behind when it sleeps.
    fn left_behind(order: u32, add: &[fn(&Gathered)]) -> usize {
        let (to, messages) = channel();
        let (some, woken) = (Arc::new(Notify::new()), Arc::<Woken>::default());
        let gathered = Gathered::new(to, Arc::clone(&some));
        let waker = Waker::from(Arc::clone(&woken));
        let (mut added, mut task, mut notified) = (0, Task::Wait, pin!(some.notified()));
        let mut go_on = || {
            task = match task {
                Task::Wait if notified.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() => {
                    notified.set(some.notified());
                    Task::HandOver
                }
                Task::Wait => Task::Sleep,
                Task::Sleep if woken.0.swap(false, Relaxed) => Task::Wait,
                Task::Sleep => Task::Sleep,
                Task::HandOver => {
                    gathered.hand_over();
                    Task::Wait
                }
            };
            task != Task::Sleep || woken.0.load(Relaxed)
        };
        for step in 0..STEPS {
            if order >> step & 1 == 1 {
                go_on();
            } else {
                add[added % add.len()](&gathered);
                added += 1;
            }
        }
        while go_on() {}
        added / add.len() - arrived(&messages).iter().sum::<usize>()
    }

    fn report() -> Job {
        Job::Report(String::new(), Ok(StatusCode::OK))
    }

    /// Enough for jobs that are handed over by their number, and others that are not.
    const STEPS: usize = 3 * HAND_OVER;

    /// The list is behind one lock, under which a job is added and the task notified. So the orders of these steps are all that
    /// can happen.
    #[test]
    fn no_job_is_left_behind_in_any_order_of_connections_and_the_task_that_hands_over() {
        let lost = |add: &[fn(&Gathered)]| (0..1 << STEPS).filter(|order| left_behind(*order, add) > 0).count();
        assert_eq!(lost(&[|gathered| gathered.add(report())]), 0);
        // A faulty queue: it notifies before it adds.
        let faulty: [fn(&Gathered); 2] =
            [|gathered| gathered.some.notify_one(), |gathered| gathered.jobs.lock().unwrap().push(report())];
        assert!(lost(&faulty) > 0, "the mistake shows");
    }
}
