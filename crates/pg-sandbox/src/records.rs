//! The records of the sandbox: one kind per file.

/// The key and the merchant of a record with fields of these names.
macro_rules! key_and_merchant {
    () => {
        fn key(&self) -> &str {
            &self.key
        }

        fn merchant(&self) -> &str {
            &self.merchant
        }
    };
}

mod account;
mod authentication;
mod batch;
mod callback;
mod callback_behaviour;
mod callback_destination;
mod card;
mod card_token;
mod checkout_token;
mod checkout_visit;
mod failed_attempts;
mod fault;
mod meta;
mod payment;
mod session;
mod sms;
mod unique_reference;
mod updater_answer;

use crate::store::{Kind, StoredRecord as _};

/// Every kind of record: an engine needs one table for each.
pub const KINDS: &[&Kind] = &[
    Authentication::KIND,
    Batch::KIND,
    BatchCards::KIND,
    Callback::KIND,
    CallbackBody::KIND,
    CardToken::KIND,
    CheckoutToken::KIND,
    CheckoutVisit::KIND,
    FailedAttempts::KIND,
    Fault::KIND,
    Meta::KIND,
    Payment::KIND,
    Session::KIND,
    TextMessage::KIND,
    UniqueReference::KIND,
    UpdaterAnswer::KIND,
];

use account::due_column;
pub use account::{Account, AccountEntry, Credentials, LAST_DUE, before_due, due_by, is_on_own_clock};
pub use authentication::{Authentication, AuthenticationEnd, CHALLENGE_TIME};
pub use batch::{BATCH_TIME, Batch, BatchCards, BatchEntry, NewToken};
pub use callback::{Callback, CallbackBody, CallbackKind, CallbackStatus, Delivery};
pub use callback_behaviour::{CallbackBehaviour, Misbehaviour};
pub use callback_destination::CallbackDestination;
pub use card::{Details, HeldCard};
pub use card_token::CardToken;
pub use checkout_token::{CheckoutItem, CheckoutToken, TokenEnd, UNLIMITED};
pub use checkout_visit::{CheckoutVisit, FormOutcome};
pub use failed_attempts::{Block, FailedAttempts};
pub use fault::{Fault, FaultKind, Silence, asks_bank};
pub use meta::Meta;
pub use payment::{Payment, PaymentKind, Service};
pub use session::{SESSION_LIFETIME, Session};
pub use sms::TextMessage;
pub use unique_reference::UniqueReference;
pub use updater_answer::UpdaterAnswer;
