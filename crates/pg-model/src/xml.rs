//! Replies in XML, with the root element `serviceResponse` (spec 1 §2).

mod part;
#[cfg(feature = "xml")]
mod rare;
#[cfg(any(not(feature = "xml"), test))]
mod rare_bare;
mod read;
mod scan;
mod write;

pub use read::{read, read_any};
pub use write::write;

/// The root element of every reply.
pub const ROOT: &str = "serviceResponse";
