//! What users of the crate see, in one program.

#![cfg(test)]

mod fleet;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod proof;
#[cfg(feature = "postgres")]
mod server;
mod sqlite;
mod world;
