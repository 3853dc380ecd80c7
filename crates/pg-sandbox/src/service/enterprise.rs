//! The hosted checkout and utility service (spec 3 §4).

use pg_model::{
    AddressLookup, CancelToken, EnterpriseCancel, EnterpriseCapture, EnterpriseRefund, EnterpriseTransactionLookup,
    GetToken, Repeat, Sms,
};

use super::{
    Context, Refusal,
    method::{Entry, Serve, entry},
    transaction,
};

mod address;
mod amount;
mod cancel_token;
mod checkout;
mod checkout_callback;
mod checkout_reply;
mod country;
mod follow_ups;
mod get_token;
mod repeat;
mod result;
mod sms;
mod transaction_lookup;

pub(super) use checkout::{open_authentication, pay, pay_authenticated};

/// The methods of the service.
pub(super) const METHODS: &[Entry] = &[
    entry::<GetToken>(),
    entry::<Repeat>(),
    entry::<EnterpriseRefund>(),
    entry::<EnterpriseCapture>(),
    entry::<EnterpriseCancel>(),
    entry::<Sms>(),
    entry::<AddressLookup>(),
    entry::<EnterpriseTransactionLookup>(),
    entry::<CancelToken>(),
];
