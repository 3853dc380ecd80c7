//! The account updater (spec 1 §2.2 to §2.4, §4.8, §4.9): batches are requested, worked off two
//! minutes later on the sandbox's clock, and retrieved.

use super::{super::callback, Context, Merchant, Refusal};

mod answer;
mod finish;
mod request;
mod retrieve;
mod shown;

pub(in crate::service) use finish::finish_batches;
