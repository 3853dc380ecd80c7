//! One thread owns the sandbox: it takes the queued requests and handles them with one write. A second thread sends the
//! responses once that write is on disk; meanwhile the first continues with newly queued requests. Between
//! requests it hands out due callbacks, and lets the store do what can wait.
//!
//! Threads wake each other once per group, not once per request: all requests that connections have read before the runtime
//! runs [`forward`] are handed over together, and so are the responses on their way back ([`Release`]).

use std::{
    io,
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

use super::{
    inbox::{GROUP, Inbox, Job, Last, Message},
    release::Release,
    system,
};
use crate::{Log, Outgoing, Sandbox, Settings, inbound::Inbound, store::Reach};

/// The longest sleep while a task is due later, so that a change of the real clock is noticed.
const NAP: Duration = Duration::from_secs(60);

/// Passes requests and reports to the thread that owns the sandbox. The queue has at most one entry per
/// connection and per callback in flight, so their limits bound it.
#[derive(Clone)]
pub(super) struct Queue {
    jobs: UnboundedSender<Job>,
    settings: Arc<Settings>,
    reach: Option<Reach>,
}

/// So many requests are committed without waiting for more if nothing is being synced. If a group took requests for as long as some
/// arrive, every caller would soon wait for the same group: connections and writer would take turns instead of working side by side.
const ENOUGH: usize = 8;

/// The longest wait of a probe that asks whether requests can be answered.
const PROBE: Duration = Duration::from_secs(3);

impl Queue {
    /// The response to a probe, or `None` if the store is away or does not answer within [`PROBE`].
    pub(super) async fn probed(&self, request: Request<Bytes>) -> Option<Response<Bytes>> {
        let asked = async {
            let Some(mut reach) = self.reach.clone() else { return self.answer(request).await };
            // The queue reaches the store again by itself: a probe that waited in it would only make it longer.
            if !reach.is(true).await {
                return None;
            }
            tokio::select! {
                answer = self.answer(request) => answer,
                _ = reach.is(false) => None,
            }
        };
        tokio::time::timeout(PROBE, asked).await.ok().flatten()
    }

    /// The response to a request, once it is durable; `None` if the thread has ended.
    pub(super) async fn answer(&self, request: Request<Bytes>) -> Option<Response<Bytes>> {
        let (answer, answered) = oneshot::channel();
        let inbound = Inbound::new(&self.settings, request);
        self.jobs.send(Job::Answer(inbound, answer)).ok()?;
        answered.await.ok()
    }

    /// Reports the result of a callback.
    pub(super) fn report(&self, id: String, result: Result<StatusCode, String>) {
        // If the thread has ended, the callback counts as not sent.
        let _ = self.jobs.send(Job::Report(id, result));
    }
}

/// Starts the thread, which sends due callbacks to `due`; it ends when every [`Queue`] is dropped. Must be called on the runtime of
/// the connections.
pub(super) fn start(sandbox: Sandbox, due: UnboundedSender<Outgoing>) -> io::Result<(Queue, thread::JoinHandle<()>)> {
    let (jobs, queued) = unbounded_channel();
    if let (Some(reach), Some(log)) = (sandbox.reach(), sandbox.settings().log.clone()) {
        tokio::spawn(tell(reach, log));
    }
    let (messages, receiver) = channel();
    let (settings, reach) = (sandbox.shared_settings(), sandbox.reach());
    let release = Release::start(sandbox.syncer())?;
    let thread = thread::Builder::new().name("sandbox-writer".to_owned());
    let handle = thread.spawn(move || run(sandbox, Inbox::new(receiver), &due, release))?;
    let end = Last(messages.clone());
    tokio::spawn(forward(queued, messages, end));
    Ok((Queue { jobs, settings, reach }, handle))
}

/// Logs when the store is lost, and when it is reached again.
async fn tell(mut reach: Reach, log: Log) {
    while reach.is(false).await {
        log.event(system::now(), "error", "store-lost", json!({}));
        if !reach.is(true).await {
            return;
        }
        log.event(system::now(), "info", "store-reached", json!({}));
    }
}

/// Passes the jobs of one round of the runtime to the thread, together.
async fn forward(mut queued: UnboundedReceiver<Job>, messages: Sender<Message>, end: Last) {
    loop {
        let mut group = Vec::new();
        // Done when every queue is dropped, or when the thread has ended.
        if queued.recv_many(&mut group, GROUP).await == 0 || messages.send(Message::Jobs(group)).is_err() {
            return drop(end);
        }
    }
}

fn run(mut sandbox: Sandbox, mut inbox: Inbox, due: &UnboundedSender<Outgoing>, mut release: Release) {
    let mut requests = Vec::with_capacity(GROUP);
    while !inbox.ended {
        for outgoing in sandbox.due(system::now()) {
            // If the server is stopping, it is sent after the next start.
            let _ = due.send(outgoing);
        }
        inbox.wait(&mut requests, sandbox.next_due().map(|due| due.since(system::now()).min(NAP)));
        if !requests.is_empty() {
            if let Some(error) = release.failure() {
                sandbox.give_up(error);
            }
            let responses = sandbox.answer_group(system::now(), &mut requests, &mut |more| {
                if more.len() < ENOUGH || !release.is_idle() {
                    inbox.add(more);
                }
            });
            requests.clear();
            release.after_sync(inbox.waiting.drain(..).zip(responses).collect());
        }
        for (id, result) in std::mem::take(&mut inbox.reports) {
            sandbox.delivered(system::now(), &id, result);
        }
        // Meanwhile the group is synced.
        sandbox.settle(&mut || inbox.has_more());
    }
    release.finish();
}
