//! The card tokenisation service (spec 1 §4).

use pg_model::{CardKey, DeleteToken, DisableToken, EnableToken, MerchantCustomerReference, SandboxErrorCode};

use super::{
    Context, Refusal,
    method::{Entry, entry},
};
use crate::{merchants::Merchant, records::CardToken};

mod delete;
mod disable;
mod enable;

/// The methods of the service.
pub(super) const METHODS: &[Entry] = &[entry::<EnableToken>(), entry::<DisableToken>(), entry::<DeleteToken>()];

/// The account's token of this key; a customer reference that is given must be the token's
/// (spec 1 §3.1; assumptions 56 to 58).
pub(super) fn find(
    context: &mut Context<'_>,
    merchant: &Merchant,
    key: &CardKey,
    customer: Option<&MerchantCustomerReference>,
) -> Result<CardToken, Refusal> {
    let found = context.records.get_of::<CardToken>(&merchant.name, key.as_str())?;
    let token = found.ok_or_else(|| Refusal::from(SandboxErrorCode::UNKNOWN_CARD_KEY).assuming(56))?;
    match customer.filter(|customer| !customer.is_empty()) {
        Some(customer) if token.customer_reference.as_deref() != Some(customer.as_str()) => {
            Err(SandboxErrorCode::CUSTOMER_REFERENCE_MISMATCH.into())
        }
        _ => Ok(token),
    }
}
