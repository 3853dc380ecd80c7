//! Every method's request: its parameters in signing order and back, its rules by hand and by table, and the content of
//! its errors.

#![allow(clippy::panic, reason = "panicking is how a test fails, also in what tests share")]

mod limits;
mod methods;
mod order;
mod parameters;
mod rules;
mod secrets;
