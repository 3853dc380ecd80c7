//! Tests of several crates together, and of documents against the code, in one program, which is linked once.
//! The tests that need a browser are a separate program, because they take longest.

mod blocking;
mod codegen;
mod dialect_guide;
mod drive;
mod error_codes;
mod first_payment;
mod front_end_gateway;
mod garbage;
mod hostile;
mod in_process;
mod journey;
mod json_text;
mod mock_server;
mod openapi;
mod rehearsed;
mod replies;
mod requests;
mod store_errors;
mod vectors;
mod walk;
