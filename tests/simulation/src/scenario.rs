//! The choice of a world: its seed, and the parts that are switched off.

use std::fmt;

/// A fault that may occur in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Disturbance {
    /// Requests are lost.
    LostRequests,
    /// Replies are lost.
    LostReplies,
    /// Requests and replies take seconds to hours.
    LongDelays,
    /// The network delivers requests and replies more than once.
    Duplicates,
    /// Connections are refused.
    Refusals,
    /// Connections break during the wait for a reply.
    Cuts,
    /// Replies are damaged, or come from a proxy.
    Garbling,
    /// The service crashes, and loses uncommitted data.
    ServerCrashes,
    /// Merchants' servers crash, and continue from their saved state.
    ClientCrashes,
    /// Merchants' clocks jump.
    ClockJumps,
    /// Merchants deploy wrong credentials, and notice later.
    WrongCredentials,
    /// A stranger behind a merchant's address locks it out.
    Strangers,
    /// A stranger sends forged callbacks.
    Forgeries,
    /// Customers think too long, post twice, or in two tabs.
    Customers,
    /// Stored cards are disabled, enabled and deleted while they are paid with or refreshed.
    CardKeys,
    /// A restarted server has another merchant's configuration for a while.
    OtherAccounts,
    /// Another program of the merchant pays something else under the same reference.
    SharedReferences,
    /// The bank declines operations on a payment, and more often those that it has executed already.
    Declines,
    /// Several processes of the service share its store, behind a load balancer.
    Processes,
    /// Connections to the database of a fleet break, before and after a commit.
    LostConnections,
    /// The database of a fleet takes seconds.
    SlowDatabase,
    /// The database of a fleet fails over.
    Failovers,
    /// Processes of a fleet sleep for longer than their leases, also in the middle of a send.
    Sleepers,
    /// Processes of two versions work side by side.
    Versions,
}

impl Disturbance {
    pub(crate) const ALL: [Self; 24] = [
        Self::LostRequests,
        Self::LostReplies,
        Self::LongDelays,
        Self::Duplicates,
        Self::Refusals,
        Self::Cuts,
        Self::Garbling,
        Self::ServerCrashes,
        Self::ClientCrashes,
        Self::ClockJumps,
        Self::WrongCredentials,
        Self::Strangers,
        Self::Forgeries,
        Self::Customers,
        Self::CardKeys,
        Self::OtherAccounts,
        Self::SharedReferences,
        Self::Declines,
        Self::Processes,
        Self::LostConnections,
        Self::SlowDatabase,
        Self::Failovers,
        Self::Sleepers,
        Self::Versions,
    ];
}

/// A world. The same scenario gives the same world, to the last byte of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The number that determines everything.
    pub seed: u64,
    /// One bit for each kind of fault that may occur.
    troubles: u32,
    /// One bit for each order that is placed.
    orders: u32,
    /// Whether the service may use another dialect than the sandbox's.
    differs: bool,
}

impl Scenario {
    /// Returns the complete world of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed, troubles: u32::MAX, orders: u32::MAX, differs: true }
    }

    /// Returns the same world with the sandbox's own dialect.
    #[must_use]
    pub const fn of_the_sandbox(seed: u64) -> Self {
        Self { differs: false, ..Self::new(seed) }
    }

    pub(crate) const fn may_differ(self) -> bool {
        self.differs
    }

    pub(crate) const fn has(self, trouble: Disturbance) -> bool {
        self.troubles & (1 << trouble as u32) != 0
    }

    pub(crate) const fn without(self, trouble: Disturbance) -> Self {
        Self { troubles: self.troubles & !(1 << trouble as u32), ..self }
    }

    pub(crate) const fn places(self, order: usize) -> bool {
        self.orders & (1 << (order % 32)) != 0
    }

    /// Returns all worlds that have one part less.
    pub(crate) fn smaller(self) -> impl Iterator<Item = Self> {
        let orders = (0..8).map(move |order| Self { orders: self.orders & !(1 << order), ..self });
        let troubles = Disturbance::ALL.into_iter().map(move |one| self.without(one));
        orders.chain(troubles).filter(move |smaller| *smaller != self)
    }
}

/// Shows the seed, the orders that are left out, and the remaining faults.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}", self.seed)?;
        let left_out: Vec<String> =
            (0..8).filter(|&order| !self.places(order)).map(|order| order.to_string()).collect();
        if !left_out.is_empty() {
            write!(f, ", without orders {}", left_out.join(" "))?;
        }
        if self.troubles != u32::MAX {
            let left: Vec<String> =
                Disturbance::ALL.iter().filter(|one| self.has(**one)).map(|one| format!("{one:?}")).collect();
            write!(f, ", with {}", if left.is_empty() { "no troubles".to_owned() } else { left.join(" ") })?;
        }
        Ok(())
    }
}
