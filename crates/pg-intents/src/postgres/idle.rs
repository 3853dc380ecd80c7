//! The connections that no statement uses.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_postgres::Client;

/// A connection, and the number of doubts of the pool when it was opened.
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) epoch: u64,
}

/// The connections that the next statements use. After an answer that puts their server or role in doubt, none of the connections of before
/// is used again, since only a new one is checked.
#[derive(Default)]
pub(super) struct Idle(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    connections: Vec<Arc<Connection>>,
    doubts: u64,
}

impl Idle {
    pub(super) fn take(&self) -> Option<Arc<Connection>> {
        let mut kept = self.kept();
        std::iter::from_fn(|| kept.connections.pop()).find(|connection| !connection.client.is_closed())
    }

    /// Keeps a connection for the next statement, or closes it after a doubt.
    pub(super) fn keep(&self, connection: Arc<Connection>) {
        let mut kept = self.kept();
        if connection.epoch == kept.doubts {
            kept.connections.push(connection);
        }
    }

    /// The number of doubts so far.
    pub(super) fn epoch(&self) -> u64 {
        self.kept().doubts
    }

    /// Closes the connections, and keeps none that is in use, after an answer to one of this epoch. Later ones were checked since then.
    pub(super) fn doubt(&self, epoch: u64) {
        let mut kept = self.kept();
        if kept.doubts == epoch {
            kept.connections.clear();
            kept.doubts += 1;
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
