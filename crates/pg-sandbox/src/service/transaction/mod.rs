//! The payment gateway (spec 2 §4.3, §4.4).
//!
//! A payment is an order ([`charge`]) and a card ([`card`]) that [`authorise`] brings to the simulated
//! [`bank`]; what follows it, captures, cancellations and refunds, is an [`operation`] on its record.

use pg_model::{
    Auth, AuthCardKey, AuthSessionKey, CancelPreauth, CapturePreauth, Preauth, Refund, TransactionLookup,
    UpdateTransaction,
};

use super::{
    Context, Refusal,
    method::{Entry, Permission, Serve, entry},
};

mod auth;
mod auth_card_key;
mod auth_session_key;
mod authorise;
mod bank;
mod cancel_preauth;
mod capture_preauth;
mod card;
mod charge;
mod lookup;
mod operation;
mod preauth;
mod refund;
mod reply;
mod update;

pub(super) use authorise::pay;
pub(super) use card::PayingCard;
pub(super) use charge::{Charge, MOST};
pub(super) use operation::{Portion, Step, find, perform, refuse_unless_refundable, refuse_unless_reserved};

/// The methods of the service.
pub(super) const METHODS: &[Entry] = &[
    entry::<Auth>(),
    entry::<AuthCardKey>(),
    entry::<AuthSessionKey>(),
    entry::<Preauth>(),
    entry::<CapturePreauth>(),
    entry::<CancelPreauth>(),
    entry::<Refund>(),
    entry::<UpdateTransaction>(),
    entry::<TransactionLookup>(),
];
