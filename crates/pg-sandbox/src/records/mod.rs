//! What the sandbox remembers: one kind of record a file.

mod card;
mod card_token;
mod failed_attempts;
mod meta;
mod payment;
mod session;
mod unique_reference;

pub use card::{Details, HeldCard};
pub use card_token::CardToken;
pub use failed_attempts::{Block, FailedAttempts};
pub use meta::Meta;
pub use payment::{Payment, PaymentKind, Service};
pub use session::{SESSION_LIFETIME, Session};
pub use unique_reference::UniqueReference;
