//! Idle connections for the next request to the same host.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use http::{
    Uri,
    uri::{Authority, Scheme},
};
use tokio::{
    runtime::{Handle, Id},
    task::JoinHandle,
    time::Instant,
};

use crate::{alarm::now, connection::Connection};

/// Idle connections by destination, the most recently used one on top. Each belongs to the runtime that opened it, which
/// alone watches its socket and its timer.
pub(crate) struct Pool {
    places: Mutex<Places>,
    /// Maximum number of idle connections per destination.
    limit: usize,
    idle_time: Duration,
}

/// An account has at most two destinations, so a linear search is fastest.
#[derive(Default)]
struct Places {
    all: Vec<Place>,
    /// Closes expired connections until no connection is left.
    sweeper: Option<JoinHandle<()>>,
}

struct Place {
    scheme: Option<Scheme>,
    authority: Option<Authority>,
    idle: Vec<Idle>,
}

struct Idle {
    connection: Connection,
    runtime: Id,
    since: Instant,
}

impl Pool {
    pub(crate) fn new(limit: usize, idle_time: Duration) -> Self {
        Self { places: Mutex::default(), limit, idle_time }
    }

    /// Returns a connection of the current runtime that was open when it was last checked. If the other runtime is not
    /// running at present, a request on its connection would wait for ever, without a deadline.
    pub(crate) fn take(&self, uri: &Uri, now: Instant) -> Option<Connection> {
        let here = Handle::try_current().ok()?.id();
        let mut places = self.lock();
        let place = places.all.iter_mut().find(|place| place.leads_to(uri))?;
        let at = place.idle.iter().rposition(|idle| idle.runtime == here)?;
        let idle = place.idle.remove(at);
        if now.duration_since(idle.since) < self.idle_time {
            return Some(idle.connection);
        }
        // The connections below have been idle even longer.
        place.idle.drain(..at);
        None
    }

    /// Keeps a connection of the current runtime for the next request.
    pub(crate) fn put(self: &Arc<Self>, uri: &Uri, connection: Connection) {
        let idle = Idle { connection, runtime: Handle::current().id(), since: now() };
        let mut places = self.lock();
        let at = places.all.iter().position(|place| place.leads_to(uri)).unwrap_or_else(|| {
            places.all.push(Place { scheme: uri.scheme().cloned(), authority: uri.authority().cloned(), idle: vec![] });
            places.all.len() - 1
        });
        let place = &mut places.all[at].idle;
        if self.limit > 0 {
            if place.len() >= self.limit {
                // The oldest connection may belong to a runtime that has ended.
                place.remove(0);
            }
            place.push(idle);
            if places.sweeper.as_ref().is_none_or(JoinHandle::is_finished) {
                places.sweeper = Some(tokio::spawn(sweep(Arc::downgrade(self), self.idle_time)));
            }
        }
    }

    /// Closes expired connections; returns whether any are left.
    fn close_old(&self, now: Instant) -> bool {
        let mut places = self.lock();
        for place in &mut places.all {
            place.idle.retain(|idle| now.duration_since(idle.since) < self.idle_time);
        }
        let any = places.all.iter().any(|place| !place.idle.is_empty());
        if !any {
            places.sweeper = None;
        }
        any
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        // Code under the lock cannot leave it inconsistent.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    fn leads_to(&self, uri: &Uri) -> bool {
        self.authority.as_ref() == uri.authority() && self.scheme.as_ref() == uri.scheme()
    }
}

#[expect(clippy::disallowed_methods, reason = "the transport is where time comes in: idle connections expire")]
async fn sweep(pool: Weak<Pool>, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        if !pool.upgrade().is_some_and(|pool| pool.close_old(now())) {
            return;
        }
    }
}
