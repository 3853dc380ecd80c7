//! Unique references: the first request with one uses it up (spec 2 §4.3; A92).

use pg_model::{
    ErrorCode,
    dialect::ReferenceAfterRefusal,
    method::{MethodInfo, RetrySafety},
};

use super::{context::Context, refusal::Refusal};
use crate::codes::SandboxErrorCode;
use crate::{assumed, form::Form, merchants::Merchant, records::UniqueReference};

const NAME: &str = "uniqueMerchantReference";

/// Uses up the unique reference of a request whose credentials are right. Error 950 if an earlier request has used it
/// up.
///
/// A method that only reads does not use a reference up. A value that breaks the rule of the parameter is not a
/// reference.
pub(super) fn take(
    context: &mut Context<'_>,
    merchant: &Merchant,
    info: &MethodInfo,
    form: &Form,
) -> Result<(), Refusal> {
    let field = info.fields.iter().find(|field| field.wire == NAME).filter(|_| info.retry != RetrySafety::Safe);
    let given = field.zip(form.given(NAME)).filter(|(field, value)| field.broken_rule(value).is_none());
    let Some((_, reference)) = given else { return Ok(()) };
    context.basis.assume(assumed::WHAT_USES_UP_A_UNIQUEMERCHANTREFERENCE);
    if context.records.get::<UniqueReference>(&UniqueReference::key_of(&merchant.name, reference))?.is_some() {
        return Err(SandboxErrorCode::DUPLICATE_UNIQUE_REFERENCE.into());
    }
    context.unique_reference = Some(UniqueReference::new(&merchant.name, reference, None));
    Ok(())
}

/// Records a transaction under the reference of the request that creates it, so that a lookup finds it.
pub(super) fn lead_to(context: &mut Context<'_>, transaction: &str) {
    if let Some(used) = &mut context.unique_reference {
        used.transaction = Some(transaction.to_owned());
    }
}

/// Keeps the reference of a request, whatever its result. The other changes of a refused request are dropped.
pub(super) fn settle<T>(context: &mut Context<'_>, answer: Result<T, Refusal>) -> Result<T, Refusal> {
    let Some(used) = context.unique_reference.take() else { return answer };
    if let Err(refusal) = &answer {
        context.records.undo()?;
        // The service failed before it decided anything, so nothing was changed.
        if refusal.code() == SandboxErrorCode::SANDBOX_FAILURE.as_str() {
            return answer;
        }
        // After 119 it is unknown in every dialect whether the bank has charged.
        let free = context.settings.spoken().refused_reference == Some(ReferenceAfterRefusal::Free);
        if free && refusal.code() != ErrorCode::NO_RESPONSE_FROM_BANK.as_str() {
            return answer;
        }
    }
    context.records.put(&used)?;
    context.records.keep()?;
    answer
}
