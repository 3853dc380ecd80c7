//! Configured misbehaviour of the next callbacks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a callback misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Misbehaviour {
    /// The callback is journaled and never sent.
    Fail,
    /// The callback is sent later, by this number of seconds on the sandbox's clock.
    Late {
        /// The delay.
        seconds: u64,
    },
    /// The callback is sent twice, the second time immediately after the first.
    Twice,
}

impl Misbehaviour {
    /// Returns the delay of the callback.
    #[must_use]
    pub const fn delay(self) -> Duration {
        match self {
            Self::Late { seconds } => Duration::from_secs(seconds),
            Self::Fail | Self::Twice => Duration::ZERO,
        }
    }

    /// Returns the number of deliveries.
    #[must_use]
    pub const fn deliveries(self) -> u32 {
        match self {
            Self::Fail => 0,
            Self::Late { .. } => 1,
            Self::Twice => 2,
        }
    }
}

/// The next callbacks that misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackBehaviour {
    /// How they misbehave.
    #[serde(flatten)]
    pub misbehaviour: Misbehaviour,
    /// How many callbacks are left.
    pub times: u32,
}
