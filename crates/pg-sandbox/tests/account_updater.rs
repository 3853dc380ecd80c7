//! The account updater and its callbacks as a merchant meets them: through requests, answers and what
//! the sandbox wants sent, on a clock that the test turns.

#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that it calls")]

mod batches;
mod callbacks;
mod control;
mod desk;
mod isolation;
mod refusals;
mod restart;
mod simulator;
