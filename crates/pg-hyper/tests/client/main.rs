//! The client against servers of a few lines on loopback ports.

mod calls;
mod faults;
mod recorder;
mod secrets;
mod server;
mod tls;
