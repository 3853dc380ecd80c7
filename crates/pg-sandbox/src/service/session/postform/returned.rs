//! The data of a form that the merchant's page receives (spec 2 §2.2; A82).

use pg_model::{Dialect, FieldError, Keyed, PostForm, RedirectData};

use super::{Context, entered, faults::FieldMistake};
use crate::assumed;

/// Returns the data of a redirect to `nextPageUrl` or `currentPageUrl`: the number masked, no CV2, and an error for
/// each fault. Other texts that look like a number were masked before.
pub(super) fn data(
    context: &mut Context<'_>,
    form: &PostForm,
    collected: &[(String, String)],
    faults: &[FieldMistake],
) -> RedirectData {
    context.basis.assume(assumed::CONTENT_OF_A_REDIRECT);
    if !collected.is_empty() {
        context.basis.assume(assumed::INPUTS_THAT_BEGIN_WITH_COLLECT);
    }
    let number = form.card_number.expose();
    let (month, year) = entered::expiry(form);
    let mut errors = Keyed::default();
    let dialect = context.settings.spoken();
    for fault in faults {
        let trace_code = context.trace_code();
        errors.push(fault.field.as_str(), field_error(fault, trace_code, &dialect));
    }
    RedirectData::default().with(|record| {
        record.cardholder_name = form.cardholder_name.clone().unwrap_or_default();
        record.card_number = entered::masked_number(number).into();
        record.card_expiry_month = month.to_owned();
        record.card_expiry_year = year.to_owned();
        record.collect = collected.iter().cloned().collect();
        record.errors = errors;
    })
}

fn field_error(fault: &FieldMistake, trace_code: String, dialect: &Dialect) -> FieldError {
    let error = fault.refusal.record(trace_code, dialect);
    FieldError::default().with(|record| {
        record.error_code = error.error_code;
        record.trace_code = error.trace_code;
        record.error_message = error.error_message;
    })
}
