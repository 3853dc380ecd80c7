//! One thread owns the sandbox: it takes what is queued, has it answered with one durable write, and
//! then lets the answers go.

use std::{
    io,
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use bytes::Bytes;
use http::{Request, Response};
use tokio::sync::oneshot;

use super::system;
use crate::Sandbox;

/// The most requests that share one write.
const GROUP: usize = 64;

/// A request and where its answer goes.
struct Job {
    request: Request<Bytes>,
    answer: oneshot::Sender<Response<Bytes>>,
}

/// Hands requests to the thread that owns the sandbox. There is at most one of each connection in
/// the queue, so the number of connections bounds it.
#[derive(Clone)]
pub(super) struct Queue(Sender<Job>);

impl Queue {
    /// The answer to a request, once it is durable; nothing when the thread has ended.
    pub(super) async fn answer(&self, request: Request<Bytes>) -> Option<Response<Bytes>> {
        let (answer, answered) = oneshot::channel();
        self.0.send(Job { request, answer }).ok()?;
        answered.await.ok()
    }
}

/// Starts the thread; it ends when every [`Queue`] is gone.
pub(super) fn start(sandbox: Sandbox) -> io::Result<(Queue, thread::JoinHandle<()>)> {
    let (sender, receiver) = channel();
    let thread = thread::Builder::new().name("sandbox-writer".to_owned());
    let handle = thread.spawn(move || run(sandbox, &receiver))?;
    Ok((Queue(sender), handle))
}

fn run(mut sandbox: Sandbox, jobs: &Receiver<Job>) {
    let mut answers = Vec::with_capacity(GROUP);
    while let Ok(first) = jobs.recv() {
        let mut requests = Vec::with_capacity(GROUP);
        for job in std::iter::once(first).chain(jobs.try_iter().take(GROUP - 1)) {
            requests.push(job.request);
            answers.push(job.answer);
        }
        let responses = sandbox.handle_group(system::now(), requests);
        for (answer, response) in answers.drain(..).zip(responses) {
            // A caller that has gone away misses its answer; what it asked for has happened.
            let _ = answer.send(response);
        }
    }
}
