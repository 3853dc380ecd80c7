//! Replies in JSON.

mod read;
mod scan;
mod write;

pub use read::read;
pub use write::write;
