//! Accepts connections until it is told to stop.

use std::time::Duration;

use pg_connections::Acceptor;
use tokio::{sync::watch, task::JoinSet};

use super::{
    connection::{self, Counter},
    writer::Queue,
};
use crate::form::FormLimits;

/// How often the runtime is woken at least. A time limit that ends before all others has tokio wake itself with a system call, for
/// every one that is set until it waits again; this one ends before those of requests, so that they cost nothing.
const TICK: Duration = Duration::from_secs(10);
/// How long the requests that are there may take when the server stops.
pub(super) const GRACE: Duration = Duration::from_secs(5);

pub(super) async fn listen(
    mut acceptor: Acceptor,
    queue: Queue,
    limits: FormLimits,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    let counter = Counter::new(queue, limits);
    loop {
        tokio::select! {
            // The sender is gone when the server was dropped, which stops it too.
            _ = stopped.changed() => break,
            accepted = acceptor.next() => {
                connections.spawn(connection::serve(accepted, counter.clone(), stopped.clone()));
            }
            Some(_) = connections.join_next() => {}
            _ = tokio::time::timeout(TICK, std::future::pending::<()>()) => {}
        }
    }
    drop((acceptor, counter));
    let ended = async { while connections.join_next().await.is_some() {} };
    // What is left after that is cut off when the set is dropped.
    let _ = tokio::time::timeout(GRACE, ended).await;
}
