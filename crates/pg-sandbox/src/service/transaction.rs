//! The payment gateway (spec 2 §4.3, §4.4).
//!
//! A payment is an order ([`charge`]) and a card ([`card`]) that [`authorise`] brings to the simulated [`bank`]; a
//! later capture, cancellation or refund is an [`operation`] on its record. With 3-D Secure, the order and the card
//! first become a check, which opens an [`authentication`].

use pg_model::{
    Auth, AuthCardKey, AuthSessionKey, AuthThreeDSecure, CancelPreauth, CapturePreauth, GetAuthenticationStatus,
    InitiateThreeDSecureCardKey, InitiateThreeDSecureSessionKey, Preauth, PreauthThreeDSecure, Refund,
    TransactionLookup, UpdateTransaction,
};

use super::{
    Context, Refusal,
    method::{Entry, Permission, Serve, entry},
};

pub(super) mod authentication;
mod authorise;
pub(super) mod bank;
mod card;
mod charge;
mod follow_ups;
mod get_authentication_status;
mod initiate_three_d_secure;
mod lookup;
mod operation;
mod payments;
mod references;
mod reply;
mod three_d_secure;
mod update;

pub(super) use authorise::pay;
pub(super) use card::PayingCard;
pub(super) use charge::{Charge, MOST};
pub(super) use initiate_three_d_secure::open as open_authentication;
pub(super) use operation::{
    Portion, Step, cancel, capture, find, perform, refuse_other_currency, refuse_unless_refundable,
    refuse_unless_reserved,
};
pub(super) use references::References;

/// The methods of the service.
pub(super) const METHODS: &[Entry] = &[
    entry::<Auth>(),
    entry::<AuthCardKey>(),
    entry::<AuthSessionKey>(),
    entry::<Preauth>(),
    entry::<InitiateThreeDSecureSessionKey>(),
    entry::<InitiateThreeDSecureCardKey>(),
    entry::<GetAuthenticationStatus>(),
    entry::<AuthThreeDSecure>(),
    entry::<PreauthThreeDSecure>(),
    entry::<CapturePreauth>(),
    entry::<CancelPreauth>(),
    entry::<Refund>(),
    entry::<UpdateTransaction>(),
    entry::<TransactionLookup>(),
];
