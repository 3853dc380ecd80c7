//! One thread owns the sandbox: it takes the queued requests and handles them with one write. A second thread sends the
//! responses once that write is on disk; meanwhile the first continues with newly queued requests. Between
//! requests it hands out due callbacks, and lets the store do what can wait.
//!
//! Threads wake each other once for a few requests, not for each: requests are handed over by a few ([`Gathered`]), those that are left at
//! the end of a round of the runtime by [`forward`], and all responses of a group together ([`Release`]).

use std::{
    io,
    sync::{Arc, Weak, mpsc::channel},
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::json;
use tokio::sync::{Notify, mpsc::UnboundedSender, oneshot};

use super::{
    inbox::{GROUP, Gathered, Inbox, Job},
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
    jobs: Arc<Gathered>,
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
        self.jobs.add(Job::Answer(inbound, answer));
        answered.await.ok()
    }

    /// Reports the result of a callback.
    pub(super) fn report(&self, id: String, result: Result<StatusCode, String>) {
        // If the thread has ended, the callback counts as not sent.
        self.jobs.add(Job::Report(id, result));
    }
}

/// Starts the thread, which sends due callbacks to `due`; it ends when every [`Queue`] is dropped. Must be called on the runtime of
/// the connections.
pub(super) fn start(sandbox: Sandbox, due: UnboundedSender<Outgoing>) -> io::Result<(Queue, thread::JoinHandle<()>)> {
    if let (Some(reach), Some(log)) = (sandbox.reach(), sandbox.settings().log.clone()) {
        tokio::spawn(tell(reach, log));
    }
    let (messages, receiver) = channel();
    let (settings, reach) = (sandbox.shared_settings(), sandbox.reach());
    let release = Release::start(sandbox.syncer())?;
    let thread = thread::Builder::new().name("sandbox-writer".to_owned());
    let handle = thread.spawn(move || run(sandbox, Inbox::new(receiver), &due, release))?;
    let some = Arc::new(Notify::new());
    let jobs = Arc::new(Gathered::new(messages, Arc::clone(&some)));
    tokio::spawn(forward(some, Arc::downgrade(&jobs)));
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

/// Hands over what is left of each round of the runtime.
async fn forward(some: Arc<Notify>, gathered: Weak<Gathered>) {
    loop {
        some.notified().await;
        // The last queue hands over the rest itself when it is dropped.
        let Some(gathered) = gathered.upgrade() else { return };
        gathered.hand_over();
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
