//! `repeat` (spec 3 §4.2; A100 and A123).

use std::collections::BTreeMap;

use pg_model::{EnterpriseResult, EnterpriseTransactionType, Repeat, SystemAction};

use super::{
    Context, Refusal, Serve, amount, result,
    transaction::{self, Charge, PayingCard},
};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed,
    merchants::Merchant,
    records::{Payment, PaymentKind, Service},
};

impl Serve for Repeat {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<EnterpriseResult, Refusal> {
        context.basis.assume_all([assumed::TRANSACTIONS_OF_BOTH_VERSIONS, assumed::TRANSACTIONS_THAT_CAN_BE_REPEATED]);
        if has_other_case(&self.trans_type) {
            context.basis.assume(assumed::ENUMERATED_VALUES_OF_VERSION_5);
        }
        let original = transaction::find(context, merchant, &self.prev_trans_key)?;
        let amount = amount::payable(&self.trans_value, &original.currency)?;
        transaction::refuse_other_currency(context, &original)?;
        let card = card(context, &original)?;
        let kind = kind(&self.trans_type);
        let mut details = original.details_to_copy();
        details.extend(result::class(self.trans_class));
        let charge = Charge {
            service: Service::V5,
            parent: Some(original.key),
            amount,
            currency: original.currency,
            merchant_reference: original.merchant_reference,
            reference_added: original.reference_added,
            unique_reference: None,
            customer_reference: original.customer_reference,
            details,
            recipient: BTreeMap::new(),
        };
        let payment = transaction::pay(context, merchant, kind, charge, card)?;
        Ok(result::of(context, &payment, SystemAction::REPEAT))
    }
}

/// Returns the card of a successful payment; others are error 951 (A123).
fn card(context: &Context<'_>, original: &Payment) -> Result<PayingCard, Refusal> {
    let kind = matches!(original.kind, PaymentKind::Auth | PaymentKind::PreAuth | PaymentKind::Capture);
    let card = if kind && original.approved() { PayingCard::of_payment(context, original)? } else { None };
    card.ok_or_else(|| SandboxErrorCode::WRONG_TRANSACTION_TYPE.into())
}

/// Whether a word differs from the document's spelling.
pub(super) fn has_other_case(trans_type: &EnterpriseTransactionType) -> bool {
    use EnterpriseTransactionType as Word;
    ![Word::REQUEST_AUTH, Word::REQUEST_PRE_AUTH].contains(trans_type) && !trans_type.as_str().is_empty()
}

/// Returns the kind of a payment; the table allows these two values, in any letter case (A143).
pub(super) fn kind(trans_type: &EnterpriseTransactionType) -> PaymentKind {
    let reserves = trans_type.as_str().eq_ignore_ascii_case(EnterpriseTransactionType::REQUEST_PRE_AUTH.as_str());
    if reserves { PaymentKind::PreAuth } else { PaymentKind::Auth }
}
