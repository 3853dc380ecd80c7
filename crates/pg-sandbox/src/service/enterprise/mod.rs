//! The hosted checkout and utility service (spec 3 §4).

use pg_model::{EnterpriseCancel, EnterpriseCapture, EnterpriseRefund, EnterpriseTransactionLookup, Repeat};

use super::{
    Context, Refusal,
    method::{Entry, Serve, entry},
    transaction,
};

mod amount;
mod cancel;
mod capture;
mod refund;
mod repeat;
mod result;
mod transaction_lookup;

/// The methods of the service.
pub(super) const METHODS: &[Entry] = &[
    entry::<Repeat>(),
    entry::<EnterpriseRefund>(),
    entry::<EnterpriseCapture>(),
    entry::<EnterpriseCancel>(),
    entry::<EnterpriseTransactionLookup>(),
];
