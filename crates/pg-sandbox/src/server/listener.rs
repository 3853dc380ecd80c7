//! Accepts connections until it is stopped.

use std::time::Duration;

use pg_connections::Acceptor;
use tokio::{sync::watch, task::JoinSet};
use tokio_rustls::TlsAcceptor;

use super::{
    connection::{self, Counter},
    writer::Queue,
};
use crate::form::FormLimits;

/// The minimum wake-up rate of the runtime. Each new timer that ends before all others makes tokio wake itself with a
/// system call, until tokio waits again. This timer ends before those of requests, so theirs cost no system call.
const TICK: Duration = Duration::from_secs(10);
/// The time that requests in progress get when the server stops.
pub(super) const GRACE: Duration = Duration::from_secs(5);

pub(super) async fn listen(
    mut acceptor: Acceptor,
    tls: Option<TlsAcceptor>,
    queue: Queue,
    limits: FormLimits,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    let counter = Counter::new(queue, limits);
    loop {
        tokio::select! {
            // The sender is gone if the server was dropped, which stops it too.
            _ = stopped.changed() => break,
            accepted = acceptor.next() => {
                connections.spawn(connection::serve(accepted, tls.clone(), counter.clone(), stopped.clone()));
            }
            Some(_) = connections.join_next() => {}
            _ = tokio::time::timeout(TICK, std::future::pending::<()>()) => {}
        }
    }
    drop((acceptor, counter));
    let ended = async { while connections.join_next().await.is_some() {} };
    // The remaining connections are closed when the set is dropped.
    let _ = tokio::time::timeout(GRACE, ended).await;
}
