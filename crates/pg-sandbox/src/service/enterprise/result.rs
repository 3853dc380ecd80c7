//! Operations as the service shows them (spec 3 §2.2).

use pg_model::{EnterpriseResult, EnterpriseTransactionType, Flag, SystemAction};

use super::{Context, amount};
use crate::{
    assumed,
    records::{Details, Payment, PaymentKind},
};

/// Returns the reply of repeat, refund, capture and cancel; a decline has no `auth_code` (A113).
pub(super) fn of(context: &mut Context<'_>, payment: &Payment, action: SystemAction) -> EnterpriseResult {
    context.basis.assume_all([
        assumed::PREV_TRANS_KEY_IS_TEXT,
        assumed::FAILURE_BY_STATUS_OR_BY_ERROR,
        assumed::SPELLING_OF_VERSION_5_RESULTS,
    ]);
    let auth_code = payment.bank.iter().find(|(name, _)| name == "bankAuthCode");
    EnterpriseResult::default().with(|record| {
        record.trans_type = trans_type(payment.kind);
        record.trans_value = amount::decimal(payment.amount, &payment.currency);
        record.prev_trans_key = payment.parent.as_deref().unwrap_or_default().into();
        record.trans_class = payment.details.get(Payment::TRANS_CLASS).cloned().unwrap_or_default();
        record.system_action = action;
        record.status = if payment.approved() { Flag::YES } else { Flag::NO };
        record.trans_key = payment.key.as_str().into();
        record.auth_code = auth_code.map(|(_, code)| code.clone()).unwrap_or_default();
    })
}

/// Returns the spelling of replies (spec 3 §2.2; A124).
pub(super) fn trans_type(kind: PaymentKind) -> EnterpriseTransactionType {
    match kind {
        PaymentKind::Auth => EnterpriseTransactionType::AUTH,
        PaymentKind::PreAuth => EnterpriseTransactionType::PRE_AUTH,
        PaymentKind::Capture => EnterpriseTransactionType::CAPTURE,
        PaymentKind::CancelPreAuth => EnterpriseTransactionType::CANCEL,
        PaymentKind::Refund => EnterpriseTransactionType::REFUND,
        // Version 5 has no spelling of these.
        PaymentKind::ThreeDSecureCheck | PaymentKind::ThreeDsAuthenticatedOnly => kind.wire().into(),
    }
}

/// Returns the free text of a request as a detail of its transaction; an empty text is ignored (A09).
pub(super) fn class(trans_class: Option<String>) -> Details {
    let given = trans_class.filter(|words| !words.is_empty());
    given.map(|words| (Payment::TRANS_CLASS.to_owned(), words)).into_iter().collect()
}
