//! The client against servers of a few lines on loopback ports.

mod blocking;
mod calls;
mod faults;
mod recorder;
mod secrets;
mod server;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
mod without_tls;
