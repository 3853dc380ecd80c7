//! The replies in `vectors/replies`, written by hand from the structures in the documents: each is read as its typed
//! record, XML and JSON as the same one, and the written form of that record has the structure of the file.

#![allow(clippy::panic, reason = "panicking is how a test fails, also in what tests share")]

mod enterprise;
mod errors;
mod golden;
mod session;
mod token;
mod transaction;
