//! The bounds.

use std::time::Duration;

/// What a server grants its peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at the same time. Default: 1,024.
    pub connections: usize,
    /// Connections of one address at the same time; a loopback address has no bound of its own. Default: 256.
    pub per_address: usize,
    /// Bytes of request bodies held at the same time, over all connections. Default: 32 MiB.
    pub body_bytes: u32,
    /// The wait for the first byte of a connection. Default: 5 seconds.
    pub first_byte: Duration,
    /// The wait for a peer that does not read what was written. Default: 5 seconds.
    pub write: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            per_address: 256,
            body_bytes: 32 << 20,
            first_byte: Duration::from_secs(5),
            write: Duration::from_secs(5),
        }
    }
}
