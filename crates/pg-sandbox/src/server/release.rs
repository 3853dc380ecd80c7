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

use super::inbox::{Last, Message};
use crate::store::{StoreError, Syncer};

/// Where an answer goes, and the answer.
type Answer = (oneshot::Sender<Response<Bytes>>, Response<Bytes>);

/// Where groups of answers go back to the runtime of the connections: to wake it once for a group costs a system call, to
/// wake it for each answer would cost one each.
type Door = UnboundedSender<Vec<Answer>>;

/// Lets answers go, in the order in which they were given.
pub(super) enum Release {
    /// The store has nothing to wait for.
    AtOnce(Door),
    /// A thread syncs and lets go.
    Synced { groups: Sender<Vec<Answer>>, failure: Arc<OnceLock<StoreError>>, thread: thread::JoinHandle<()> },
}

impl Release {
    /// Belongs into the runtime of the connections.
    pub(super) fn start(syncer: Option<Syncer>, writer: &Sender<Message>) -> io::Result<Self> {
        let (door, opened) = unbounded_channel();
        tokio::spawn(let_go(opened));
        let Some(syncer) = syncer else { return Ok(Self::AtOnce(door)) };
        let (groups, waiting) = channel();
        let failure = Arc::new(OnceLock::new());
        let failed = Arc::clone(&failure);
        // The writer waits for groups that are under way: it has to know when none of them will arrive any more.
        let end = Last { to: writer.clone(), message: || Message::Synced(usize::MAX) };
        let thread = thread::Builder::new().name("sandbox-syncer".to_owned()).spawn(move || {
            run(&syncer, &waiting, &door, &failed, &end.to);
            // In this order: no group is handed over once the writer was told.
            drop(waiting);
            drop(end);
        })?;
        Ok(Self::Synced { groups, failure, thread })
    }

    /// Lets these go once everything that was committed by now is on the disk. Gives the number of groups for which the
    /// writer will be told that they are there.
    pub(super) fn after_sync(&self, answers: Vec<Answer>) -> usize {
        match self {
            Self::AtOnce(door) => {
                // The runtime only ends when nobody waits for an answer any more.
                let _ = door.send(answers);
                0
            }
            // The thread has only ended if the disk has failed; then these must not go.
            Self::Synced { groups, .. } => usize::from(groups.send(answers).is_ok()),
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

fn run(
    syncer: &Syncer,
    waiting: &Receiver<Vec<Answer>>,
    door: &Door,
    failure: &OnceLock<StoreError>,
    writer: &Sender<Message>,
) {
    while let Ok(first) = waiting.recv() {
        // Whatever was handed over by now was committed by now: one sync serves all of it.
        let (mut answers, mut groups) = (first, 1);
        for more in waiting.try_iter() {
            answers.extend(more);
            groups += 1;
        }
        match syncer.sync() {
            Ok(()) => {
                // The writer has only ended, and the runtime too, if nobody waits for an answer any more.
                let _ = writer.send(Message::Synced(groups));
                let _ = door.send(answers);
            }
            Err(error) => {
                // Nobody is told that it was done, since nobody knows.
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
