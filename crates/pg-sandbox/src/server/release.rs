//! Answers wait here until what they acknowledge is on the disk.

use std::{
    io,
    sync::{
        Arc, OnceLock,
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

use crate::store::{StoreError, Syncer};

/// Where an answer goes, and the answer.
type Answer = (oneshot::Sender<Response<Bytes>>, Response<Bytes>);

/// Where groups of answers go back to the runtime of the connections: to wake it once for a group costs a system call, to
/// wake it for each answer would cost one each.
type GroupSender = UnboundedSender<Vec<Answer>>;

/// Lets answers go, in the order in which they were given.
pub(super) enum Release {
    /// The store has nothing to wait for.
    AtOnce(GroupSender),
    /// A thread syncs and lets go.
    Synced { groups: Sender<Vec<Answer>>, failure: Arc<OnceLock<StoreError>>, thread: thread::JoinHandle<()> },
}

impl Release {
    /// Belongs into the runtime of the connections.
    pub(super) fn start(syncer: Option<Syncer>) -> io::Result<Self> {
        let (door, opened) = unbounded_channel();
        tokio::spawn(let_go(opened));
        let Some(syncer) = syncer else { return Ok(Self::AtOnce(door)) };
        let (groups, waiting) = channel();
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        let thread = thread::Builder::new().name("sandbox-syncer".to_owned()).spawn(move || {
            let release = |answers| {
                // The runtime only ends after the last answer was sent.
                let _ = door.send(answers);
            };
            run(&waiting, || syncer.sync(), release, &failed);
        })?;
        Ok(Self::Synced { groups, failure, thread })
    }

    /// Lets these go once everything that was committed by now is on the disk.
    pub(super) fn after_sync(&self, answers: Vec<Answer>) {
        match self {
            Self::AtOnce(door) => {
                // The runtime only ends after the last answer was sent.
                let _ = door.send(answers);
            }
            Self::Synced { groups, .. } => {
                // The thread has only ended if the disk has failed; then these must not go.
                let _ = groups.send(answers);
            }
        }
    }

    /// Why the disk keeps nothing any more.
    pub(super) fn failure(&self) -> Option<&StoreError> {
        match self {
            Self::AtOnce(_) => None,
            Self::Synced { failure, .. } => failure.get(),
        }
    }

    /// Returns when the last answer is on its way.
    pub(super) fn finish(self) {
        if let Self::Synced { groups, thread, .. } = self {
            drop(groups);
            // It fails only when it has panicked, which has been reported.
            let _ = thread.join();
        }
    }
}

/// Groups of answers that the writer has handed over, each after its commit.
trait Groups<A> {
    /// The next one; waits for it. Nothing when the writer has ended.
    fn wait(&self) -> Option<Vec<A>>;
    /// One that is there already.
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

fn run<A>(
    groups: &impl Groups<A>,
    mut sync: impl FnMut() -> Result<(), StoreError>,
    mut release: impl FnMut(Vec<A>),
    failure: &OnceLock<StoreError>,
) {
    while let Some(mut answers) = groups.wait() {
        // Whatever was handed over by now was committed by now: one sync serves all of it.
        while let Some(more) = groups.more() {
            answers.extend(more);
        }
        match sync() {
            Ok(()) => release(answers),
            Err(error) => {
                // It is not acknowledged, since it is unknown whether the disk has it.
                let _ = failure.set(error);
                return;
            }
        }
    }
}

async fn let_go(mut opened: UnboundedReceiver<Vec<Answer>>) {
    while let Some(answers) = opened.recv().await {
        for (to, answer) in answers {
            // A caller that has gone away misses its answer; what it asked for has happened.
            let _ = to.send(answer);
        }
    }
}

#[cfg(test)]
mod tests;
