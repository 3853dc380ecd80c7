//! Replies in JSON.

mod fill;
mod read;
mod unknown;
mod write;

pub use read::read;
pub use write::write;
