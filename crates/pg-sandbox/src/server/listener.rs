//! Takes connections, a bounded number at a time, until it is told to stop.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};

use super::{connection, writer::Queue};
use crate::form::Limits;

/// The most connections at a time; further ones wait to be taken.
const CONNECTIONS: usize = 1024;
/// How long the requests that are there may take when the server stops.
pub(super) const GRACE: Duration = Duration::from_secs(5);

pub(super) async fn listen(listener: TcpListener, queue: Queue, limits: Limits, mut stopped: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // The sender is gone when the server was dropped, which stops it too.
            _ = stopped.changed() => break,
            accepted = accept(&listener, &places) => {
                if let Ok((stream, place)) = accepted {
                    let serving = connection::serve(stream, queue.clone(), limits, stopped.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(place);
                    });
                } else {
                    out_of_files().await;
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    // What is left after that is cut off when the set is dropped.
    let _ = tokio::time::timeout(GRACE, ended).await;
}

/// A connection that cannot be taken stays pending and would be tried again at once.
#[expect(clippy::disallowed_methods, reason = "others have to end first, and nothing tells when they have")]
async fn out_of_files() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}
