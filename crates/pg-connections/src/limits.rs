//! The bounds.

use std::time::Duration;

/// What a server grants its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections at the same time. Default: 1,024.
    pub connections: usize,
    /// Connections of one address at the same time; an IPv6 network of 64 bits counts as one address, since whoever has one of its
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
