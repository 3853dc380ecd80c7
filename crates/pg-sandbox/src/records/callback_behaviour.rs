//! What the next callbacks were told to do instead of arriving once and in time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a callback does instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Misbehaviour {
    /// It is journaled and never sent.
    Fail,
    /// It is sent later, by so many seconds of the sandbox's clock.
    Late {
        /// How much later.
        seconds: u64,
    },
    /// It is sent twice, the second time right after the first.
    Twice,
}

impl Misbehaviour {
    /// How much later than usual it is due.
    #[must_use]
    pub const fn delay(self) -> Duration {
        match self {
            Self::Late { seconds } => Duration::from_secs(seconds),
            Self::Fail | Self::Twice => Duration::ZERO,
        }
    }

    /// How often it is sent.
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
    /// What they do.
    #[serde(flatten)]
    pub misbehaviour: Misbehaviour,
    /// How many of them are left.
    pub times: u32,
}
