//! Explains a signature: how it is computed, and which mistake produces a different one.

mod diagnosis;
mod explanation;
mod masking;
mod mistake;
mod recipe;
#[cfg(test)]
mod tests;
mod values;

pub use diagnosis::{Diagnosis, diagnose};
pub use explanation::{DropReason, DroppedParameter, Explanation, SignedParameter, explain};
pub use mistake::Mistake;
