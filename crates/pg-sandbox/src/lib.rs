//! The whole card payment service, stateful, on your machine.

pub mod cards;
pub mod clock;
pub mod config_file;
pub mod form;
pub mod key;
pub mod merchants;
pub mod records;
pub mod secret;
pub mod store;
pub mod timestamp;
pub mod vault;

pub use timestamp::Timestamp;
