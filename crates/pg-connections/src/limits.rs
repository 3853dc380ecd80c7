//! The bounds.

use std::time::Duration;

/// What a server grants its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// Connections at the same time. Default: 1,024.
    pub connections: usize,
    /// Connections of one address at the same time; an IPv6 network of 64 bits counts as one address, since the holder of one of its
    /// addresses has them all. Default: 256.
    pub per_address: usize,
    /// The same for each loopback address. A proxy on this machine and the programs of a developer share one, and strangers have none, so
    /// there is no bound by default.
    pub per_loopback_address: usize,
    /// Bytes of request bodies held at the same time, over all connections. Default: 16 MiB.
    pub body_bytes: u32,
    /// The first bytes of each body, which are not counted, so that a small request never waits for large ones. Default: 8 KiB.
    pub free_body_bytes: u32,
    /// Bytes of replies that wait for their peers to read them, over all connections. Default: 16 MiB.
    pub reply_bytes: usize,
    /// The wait for the first byte of a connection. Default: 5 seconds.
    pub first_byte: Duration,
    /// The wait for a peer that does not read what was written. Default: 5 seconds.
    pub write: Duration,
}

impl ConnectionLimits {
    /// Connections at the same time.
    #[must_use]
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// Connections of one address at the same time.
    #[must_use]
    pub const fn per_address(mut self, per_address: usize) -> Self {
        self.per_address = per_address;
        self
    }

    /// The same for each loopback address.
    #[must_use]
    pub const fn per_loopback_address(mut self, per_loopback_address: usize) -> Self {
        self.per_loopback_address = per_loopback_address;
        self
    }

    /// Bytes of request bodies held at the same time, over all connections.
    #[must_use]
    pub const fn body_bytes(mut self, body_bytes: u32) -> Self {
        self.body_bytes = body_bytes;
        self
    }

    /// The first bytes of each body, which are not counted, so that a small request never waits for large ones.
    #[must_use]
    pub const fn free_body_bytes(mut self, free_body_bytes: u32) -> Self {
        self.free_body_bytes = free_body_bytes;
        self
    }

    /// Bytes of replies that wait for their peers to read them, over all connections.
    #[must_use]
    pub const fn reply_bytes(mut self, reply_bytes: usize) -> Self {
        self.reply_bytes = reply_bytes;
        self
    }

    /// The wait for the first byte of a connection.
    #[must_use]
    pub const fn first_byte(mut self, first_byte: Duration) -> Self {
        self.first_byte = first_byte;
        self
    }

    /// The wait for a peer that does not read what was written.
    #[must_use]
    pub const fn write(mut self, write: Duration) -> Self {
        self.write = write;
        self
    }
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 1024,
            per_address: 256,
            per_loopback_address: usize::MAX,
            body_bytes: 16 << 20,
            free_body_bytes: 8 << 10,
            reply_bytes: 16 << 20,
            first_byte: Duration::from_secs(5),
            write: Duration::from_secs(5),
        }
    }
}
