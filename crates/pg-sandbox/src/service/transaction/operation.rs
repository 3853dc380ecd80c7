//! Operations on a payment: captures, cancellations and refunds of all or part of it.

use std::num::NonZeroU64;

use pg_model::{ErrorCode, Transaction, TransactionKey};

use super::{Context, Refusal, bank, references::References, reply};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed,
    merchants::Merchant,
    records::{Details, Payment, PaymentKind, Service},
    service::unique_reference,
};

/// The part of the remaining amount that an operation uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::service) enum Portion {
    /// The whole remainder: a request without a value.
    All,
    /// Minor units of the original's currency.
    Part(NonZeroU64),
}

impl Portion {
    /// Returns the portion of a request; a value of 0 is error 107 (A96 and A97).
    pub(in crate::service) fn asked(value: Option<u64>) -> Result<Self, Refusal> {
        match value {
            None => Ok(Self::All),
            Some(value) => NonZeroU64::new(value).map(Self::Part).ok_or_else(invalid_value),
        }
    }

    /// Returns the amount if it does not exceed the remaining amount; more is error 107 (spec 2 §3.2).
    pub(in crate::service) fn of(self, left: u64) -> Result<u64, Refusal> {
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

/// Returns the account's transaction of this key (A56 and A57).
pub(in crate::service) fn find(
    context: &mut Context<'_>,
    merchant: &Merchant,
    key: &TransactionKey,
) -> Result<Payment, Refusal> {
    let found = context.records.get_of::<Payment>(&merchant.name, key.as_str())?;
    found.ok_or_else(|| {
        Refusal::from(SandboxErrorCode::UNKNOWN_TRANSACTION_KEY).assuming(assumed::KEYS_OF_OTHER_ACCOUNTS)
    })
}

/// Returns the account's preauth with this key, which must still reserve an amount (A95 and A96).
pub(super) fn find_reservation(
    context: &mut Context<'_>,
    merchant: &Merchant,
    key: &TransactionKey,
) -> Result<Payment, Refusal> {
    let preauth = find(context, merchant, key)?;
    refuse_unless_reserved(context, &preauth)?;
    Ok(preauth)
}

/// Refuses a transaction that is not an approved preauth, or has no reservation left (A95 and A96).
pub(in crate::service) fn refuse_unless_reserved(context: &mut Context<'_>, preauth: &Payment) -> Result<(), Refusal> {
    context.basis.assume(assumed::LIFE_OF_A_PREAUTH);
    if preauth.kind != PaymentKind::PreAuth || !preauth.approved() {
        Err(SandboxErrorCode::WRONG_TRANSACTION_TYPE.into())
    } else if preauth.reserved() == 0 || context.now >= preauth.reserved_until() {
        Err(SandboxErrorCode::PREAUTH_CLOSED.into())
    } else {
        Ok(())
    }
}

/// Refuses a transaction that is not an approved debit, or is fully refunded (A95 and A97).
pub(in crate::service) fn refuse_unless_refundable(context: &mut Context<'_>, debit: &Payment) -> Result<(), Refusal> {
    if !matches!(debit.kind, PaymentKind::Auth | PaymentKind::Capture) || !debit.approved() {
        return Err(SandboxErrorCode::WRONG_TRANSACTION_TYPE.into());
    }
    context.basis.assume(assumed::SEVERAL_REFUNDS);
    if debit.refundable() == 0 { Err(SandboxErrorCode::NOTHING_TO_REFUND.into()) } else { Ok(()) }
}

/// Captures a portion of a reservation, which ends with it: the rest stays reserved until the bank releases it
/// (spec 2 §3.2, spec 3 §3.2; A96).
pub(in crate::service) fn capture(
    merchant: &Merchant,
    preauth: &mut Payment,
    portion: Portion,
) -> Result<u64, Refusal> {
    let amount = portion.of(preauth.reserved())?;
    preauth.captured += amount;
    preauth.closed = !merchant.divisible_preauths;
    Ok(amount)
}

/// Cancels a portion of a reservation. In version 5 the whole reservation ends with it; in version 3 the rest can still
/// be captured. A preauth of one version ends if it is cancelled through the other (A96).
pub(in crate::service) fn cancel(
    merchant: &Merchant,
    preauth: &mut Payment,
    portion: Portion,
    through: Service,
) -> Result<u64, Refusal> {
    let amount = portion.of(preauth.reserved())?;
    preauth.cancelled += amount;
    let all = [preauth.service, through].contains(&Service::V5);
    preauth.closed = all && !merchant.divisible_preauths;
    Ok(amount)
}

/// Refuses a `currency` that is not the original's, in a request whose method takes the currency from the original
/// (spec 2 §4.4; A151).
pub(in crate::service) fn refuse_other_currency(context: &Context<'_>, original: &Payment) -> Result<(), Refusal> {
    match &context.stray_currency {
        Some(currency) if *currency != original.currency => Err(Refusal::from(ErrorCode::CURRENCY_NOT_SUPPORTED)
            .about("it is not the currency of the original")
            .because_of("currency")
            .assuming(assumed::AMOUNTS_THAT_A_METHOD_DOES_NOT_HAVE)),
        _ => Ok(()),
    }
}

/// [`perform`] for the gateway's methods, with their reply.
pub(super) fn record(
    context: &mut Context<'_>,
    original: &Payment,
    kind: PaymentKind,
    amount: u64,
    references: References,
) -> Result<Transaction, Refusal> {
    let step = Step { kind, service: Service::V3, amount, details: Details::new(), references };
    Ok(reply::standard(&perform(context, original, step)?))
}

/// An operation on a transaction.
pub(in crate::service) struct Step {
    pub(in crate::service) kind: PaymentKind,
    /// The service that received it.
    pub(in crate::service) service: Service,
    /// Minor units of the original's currency.
    pub(in crate::service) amount: u64,
    /// Texts of the operation itself, by wire name.
    pub(in crate::service) details: Details,
    /// References of the operation itself.
    pub(in crate::service) references: References,
}

/// Records an approved operation and its changed original.
///
/// References that the request does not give are copied, except the unique one (A94). The items are not copied, since a
/// part of the amount need not be one of the items. Error 119 if a fault prevents the bank from answering.
pub(in crate::service) fn perform(
    context: &mut Context<'_>,
    original: &Payment,
    step: Step,
) -> Result<Payment, Refusal> {
    context.basis.assume(assumed::REFERENCES_OF_CAPTURES_CANCELLATIONS_AND_REFUNDS);
    refuse_other_currency(context, original)?;
    bank::listen(context)?;
    let key = context.keys.record(context.now);
    let card = match &original.card {
        Some(card) => Some(card.moved(context.vault, context.keys.dice(), &original.key, &key)?),
        None => None,
    };
    let answer = bank::approved(context, step.kind == PaymentKind::Capture);
    let mut details = original.details_to_copy();
    details.extend(step.details);
    // Lookups find neither of them by references that an update set on the original (A99).
    let reference_added = step.references.merchant.is_none() && original.reference_added;
    let references = step.references.or_of(original);
    let operation = Payment {
        key,
        merchant: original.merchant.clone(),
        kind: step.kind,
        service: step.service,
        status_code: answer.code,
        status: answer.status,
        amount: step.amount,
        currency: original.currency.clone(),
        parent: Some(original.key.clone()),
        merchant_reference: references.merchant,
        reference_added,
        unique_reference: references.unique,
        customer_reference: references.customer,
        captured: 0,
        cancelled: 0,
        closed: false,
        refunded: 0,
        card,
        card_key: original.card_key.clone(),
        bank: answer.bank,
        details,
        recipient: Default::default(),
        created: context.now,
    };
    unique_reference::lead_to(context, &operation.key);
    context.records.put(original)?;
    context.records.put(&operation)?;
    Ok(operation)
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
