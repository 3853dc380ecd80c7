//! Limits of a listener.

use std::time::Duration;

/// Limits of a server on its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// Maximum number of connections. Default: 1,024.
    pub connections: usize,
    /// Maximum number of connections of one address. An IPv6 network of 64 bits counts as one address, since the holder
    /// of one address has them all. At the limit, a new connection is closed if all connections of its address are being
    /// answered. Behind a proxy on another machine all clients have the address of the proxy: set `usize::MAX`, and let
    /// the proxy limit its clients. Default: 256.
    pub per_address: usize,
    /// The same maximum for each loopback address. A local proxy and local programs share one, and outside peers have
    /// none, so the default is unlimited.
    pub per_loopback_address: usize,
    /// Maximum number of bytes of all request bodies in memory. Default: 16 MiB.
    pub body_bytes: u32,
    /// First bytes of each body that do not count, so that a small request never waits for large ones. Default: 8 KiB.
    pub free_body_bytes: u32,
    /// Maximum number of bytes of all replies that wait for their peers. Default: 16 MiB.
    pub reply_bytes: usize,
    /// Time limit for the first byte of a connection. Default: 5 seconds.
    pub first_byte: Duration,
    /// Time limit for a peer that does not read. Default: 5 seconds.
    pub write: Duration,
}

impl ConnectionLimits {
    /// Sets the maximum number of connections.
    #[must_use]
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// Sets the maximum number of connections of one address.
    #[must_use]
    pub const fn per_address(mut self, per_address: usize) -> Self {
        self.per_address = per_address;
        self
    }

    /// Sets the maximum number of connections of each loopback address.
    #[must_use]
    pub const fn per_loopback_address(mut self, per_loopback_address: usize) -> Self {
        self.per_loopback_address = per_loopback_address;
        self
    }

    /// Sets the maximum number of bytes of all request bodies in memory.
    #[must_use]
    pub const fn body_bytes(mut self, body_bytes: u32) -> Self {
        self.body_bytes = body_bytes;
        self
    }

    /// Sets how many first bytes of each body do not count.
    #[must_use]
    pub const fn free_body_bytes(mut self, free_body_bytes: u32) -> Self {
        self.free_body_bytes = free_body_bytes;
        self
    }

    /// Sets the maximum number of bytes of all replies that wait for their peers.
    #[must_use]
    pub const fn reply_bytes(mut self, reply_bytes: usize) -> Self {
        self.reply_bytes = reply_bytes;
        self
    }

    /// Sets the time limit for the first byte of a connection.
    #[must_use]
    pub const fn first_byte(mut self, first_byte: Duration) -> Self {
        self.first_byte = first_byte;
        self
    }

    /// Sets the time limit for a peer that does not read.
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
