//! One thread owns the sandbox: it takes what is queued and has it answered with one write. A second thread lets the
//! answers go once that write is on the disk; meanwhile the first goes on with what has been queued since. Between
//! requests it hands out the callbacks that are due.
//!
//! Threads wake each other once for a group, not once for each request: whatever connections have read before the runtime
//! gets to [`forward`] is handed over together, and so are the answers on their way back ([`Release`]).

use std::{
    io,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

use super::{release::Release, system};
use crate::{Outgoing, Sandbox, Settings, inbound::Inbound};

/// The most requests that are handed over together. Fewer than twice as many share one write.
const GROUP: usize = 64;
/// The longest sleep while something is to come, so that a real clock that is turned is noticed.
const NAP: Duration = Duration::from_secs(60);

#[expect(clippy::large_enum_variant, reason = "nearly every job is a request, and a box for each would cost more")]
enum Job {
    /// A request and where its answer goes.
    Answer(Inbound, oneshot::Sender<Response<Bytes>>),
    /// What came of a callback.
    Report(String, Result<StatusCode, String>),
}

/// Hands requests and reports to the thread that owns the sandbox. There is at most one of each
/// connection and of each callback on its way in the queue, so their numbers bound it.
#[derive(Clone)]
pub(super) struct Queue {
    jobs: UnboundedSender<Job>,
    settings: Arc<Settings>,
}

impl Queue {
    /// The answer to a request, once it is durable; nothing when the thread has ended.
    pub(super) async fn answer(&self, request: Request<Bytes>) -> Option<Response<Bytes>> {
        let (answer, answered) = oneshot::channel();
        let inbound = Inbound::new(&self.settings, request);
        self.jobs.send(Job::Answer(inbound, answer)).ok()?;
        answered.await.ok()
    }

    /// Tells what came of a callback.
    pub(super) fn report(&self, id: String, result: Result<StatusCode, String>) {
        // When the thread has ended, the callback counts as not sent.
        let _ = self.jobs.send(Job::Report(id, result));
    }
}

/// Starts the thread, which sends due callbacks to `due`; it ends when every [`Queue`] is gone. Belongs into the runtime of
/// the connections.
pub(super) fn start(sandbox: Sandbox, due: UnboundedSender<Outgoing>) -> io::Result<(Queue, thread::JoinHandle<()>)> {
    let (jobs, queued) = unbounded_channel();
    let (groups, receiver) = channel();
    let settings = sandbox.shared_settings();
    let release = Release::start(sandbox.syncer())?;
    let thread = thread::Builder::new().name("sandbox-writer".to_owned());
    let handle = thread.spawn(move || run(sandbox, &receiver, &due, release))?;
    tokio::spawn(forward(queued, groups));
    Ok((Queue { jobs, settings }, handle))
}

/// Hands the jobs that came up in one round of the runtime to the thread, together.
async fn forward(mut queued: UnboundedReceiver<Job>, groups: Sender<Vec<Job>>) {
    loop {
        let mut group = Vec::new();
        // Nothing is left to be done when every queue is gone, or when the thread has ended.
        if queued.recv_many(&mut group, GROUP).await == 0 || groups.send(group).is_err() {
            return;
        }
    }
}

fn run(mut sandbox: Sandbox, jobs: &Receiver<Vec<Job>>, due: &UnboundedSender<Outgoing>, release: Release) {
    let mut requests = Vec::with_capacity(GROUP);
    loop {
        for outgoing in sandbox.due(system::now()) {
            // When the server is being stopped, it is sent after the next start.
            let _ = due.send(outgoing);
        }
        let mut answers = Vec::new();
        let first = match wait(&sandbox, jobs) {
            Ok(job) => Some(job),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return release.finish(),
        };
        let mut more = first;
        while let Some(group) = more {
            group.into_iter().for_each(|job| match job {
                Job::Answer(request, answer) => {
                    requests.push(request);
                    answers.push(answer);
                }
                Job::Report(id, result) => sandbox.delivered(system::now(), &id, result),
            });
            // Each group is bounded, so all that share a write are.
            more = if requests.len() < GROUP { jobs.try_recv().ok() } else { None };
        }
        if requests.is_empty() {
            continue;
        }
        if let Some(error) = release.failure() {
            sandbox.give_up(error);
        }
        let responses = sandbox.handle_ahead(system::now(), &mut requests);
        requests.clear();
        release.after_sync(answers.into_iter().zip(responses).collect());
    }
}

/// The next jobs, or a timeout when something is due before any come.
fn wait(sandbox: &Sandbox, jobs: &Receiver<Vec<Job>>) -> Result<Vec<Job>, RecvTimeoutError> {
    match sandbox.next_due() {
        None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        Some(due) => jobs.recv_timeout(due.since(system::now()).min(NAP)),
    }
}
