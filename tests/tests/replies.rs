//! The replies in `vectors/replies`, written by hand from the shapes of the documents: each reads as the typed record
//! it stands for, XML and JSON as the same one, and what is written for that record has the shape of the file.

#![allow(clippy::panic, reason = "panicking is how a test fails, also in what tests share")]

mod enterprise;
mod errors;
mod golden;
mod session;
mod token;
mod transaction;
