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
use tokio::sync::oneshot;

use crate::store::{StoreError, Syncer};

/// Where an answer goes, and the answer.
type Answer = (oneshot::Sender<Response<Bytes>>, Response<Bytes>);

/// Lets answers go, in the order in which they were given.
pub(super) enum Release {
    /// The store has nothing to wait for.
    AtOnce,
    /// A thread syncs and lets go.
    Synced { groups: Sender<Vec<Answer>>, failure: Arc<OnceLock<StoreError>>, thread: thread::JoinHandle<()> },
}

impl Release {
    pub(super) fn start(syncer: Option<Syncer>) -> io::Result<Self> {
        let Some(syncer) = syncer else { return Ok(Self::AtOnce) };
        let (groups, waiting) = channel();
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        let thread =
            thread::Builder::new().name("sandbox-syncer".to_owned()).spawn(move || run(&syncer, &waiting, &failed))?;
        Ok(Self::Synced { groups, failure, thread })
    }

    /// Lets these go once everything that was committed by now is on the disk.
    pub(super) fn after_sync(&self, answers: Vec<Answer>) {
        match self {
            Self::AtOnce => let_go(answers),
            // The thread has only ended if the disk has failed; then these must not go.
            Self::Synced { groups, .. } => drop(groups.send(answers)),
        }
    }

    /// Why the disk keeps nothing any more.
    pub(super) fn failure(&self) -> Option<&StoreError> {
        match self {
            Self::AtOnce => None,
            Self::Synced { failure, .. } => failure.get(),
        }
    }

    /// Returns when the last answer has gone.
    pub(super) fn finish(self) {
        if let Self::Synced { groups, thread, .. } = self {
            drop(groups);
            // It fails only when it has panicked, which has been reported.
            let _ = thread.join();
        }
    }
}

fn run(syncer: &Syncer, waiting: &Receiver<Vec<Answer>>, failure: &OnceLock<StoreError>) {
    while let Ok(first) = waiting.recv() {
        // Whatever was handed over by now was committed by now: one sync serves all of it.
        let groups: Vec<_> = std::iter::once(first).chain(waiting.try_iter()).collect();
        match syncer.sync() {
            Ok(()) => groups.into_iter().for_each(let_go),
            Err(error) => {
                // Nobody is told that it was done, since nobody knows.
                let _ = failure.set(error);
                return;
            }
        }
    }
}

fn let_go(answers: Vec<Answer>) {
    for (to, answer) in answers {
        // A caller that has gone away misses its answer; what it asked for has happened.
        let _ = to.send(answer);
    }
}
