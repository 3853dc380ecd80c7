//! One thread owns the sandbox: it takes the queued requests and handles them with one write. A second thread sends the
//! responses once that write is on disk; meanwhile the first continues with newly queued requests. Between
//! requests it sends due callbacks and runs the store's deferred work.
//!
//! Waking a thread is expensive, so one wake-up serves several messages. Connections hand requests over in batches
//! ([`Gathered`]), [`forward`] hands over the rest at the end of a round of the runtime, and the responses of a group
//! are sent together ([`Release`]).

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
    failure::Failure,
    inbox::{GROUP, Gathered, Inbox, Job},
    release::Release,
    system,
};
use crate::{
    Log, Outgoing, Sandbox, Settings,
    inbound::Inbound,
    sandbox::Counters,
    store::{Reach, StoreError},
};

/// The maximum sleep before a task that is due later. It is short, so that the thread notices a change of the real
/// clock.
const NAP: Duration = Duration::from_secs(60);

/// Passes requests and reports to the thread that owns the sandbox. The queue has at most one entry per
/// connection and per callback in flight, so their limits bound it.
#[derive(Clone)]
pub(super) struct Queue {
    jobs: Arc<Gathered>,
    settings: Arc<Settings>,
    reach: Option<Reach>,
    counters: Counters,
}

/// The number of requests after which a group is committed although more may arrive, if no sync is in progress. Without
/// this limit every caller would soon wait for the same group: connections and writer would take turns instead of
/// working in parallel.
const ENOUGH: usize = 8;

/// The time limit of a readiness probe.
const PROBE: Duration = Duration::from_secs(3);

impl Queue {
    /// Returns the response to a probe, or `None` if the store is unreachable or does not answer within [`PROBE`].
    pub(super) async fn probed(&self, request: Request<Bytes>) -> Option<Response<Bytes>> {
        let asked = async {
            let Some(mut reach) = self.reach.clone() else { return self.answer(request).await };
            // The thread behind the queue reconnects to the store, so a probe does not wait in the queue.
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

    /// Returns the response to a call for the counters, which do not wait for the store.
    pub(super) fn counted(&self, request: &Request<Bytes>) -> Response<Bytes> {
        self.counters.answer(system::now(), request)
    }

    /// Returns the response to a request once it is durable, or `None` if the thread has ended.
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

/// The thread, which closes the store at its end.
pub(super) type Writing = thread::JoinHandle<Result<(), StoreError>>;

/// Starts the thread, which sends due callbacks to `due`; it ends when every [`Queue`] is dropped. Tells when
/// no request is executed any more. Must be called on the runtime of the connections.
pub(super) fn start(
    sandbox: Sandbox,
    due: UnboundedSender<Outgoing>,
    failure: Arc<Failure>,
) -> io::Result<(Queue, Writing)> {
    if let (Some(reach), Some(log)) = (sandbox.reach(), sandbox.settings().log.clone()) {
        tokio::spawn(tell(reach, log));
    }
    let (messages, receiver) = channel();
    let (settings, reach, counters) = (sandbox.shared_settings(), sandbox.reach(), sandbox.counters());
    let release = Release::start(sandbox.syncer(), Arc::clone(&failure))?;
    let thread = thread::Builder::new().name("sandbox-writer".to_owned());
    let handle = thread.spawn(move || run(sandbox, Inbox::new(receiver), &due, release, &failure))?;
    let some = Arc::new(Notify::new());
    let jobs = Arc::new(Gathered::new(messages, Arc::clone(&some)));
    tokio::spawn(forward(some, Arc::downgrade(&jobs)));
    Ok((Queue { jobs, settings, reach, counters }, handle))
}

/// Logs when the connection to the store is lost, and when it is restored.
async fn tell(mut reach: Reach, log: Log) {
    while reach.is(false).await {
        log.event(system::now(), "error", "store-lost", json!({}));
        if !reach.is(true).await {
            return;
        }
        log.event(system::now(), "info", "store-reached", json!({}));
    }
}

/// Hands over the remaining requests at the end of each round of the runtime.
async fn forward(some: Arc<Notify>, gathered: Weak<Gathered>) {
    loop {
        some.notified().await;
        // The last queue hands over the rest when it is dropped.
        let Some(gathered) = gathered.upgrade() else { return };
        gathered.hand_over();
    }
}

fn run(
    mut sandbox: Sandbox,
    mut inbox: Inbox,
    due: &UnboundedSender<Outgoing>,
    mut release: Release,
    failure: &Failure,
) -> Result<(), StoreError> {
    let mut requests = Vec::with_capacity(GROUP);
    while !inbox.ended || !requests.is_empty() {
        for outgoing in sandbox.due(system::now()) {
            // If the server is stopping, the callback is sent after the next start.
            let _ = due.send(outgoing);
        }
        if requests.is_empty() {
            inbox.wait(&mut requests, sandbox.next_due().map(|due| due.since(system::now()).min(NAP)));
        }
        if !requests.is_empty() {
            let has_failed = release.failure().is_some();
            if let Some(error) = release.failure() {
                sandbox.give_up(error);
            }
            let responses = sandbox.answer_group(&system::now, &mut requests, &mut |more| {
                if more.len() < ENOUGH || !release.is_idle() {
                    inbox.add(more);
                }
            });
            requests.drain(..responses.len());
            let answers = inbox.waiting.drain(..responses.len()).zip(responses).collect();
            // After a failure these are refusals.
            if has_failed { release.at_once(answers) } else { release.after_sync(answers) }
        }
        if !inbox.reports.is_empty() {
            sandbox.all_delivered(system::now(), std::mem::take(&mut inbox.reports));
        }
        if let Some(error) = sandbox.store_failure() {
            failure.tell(&error);
        }
        // Another thread syncs the group meanwhile.
        sandbox.settle(&mut || inbox.has_more());
    }
    if let Some(error) = release.finish() {
        sandbox.give_up(&error);
    }
    sandbox.close()
}
