//! Holds responses until the changes that they acknowledge are on disk.

use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use bytes::Bytes;
use http::Response;
use tokio::sync::{
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    oneshot,
};

use super::failure::Failure;
use crate::{
    ResponseDelivery,
    store::{StoreError, Syncer},
};

/// A response and its channel.
type Answer = (oneshot::Sender<Response<Bytes>>, Response<Bytes>);

/// The channel for groups of responses to the runtime of the connections. Waking the runtime once per group costs one
/// system call; waking it for each response would cost one per response.
type GroupSender = UnboundedSender<Vec<Answer>>;

/// Sends responses, in their order.
pub(super) enum Release {
    /// The store needs no sync.
    AtOnce(GroupSender),
    /// A thread syncs and sends.
    Synced(Synced),
}

/// The writer's handle to the thread that syncs.
pub(super) struct Synced {
    groups: Sender<Vec<Answer>>,
    door: GroupSender,
    failure: Arc<OnceLock<StoreError>>,
    thread: thread::JoinHandle<()>,
    /// The number of responses handed over to the thread, and the number that it has sent.
    handed_over: usize,
    sent: Arc<AtomicUsize>,
}

impl Release {
    /// Must be called on the runtime of the connections. Tells when the disk has failed.
    pub(super) fn start(syncer: Option<Syncer>, told: Arc<Failure>) -> io::Result<Self> {
        let (door, opened) = unbounded_channel();
        tokio::spawn(let_go(opened));
        let Some(syncer) = syncer else { return Ok(Self::AtOnce(door)) };
        let (groups, waiting) = channel();
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        let sent = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&sent);
        let other_door = door.clone();
        let thread = thread::Builder::new().name("sandbox-syncer".to_owned()).spawn(move || {
            let mut release = |answers: Vec<Answer>| {
                count.fetch_add(answers.len(), Relaxed);
                // The runtime ends only after the last response is sent.
                let _ = door.send(answers);
            };
            let mut unknown = run(&waiting, || syncer.sync(), &mut release, &failed);
            if let Some(error) = failed.get() {
                told.tell(error);
            }
            // It is unknown what is on the disk, so these callers get no response.
            while !unknown.is_empty() {
                release(unknown.into_iter().map(|(to, _)| (to, unanswered())).collect());
                unknown = waiting.recv().unwrap_or_default();
            }
        })?;
        Ok(Self::Synced(Synced { groups, door: other_door, failure, thread, handed_over: 0, sent }))
    }

    /// Sends these responses once everything committed so far is on disk.
    pub(super) fn after_sync(&mut self, answers: Vec<Answer>) {
        match self {
            Self::AtOnce(door) => {
                // The runtime ends only after the last response is sent.
                let _ = door.send(answers);
            }
            Self::Synced(synced) => {
                if answers.is_empty() {
                    return;
                }
                synced.handed_over += answers.len();
                // The thread ends only after a panic, which has been reported.
                let _ = synced.groups.send(answers);
            }
        }
    }

    /// Sends responses that acknowledge no change.
    pub(super) fn at_once(&self, answers: Vec<Answer>) {
        let (Self::AtOnce(door) | Self::Synced(Synced { door, .. })) = self;
        // The runtime ends only after the last response is sent.
        let _ = door.send(answers);
    }

    /// Whether there is a thread that syncs, and it has nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::AtOnce(_) => false,
            Self::Synced(synced) => synced.sent.load(Relaxed) == synced.handed_over,
        }
    }

    /// Returns the error after which the disk stores nothing more.
    pub(super) fn failure(&self) -> Option<&StoreError> {
        match self {
            Self::AtOnce(_) => None,
            Self::Synced(synced) => synced.failure.get(),
        }
    }

    /// Waits until the last response is sent. Returns the error after which the disk stores nothing any more.
    pub(super) fn finish(self) -> Option<StoreError> {
        let Self::Synced(Synced { groups, thread, failure, .. }) = self else { return None };
        drop(groups);
        // It fails only after a panic, which has been reported.
        let _ = thread.join();
        failure.get().cloned()
    }
}

/// Returns the response that makes its connection close without one.
fn unanswered() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    response.extensions_mut().insert(ResponseDelivery::Close);
    response
}

/// Groups of responses from the writer, each after its commit.
trait Groups<A> {
    /// Waits for the next group; `None` when the writer has ended.
    fn wait(&self) -> Option<Vec<A>>;
    /// Returns the next group if it has arrived.
    fn more(&self) -> Option<Vec<A>>;
}

impl<A> Groups<A> for Receiver<Vec<A>> {
    fn wait(&self) -> Option<Vec<A>> {
        self.recv().ok()
    }

    fn more(&self) -> Option<Vec<A>> {
        self.try_recv().ok()
    }
}

/// Returns the responses that were waiting for a sync that failed.
fn run<A>(
    groups: &impl Groups<A>,
    mut sync: impl FnMut() -> Result<(), StoreError>,
    mut release: impl FnMut(Vec<A>),
    failure: &OnceLock<StoreError>,
) -> Vec<A> {
    while let Some(mut answers) = groups.wait() {
        // Every group received by now was committed before: one sync serves all of them.
        while let Some(more) = groups.more() {
            answers.extend(more);
        }
        match sync() {
            Ok(()) => release(answers),
            Err(error) => {
                // The group is not acknowledged, since whether it is on disk is unknown.
                let _ = failure.set(error);
                return answers;
            }
        }
    }
    Vec::new()
}

async fn let_go(mut opened: UnboundedReceiver<Vec<Answer>>) {
    while let Some(answers) = opened.recv().await {
        for (to, answer) in answers {
            // A disconnected caller misses its response; its request was executed.
            let _ = to.send(answer);
        }
    }
}

#[cfg(test)]
mod tests;
