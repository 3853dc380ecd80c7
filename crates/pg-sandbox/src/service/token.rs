//! The card tokenisation and account updater services (spec 1 §4).

use pg_model::{
    CardKey, DeleteToken, DisableToken, EnableToken, MerchantCustomerReference, RequestAccountUpdater,
    RetrieveAccountUpdater, TokenLookup, TokeniseTransactionKey, UpdateCardKeyDetails,
};

use super::{
    Context, Refusal,
    method::{Entry, entry},
};
use crate::codes::SandboxErrorCode;
use crate::{assumed, merchants::Merchant, records::CardToken};

mod account_updater;
mod detail;
mod lookup;
mod states;
mod tokenise_transaction_key;
mod update_card_key_details;

pub(super) use account_updater::finish_batches;

/// The methods of the service.
pub(super) const METHODS: &[Entry] = &[
    entry::<TokenLookup>(),
    entry::<EnableToken>(),
    entry::<DisableToken>(),
    entry::<DeleteToken>(),
    entry::<UpdateCardKeyDetails>(),
    entry::<TokeniseTransactionKey>(),
    entry::<RequestAccountUpdater>(),
    entry::<RetrieveAccountUpdater>(),
];

/// Returns the account's token with this key. A customer reference in the request must be the token's (spec 1 §3.1; A56
/// to A58).
pub(super) fn find(
    context: &mut Context<'_>,
    merchant: &Merchant,
    key: &CardKey,
    customer: Option<&MerchantCustomerReference>,
) -> Result<CardToken, Refusal> {
    let found = context.records.get_of::<CardToken>(&merchant.name, key.as_str())?;
    let token = found
        .ok_or_else(|| Refusal::from(SandboxErrorCode::UNKNOWN_CARD_KEY).assuming(assumed::KEYS_OF_OTHER_ACCOUNTS))?;
    if customer.is_some_and(|customer| customer.is_empty()) {
        context.basis.assume(assumed::CUSTOMER_REFERENCE_THAT_DOES_NOT_MATCH);
    }
    fits(&token, customer)?;
    Ok(token)
}

/// Refuses a customer reference that is not exactly the token's; an empty one is not checked
/// (A58).
fn fits(token: &CardToken, customer: Option<&MerchantCustomerReference>) -> Result<(), Refusal> {
    match customer.filter(|customer| !customer.is_empty()) {
        Some(customer) if token.customer_reference.as_deref() != Some(customer.as_str()) => {
            Err(SandboxErrorCode::CUSTOMER_REFERENCE_MISMATCH.into())
        }
        _ => Ok(()),
    }
}

/// Warns about a text of a token in which a card number is masked (A200).
fn warn_of_mask(context: &mut Context<'_>, name: &str) {
    context.basis.assume(assumed::CARD_NUMBERS_IN_FREE_TEXT);
    context.warn(&format!("{name} contains a value like a card number, which is masked in the token"));
}
