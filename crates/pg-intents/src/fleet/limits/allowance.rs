//! The account's requests per minute, divided among all processes: each process leases small blocks of them from the store.
//!
//! A block permits [`size`](Blocks::size) requests within [`USE`] of its lease. Afterwards it rests until none of its
//! requests can count in the service's minute. So all blocks together never permit more requests in a minute than the
//! account may send, and a process queries the store once per block, not once per request. A block whose process died
//! becomes free by the store's clock.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use pg_hyper::{Clock, RequestEnd};

use super::super::stopwatch::Stopwatch;
use crate::{FleetPlan, IntentStore, ShareWish, StoreError};

/// How long a process sends from a block.
const USE: Duration = Duration::from_secs(10);
/// A minute of the service, plus a second because two clocks count it.
const MINUTE: Duration = Duration::from_secs(61);
/// The number of blocks into which the limit is divided, if the limit is that large. Processes with different limits share these
/// blocks, so together they send no more than the largest limit permits.
const MOST_BLOCKS: u32 = 20;

/// The division of an account's limit into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Blocks {
    count: u32,
    size: u32,
}

impl Blocks {
    /// Returns `None` if there is no limit.
    fn of(per_minute: u32) -> Option<Self> {
        if per_minute == u32::MAX {
            return None;
        }
        Some(Self { count: per_minute.clamp(1, MOST_BLOCKS), size: (per_minute / MOST_BLOCKS).max(1) })
    }
}

/// The number of requests that this process may send.
pub(super) struct Allowance<S> {
    store: Arc<S>,
    clock: Arc<dyn Clock>,
    /// The name of the account's limits in the store.
    account: String,
    owner: String,
    blocks: Option<Blocks>,
    /// How long a request without a reply may be in transit (assumption A142).
    longest_way: Duration,
    taken: AtomicU64,
    /// The block in use. Only the request whose turn it is changes it.
    current: Mutex<Option<Arc<Block>>>,
}

struct Block {
    name: String,
    size: u32,
    left: AtomicU32,
    /// When the query for it began.
    since: Stopwatch,
    /// The number of requests that have not ended yet, as far as is known.
    open: AtomicU32,
    /// Whether it is closed: no further request uses it.
    closed: AtomicBool,
    /// Whether one of its requests may still be in transit. Then it rests until its lease ends.
    doubtful: AtomicBool,
}

/// One request of a block. If it is dropped without [`landed`](Allowance::landed), its block rests longer.
pub(super) struct Slot(Arc<Block>);

impl<S: IntentStore> Allowance<S> {
    pub(super) fn new(store: Arc<S>, account: &str, owner: &str, plan: &FleetPlan) -> Self {
        Self {
            store,
            clock: Arc::clone(&plan.clock),
            account: format!("{account} minute"),
            owner: owner.to_owned(),
            blocks: Blocks::of(plan.per_minute),
            longest_way: plan.longest_way,
            taken: AtomicU64::new(0),
            current: Mutex::new(None),
        }
    }

    /// Returns whether one more request may be sent. Queries the store if necessary.
    pub(super) async fn is_ready(&self) -> Result<bool, StoreError> {
        let Some(blocks) = self.blocks else { return Ok(true) };
        let current = self.lock().clone();
        if let Some(block) = current {
            if self.is_usable(&block) {
                return Ok(true);
            }
            block.closed.store(true, Ordering::SeqCst);
            self.rest(&block).await;
            *self.lock() = None;
        }
        let since = Stopwatch::start(&*self.clock);
        // Each block has its own name: a block whose lease was not acknowledged is never used.
        let name = format!("{} block {}", self.owner, self.taken.fetch_add(1, Ordering::SeqCst));
        if self.shares(&name, blocks.count, 1, self.longest()).await? == 0 {
            return Ok(false);
        }
        *self.lock() = Some(Arc::new(Block {
            name,
            size: blocks.size,
            left: AtomicU32::new(blocks.size),
            since,
            open: AtomicU32::new(0),
            closed: AtomicBool::new(false),
            doubtful: AtomicBool::new(false),
        }));
        Ok(true)
    }

    /// Takes one request of the block in use; `None` if it permits none. `Some(None)` if there is no limit.
    pub(super) fn take(&self) -> Option<Option<Slot>> {
        if self.blocks.is_none() {
            return Some(None);
        }
        let current = self.lock();
        let block = current.as_ref().filter(|block| self.is_usable(block))?;
        block.left.fetch_sub(1, Ordering::SeqCst);
        block.open.fetch_add(1, Ordering::SeqCst);
        Some(Some(Slot(Arc::clone(block))))
    }

    fn is_usable(&self, block: &Block) -> bool {
        block.since.passed(&*self.clock) < USE && block.left.load(Ordering::SeqCst) > 0
    }

    /// Reports how a request ended.
    pub(super) async fn landed(&self, Slot(block): Slot, end: &RequestEnd) {
        match end {
            RequestEnd::NotSent => drop(block.left.fetch_add(1, Ordering::SeqCst)),
            RequestEnd::Accepted | RequestEnd::Refused(_) | RequestEnd::Answered => {}
            _ => block.doubtful.store(true, Ordering::SeqCst),
        }
        block.open.fetch_sub(1, Ordering::SeqCst);
        if block.closed.load(Ordering::SeqCst) {
            self.rest(&block).await;
        }
    }

    /// Gives back the rest of the block in use.
    pub(super) async fn close(&self) {
        let current = self.lock().take();
        if let Some(block) = current {
            block.closed.store(true, Ordering::SeqCst);
            self.rest(&block).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Block>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shortens a block's rest to a minute, when all its requests are known to have ended. An unused block need not
    /// rest.
    async fn rest(&self, block: &Block) {
        let over = block.open.load(Ordering::SeqCst) == 0 && !block.doubtful.load(Ordering::SeqCst);
        let is_unused = block.left.load(Ordering::SeqCst) == block.size;
        let rest = if is_unused { Duration::ZERO } else { MINUTE };
        if let (true, Some(blocks)) = (over, self.blocks)
            && let Err(error) = self.shares(&block.name, blocks.count, 0, rest).await
        {
            tracing::warn!(target: "pg.fleet", %error, "a block of requests was not released early; it expires by itself");
        }
    }

    async fn shares(&self, owner: &str, total: u32, most: u32, lease: Duration) -> Result<u32, StoreError> {
        let (account, longest) = (&*self.account, self.longest());
        self.store.shares(ShareWish { account, owner, total, most, lease, longest, quarantine: Duration::ZERO }).await
    }

    /// Returns how long a block is taken without another call.
    const fn longest(&self) -> Duration {
        USE.saturating_add(MINUTE).saturating_add(self.longest_way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_never_permit_more_than_the_limit() {
        for per_minute in 1..500 {
            let blocks = Blocks::of(per_minute).unwrap();
            assert!(blocks.count * blocks.size <= per_minute, "{per_minute}: {blocks:?}");
            assert!(blocks.count <= MOST_BLOCKS, "blocks that a process with another limit does not see: {blocks:?}");
        }
        assert_eq!(Blocks::of(100), Some(Blocks { count: 20, size: 5 }));
        assert_eq!(Blocks::of(u32::MAX), None);
    }
}
