//! What follows a payment: captures, cancellations and refunds of all or a part of it.

use std::num::NonZeroU64;

use pg_model::{ErrorCode, SandboxErrorCode, Transaction, TransactionKey};

use super::{Context, Refusal, bank, reply};
use crate::{
    merchants::Merchant,
    records::{Payment, PaymentKind, Service},
};

/// How much of what is left an operation asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Portion {
    /// A request without a value.
    All,
    /// Minor units of the original's currency.
    Part(NonZeroU64),
}

impl Portion {
    /// The portion of a request; a value of 0 is error 107 (assumptions 96 and 97).
    pub(super) fn asked(value: Option<u64>) -> Result<Self, Refusal> {
        match value {
            None => Ok(Self::All),
            Some(value) => NonZeroU64::new(value).map(Self::Part).ok_or_else(invalid_value),
        }
    }

    /// The amount, when so much is left; more is error 107 (spec 2 §3.2).
    pub(super) fn of(self, left: u64) -> Result<u64, Refusal> {
        match self {
            Self::All => Ok(left),
            Self::Part(value) if value.get() <= left => Ok(value.get()),
            Self::Part(_) => Err(invalid_value()),
        }
    }
}

fn invalid_value() -> Refusal {
    ErrorCode::INVALID_TRANSACTION_VALUE.into()
}

/// The account's transaction of this key (assumptions 56 and 57).
pub(super) fn find(context: &mut Context<'_>, merchant: &Merchant, key: &TransactionKey) -> Result<Payment, Refusal> {
    let found = context.records.get_of::<Payment>(&merchant.name, key.as_str())?;
    found.ok_or_else(|| Refusal::from(SandboxErrorCode::UNKNOWN_TRANSACTION_KEY).assuming(56))
}

/// The account's preauth of this key, of which something is still reserved (assumptions 95 and 96).
pub(super) fn find_reservation(
    context: &mut Context<'_>,
    merchant: &Merchant,
    key: &TransactionKey,
) -> Result<Payment, Refusal> {
    context.basis.assume(96);
    let preauth = find(context, merchant, key)?;
    if preauth.kind != PaymentKind::PreAuth || !preauth.approved() {
        Err(SandboxErrorCode::WRONG_TRANSACTION_TYPE.into())
    } else if preauth.reserved() == 0 || context.now >= preauth.reserved_until() {
        Err(SandboxErrorCode::PREAUTH_CLOSED.into())
    } else {
        Ok(preauth)
    }
}

/// Records an approved operation on an original that has been changed by it, and the original.
///
/// References are copied except the unique one (assumption 94). The items stay with the original:
/// a part of its amount need not be any of them.
pub(super) fn record(
    context: &mut Context<'_>,
    original: &Payment,
    kind: PaymentKind,
    amount: u64,
) -> Result<Transaction, Refusal> {
    context.basis.assume(94);
    let key = context.keys.record(context.now);
    let card = match &original.card {
        Some(card) => Some(card.moved(context.vault, context.keys.dice(), &original.key, &key)?),
        None => None,
    };
    let answer = bank::approved(context, kind == PaymentKind::Capture);
    let mut details = original.details.clone();
    details.retain(|name, _| !name.starts_with("item"));
    let operation = Payment {
        key,
        merchant: original.merchant.clone(),
        kind,
        service: Service::V3,
        status_code: answer.code,
        status: answer.status,
        amount,
        currency: original.currency.clone(),
        parent: Some(original.key.clone()),
        merchant_reference: original.merchant_reference.clone(),
        reference_added: false,
        unique_reference: None,
        customer_reference: original.customer_reference.clone(),
        captured: 0,
        cancelled: 0,
        refunded: 0,
        card,
        card_key: original.card_key.clone(),
        bank: answer.bank,
        details,
        recipient: Default::default(),
        created: context.now,
    };
    context.records.put(original)?;
    context.records.put(&operation)?;
    Ok(reply::standard(&operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(value: Option<u64>, left: u64) -> Option<u64> {
        Portion::asked(value).and_then(|portion| portion.of(left)).ok()
    }

    #[test]
    fn a_portion_is_at_most_what_is_left() {
        assert_eq!(amount(None, 5), Some(5));
        assert_eq!(amount(Some(1), 5), Some(1));
        assert_eq!(amount(Some(5), 5), Some(5));
        assert_eq!(amount(Some(6), 5), None);
        assert_eq!(amount(Some(u64::MAX), 5), None);
        assert_eq!(amount(Some(0), 5), None);
    }
}
