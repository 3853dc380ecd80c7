//! Replies in JSON.

mod invisible;
mod read;
mod scan;
mod write;

pub use invisible::escape_invisible;
pub use read::read;
pub use write::write;
