//! The slots of connections, and which connection is closed to free one.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::ConnectionLimits;

/// The slots of one listener, or of requests that another server accepts. Clones share them.
#[derive(Clone, Debug)]
pub struct ConnectionSlots(Arc<Shared>);

struct Shared {
    limits: ConnectionLimits,
    state: Mutex<State>,
    freed: Notify,
    body_bytes: Arc<Semaphore>,
}

#[derive(Default)]
struct State {
    /// Counts events. Their order is the only time that is needed.
    events: u64,
    connections: HashMap<u64, Connection>,
    /// Connections accepted so far.
    accepted: u64,
    /// By how much the maximum number of connections is lowered, because the process has no more file descriptors.
    fewer: usize,
    /// Bytes of replies that peers have not read.
    replies: usize,
    idle: BTreeSet<Rank>,
    addresses: HashMap<IpAddr, Address>,
}

struct Connection {
    address: IpAddr,
    rank: Rank,
    idle: bool,
    /// Bytes of its body that the connection holds or waits for, without the uncounted first bytes.
    held: u32,
    /// Remaining bytes of its body that do not count.
    free: u32,
    /// Bytes of its replies that the peer has not read.
    replies: usize,
    close: Arc<Notify>,
}

#[derive(Default)]
struct Address {
    connections: usize,
    idle: BTreeSet<Rank>,
}

/// Orders idle connections: unknown peers first, then those that have not completed a request, then the longest idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// Whether its request is [known](ConnectionSlot::known).
    known: bool,
    /// Whether the connection has completed a request.
    spoken: bool,
    /// The event at which the connection became idle.
    since: u64,
    /// Its number among the accepted connections.
    id: u64,
}

/// Number of later connections after which a silent connection can be closed before those that have completed a
/// request. Without this grace, a flood of connections would close every new one before its first byte arrives.
const GRACE: u64 = 256;

/// File descriptors that are reserved for other uses, and the number of connections that a shortage of files never closes.
const SPARE: usize = 16;

/// The result of admitting a new connection.
pub(crate) enum Admission {
    Admitted(ConnectionSlot),
    /// Every connection is working: wait for [`ConnectionSlots::freed`].
    Full,
    /// Every connection of this address is working, and the address has reached its limit.
    Refused,
}

impl ConnectionSlots {
    /// Creates the slots that the limits allow.
    #[must_use]
    pub fn new(limits: ConnectionLimits) -> Self {
        Self(Arc::new(Shared {
            limits,
            state: Mutex::default(),
            freed: Notify::new(),
            body_bytes: Arc::new(Semaphore::new(limits.body_bytes as usize)),
        }))
    }

    /// Returns a slot for a peer at this address, and closes an idle connection if needed. Waits while every slot is
    /// working. `None` if every slot that one address may have is working.
    ///
    /// [`Acceptor`](crate::Acceptor) does this for connections. A server with its own listener uses it for requests.
    pub async fn enter(&self, address: IpAddr) -> Option<ConnectionSlot> {
        loop {
            let mut freed = std::pin::pin!(self.0.freed.notified());
            // From here on: several may wait, and a slot that is freed before the wait begins must not be missed.
            freed.as_mut().enable();
            match self.admit(address) {
                Admission::Admitted(place) => return Some(place),
                Admission::Full => freed.await,
                Admission::Refused => return None,
            }
        }
    }

    pub(crate) fn admit(&self, address: IpAddr) -> Admission {
        let mut state = self.0.lock();
        let limits = &self.0.limits;
        let address = address.to_canonical();
        let most = if address.is_loopback() { limits.per_loopback_address } else { limits.per_address };
        let address = network_of(address);
        let used = state.addresses.get(&address);
        if used.is_some_and(|used| used.connections >= most) {
            match used.and_then(|used| state.victim(&used.idle)) {
                Some(id) => state.close(id),
                None => return Admission::Refused,
            }
        }
        if state.connections.len() >= limits.connections.saturating_sub(state.fewer).max(1) {
            match state.victim(&state.idle) {
                Some(id) => state.close(id),
                None => return Admission::Full,
            }
        }
        let (id, close) = state.add(address, limits.free_body_bytes);
        Admission::Admitted(ConnectionSlot { id, close, places: self.clone() })
    }

    /// Lowers the maximum number of connections until [`ConnectionSlots::recover`], and closes idle ones. The last few
    /// connections remain: to close them would free next to nothing.
    pub(crate) fn shrink(&self) {
        let mut state = self.0.lock();
        let most = state.connections.len().saturating_sub(SPARE).max(SPARE);
        state.fewer = self.0.limits.connections.saturating_sub(most);
        while state.connections.len() > most
            && let Some(id) = state.victim(&state.idle)
        {
            state.close(id);
        }
    }

    /// Restores the configured maximum number of connections.
    pub(crate) fn recover(&self) {
        self.0.lock().fewer = 0;
    }

    /// Returns once a slot may have been freed since the last [`ConnectionSlots::admit`].
    pub(crate) async fn freed(&self) {
        self.0.freed.notified().await;
    }
}

/// Returns the unit that counts as one address: an IPv4 address, mapped into IPv6 or not, or the network of an IPv6
/// address.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        other => other,
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No panic can interrupt a change midway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionSlots").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl State {
    fn event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    fn add(&mut self, address: IpAddr, free: u32) -> (u64, Arc<Notify>) {
        self.accepted += 1;
        let (id, since) = (self.accepted, self.event());
        let rank = Rank { known: false, spoken: false, since, id };
        let close = Arc::new(Notify::new());
        let connection = Connection { address, rank, idle: true, held: 0, free, replies: 0, close: Arc::clone(&close) };
        self.connections.insert(id, connection);
        self.idle.insert(rank);
        let of_address = self.addresses.entry(address).or_default();
        of_address.connections += 1;
        of_address.idle.insert(rank);
        (id, close)
    }

    /// Returns which of these to close next, a known one only if all are known: the oldest silent one, unless it is new;
    /// otherwise the longest idle.
    fn victim(&self, idle: &BTreeSet<Rank>) -> Option<u64> {
        let known = idle.first()?.known;
        let silent = idle.first().filter(|rank| !rank.spoken);
        if let Some(silent) = silent.filter(|rank| self.accepted - rank.id >= GRACE) {
            return Some(silent.id);
        }
        let spoken = idle.range(Rank { known, spoken: true, since: 0, id: 0 }..).next();
        let spoken = spoken.filter(|rank| rank.known == known);
        silent.into_iter().chain(spoken).min_by_key(|rank| rank.since).map(|rank| rank.id)
    }

    fn close(&mut self, id: u64) {
        if let Some(connection) = self.remove(id) {
            connection.close.notify_one();
        }
    }

    fn remove(&mut self, id: u64) -> Option<Connection> {
        let connection = self.connections.remove(&id)?;
        self.idle.remove(&connection.rank);
        self.replies = self.replies.saturating_sub(connection.replies);
        if let Some(of_address) = self.addresses.get_mut(&connection.address) {
            of_address.idle.remove(&connection.rank);
            of_address.connections -= 1;
            if of_address.connections == 0 {
                self.addresses.remove(&connection.address);
            }
        }
        Some(connection)
    }

    fn set_idle(&mut self, id: u64, idle: bool) {
        let since = self.event();
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.idle == idle {
            return;
        }
        connection.idle = idle;
        let of_address = self.addresses.entry(connection.address).or_default();
        if idle {
            connection.rank = Rank { known: false, spoken: true, since, id };
            self.idle.insert(connection.rank);
            of_address.idle.insert(connection.rank);
        } else {
            self.idle.remove(&connection.rank);
            of_address.idle.remove(&connection.rank);
        }
    }

    fn set_known(&mut self, id: u64) {
        let Some(connection) = self.connections.get_mut(&id).filter(|connection| connection.idle) else { return };
        let of_address = self.addresses.entry(connection.address).or_default();
        for idle in [&mut self.idle, &mut of_address.idle] {
            idle.remove(&connection.rank);
            idle.insert(Rank { known: true, ..connection.rank });
        }
        connection.rank.known = true;
    }

    /// Closes connections other than `but` whose peers do not read their replies, the longest idle first, until at most
    /// `most` bytes wait.
    fn close_unread(&mut self, but: u64, most: usize) {
        if self.replies <= most {
            return;
        }
        let unread: Vec<u64> = self
            .idle
            .iter()
            .filter(|rank| rank.id != but && self.connections.get(&rank.id).is_some_and(|held| held.replies > 0))
            .map(|rank| rank.id)
            .collect();
        for id in unread {
            if self.replies <= most {
                return;
            }
            self.close(id);
        }
    }

    /// Closes idle connections other than `but` that hold bytes of a body, the oldest first, until `wanted` bytes are
    /// free.
    fn close_holders(&mut self, but: u64, wanted: u32) {
        let mut freed = 0_u32;
        let holders: Vec<(u64, u32)> = self
            .idle
            .iter()
            .filter(|rank| rank.id != but)
            .filter_map(|rank| Some((rank.id, self.connections.get(&rank.id)?.held)))
            .filter(|(_, held)| *held > 0)
            .take_while(|(_, held)| {
                let enough = freed >= wanted;
                freed = freed.saturating_add(*held);
                !enough
            })
            .collect();
        for (id, _) in holders {
            self.close(id);
        }
    }
}

/// The slot of one connection. Dropping it frees the slot.
#[derive(Debug)]
pub struct ConnectionSlot {
    id: u64,
    close: Arc<Notify>,
    places: ConnectionSlots,
}

/// Reserved bytes of a body. Dropping it frees them.
#[derive(Debug)]
pub struct BodyPermit(OwnedSemaphorePermit);

/// Bytes of a reply that wait for the peer. Drop the value when the peer has read them, or never will.
#[derive(Debug)]
pub struct ResponsePermit {
    id: u64,
    bytes: usize,
    places: ConnectionSlots,
}

impl Drop for ResponsePermit {
    fn drop(&mut self) {
        let mut state = self.places.0.lock();
        // A closed connection releases its bytes with it.
        if let Some(connection) = state.connections.get_mut(&self.id) {
            connection.replies = connection.replies.saturating_sub(self.bytes);
            state.replies = state.replies.saturating_sub(self.bytes);
        }
    }
}

impl BodyPermit {
    /// Takes over the reservations of another slot of the same listener.
    pub fn join(&mut self, other: Self) {
        self.0.merge(other.0);
    }
}

impl ConnectionSlot {
    /// Returns when this connection must be closed in favour of another one.
    pub async fn closed(&self) {
        self.close.notified().await;
    }

    /// Marks the request that arrives as one of a known peer, for example by a token in its head: until it is answered,
    /// its connection is closed only if no other idle connection can be closed. Limit how many requests of one peer are
    /// marked: a peer whose requests take all slots leaves new peers one slot, which the next one takes.
    pub fn known(&self) {
        self.places.0.lock().set_known(self.id);
    }

    /// Marks the request as complete and being answered: the connection is not closed until [`ConnectionSlot::idle`].
    pub fn working(&self) {
        self.places.0.lock().set_idle(self.id, false);
    }

    /// Marks the response as handed over: the server now waits for the peer.
    pub fn idle(&self) {
        let mut state = self.places.0.lock();
        if let Some(connection) = state.connections.get_mut(&self.id) {
            connection.held = 0;
            connection.free = self.places.0.limits.free_body_bytes;
        }
        state.set_idle(self.id, true);
        drop(state);
        self.places.0.freed.notify_one();
    }

    /// Waits until `bytes` more bytes of a body can be reserved. If there is no room, other incomplete bodies lose
    /// theirs together with their connections, the oldest first. Set a timeout: complete bodies are freed only once
    /// they are answered.
    ///
    /// `None` if a single body asks for more than all bodies together may have.
    pub async fn hold(&self, bytes: usize) -> Option<BodyPermit> {
        let shared = &self.places.0;
        let mut wanted = u32::try_from(bytes).ok()?;
        if let Some(connection) = shared.lock().connections.get_mut(&self.id) {
            let free = wanted.min(connection.free);
            connection.free -= free;
            wanted -= free;
            connection.held = connection.held.saturating_add(wanted);
        }
        if wanted > shared.limits.body_bytes {
            return None;
        }
        if let Ok(permit) = Arc::clone(&shared.body_bytes).try_acquire_many_owned(wanted) {
            return Some(BodyPermit(permit));
        }
        shared.lock().close_holders(self.id, wanted);
        Arc::clone(&shared.body_bytes).acquire_many_owned(wanted).await.ok().map(BodyPermit)
    }

    /// Marks the reserved bytes of its body as given back.
    pub(crate) fn released(&self) {
        if let Some(connection) = self.places.0.lock().connections.get_mut(&self.id) {
            connection.held = 0;
        }
    }
}

impl ConnectionSlot {
    /// Counts a reply of `bytes` bytes until the returned value is dropped: drop it when the reply was written. If too
    /// many bytes wait, it closes the connections whose peers have not read for longest.
    #[must_use]
    pub fn reply(&self, bytes: usize) -> ResponsePermit {
        let mut state = self.places.0.lock();
        if let Some(connection) = state.connections.get_mut(&self.id) {
            connection.replies += bytes;
            state.replies += bytes;
        }
        state.close_unread(self.id, self.places.0.limits.reply_bytes);
        ResponsePermit { id: self.id, bytes, places: self.places.clone() }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.places.0.lock().remove(self.id);
        self.places.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests;
