//! The payment gateway (spec 2 §4.3, §4.4).

use pg_model::{Auth, Preauth};

use super::{
    Context, Refusal,
    method::{Entry, Permission, Serve, entry},
};

mod auth;
mod authorise;
mod bank;
mod card;
mod order;
mod preauth;

/// The methods of the service.
pub(super) const METHODS: &[Entry] = &[entry::<Auth>(), entry::<Preauth>()];
