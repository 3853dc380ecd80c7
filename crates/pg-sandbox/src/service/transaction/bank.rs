//! The simulated bank: the card's scenario decides (assumptions 87 to 89 and 93).

use pg_model::{ErrorCode, SandboxStatusCode, StatusCode};

use super::{Context, Refusal};
use crate::cards::Scenario;

/// What the bank said.
pub(super) struct Decision {
    /// `transactionStatusCode`.
    pub(super) code: String,
    /// `transactionStatus`.
    pub(super) status: &'static str,
    /// The `bank*` parameters in their order.
    pub(super) bank: Vec<(String, String)>,
}

/// Asks the bank to authorise a payment with the card of this number.
///
/// Refused with 119 when the bank does not answer; nothing was charged then.
pub(super) fn authorise(context: &mut Context<'_>, number: &str) -> Result<Decision, Refusal> {
    match Scenario::of(number) {
        Scenario::NoResponse => Err(Refusal::from(ErrorCode::NO_RESPONSE_FROM_BANK).assuming(93)),
        Scenario::Declined => Ok(declined(context, &SandboxStatusCode::DECLINED, "05")),
        Scenario::InsufficientFunds => Ok(declined(context, &SandboxStatusCode::INSUFFICIENT_FUNDS, "51")),
        _ => Ok(approved(context)),
    }
}

fn approved(context: &mut Context<'_>) -> Decision {
    context.basis.assume(88);
    let auth_code = context.keys.digits(6);
    let mut bank = vec![("bankAuthCode".to_owned(), auth_code)];
    bank.extend(answer(context, "00", "Approved"));
    bank.push(("bankOrderId".to_owned(), context.keys.digits(12)));
    let code = StatusCode::APPROVED;
    Decision { code: code.as_str().to_owned(), status: code.message().unwrap_or_default(), bank }
}

fn declined(context: &mut Context<'_>, code: &SandboxStatusCode, bank_code: &str) -> Decision {
    [87, 89].into_iter().for_each(|number| context.basis.assume(number));
    let status = code.message().unwrap_or_default();
    let bank = answer(context, bank_code, status).into_iter().collect();
    Decision { code: code.as_str().to_owned(), status, bank }
}

fn answer(context: &mut Context<'_>, code: &str, message: &str) -> [(String, String); 3] {
    [
        ("bankTransId".to_owned(), context.keys.digits(12)),
        ("bankResponseCode".to_owned(), code.to_owned()),
        ("bankResponseMessage".to_owned(), message.to_owned()),
    ]
}
