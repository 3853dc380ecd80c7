//! The simulated bank: the card's scenario decides about new payments (A87 to A89 and A93); operations on a payment are
//! always approved (A96 and A97).

use pg_model::{ErrorCode, StatusCode};

use super::{Context, Refusal};
use crate::codes::SandboxStatusCode;
use crate::{assumed, cards::Scenario, records::Silence};

/// The bank's decision on a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Approved.
    Approved,
    /// Declined.
    Declined(SandboxStatusCode),
    /// No answer: error 119, and nothing is charged.
    Silent,
    /// Approved, but the answer is lost: also error 119.
    Unheard,
}

/// Reply of the bank, as a transaction has it.
pub(super) struct Answer {
    /// `transactionStatusCode`.
    pub(super) code: String,
    /// `transactionStatus`.
    pub(super) status: String,
    /// The `bank*` parameters in their order.
    pub(super) bank: Vec<(String, String)>,
}

/// Digits of the bank's numbers. With one more digit they would be masked like card numbers in displayed replies.
const NUMBER_DIGITS: usize = 11;

impl Verdict {
    /// Returns the bank's decision on the card with this number. Only a stored card can be past its expiry (A104).
    pub(super) fn of(number: &str, past_expiry: bool) -> Self {
        match Scenario::of(number) {
            _ if past_expiry => Self::Declined(SandboxStatusCode::CARD_EXPIRED),
            Scenario::NoResponse => Self::Silent,
            Scenario::NoResponseCharged => Self::Unheard,
            Scenario::Declined => Self::Declined(SandboxStatusCode::DECLINED),
            Scenario::InsufficientFunds => Self::Declined(SandboxStatusCode::INSUFFICIENT_FUNDS),
            _ => Self::Approved,
        }
    }
}

/// Refuses a request that a fault keeps from the bank, and records whether the bank's answer will be lost.
pub(super) fn listen(context: &mut Context<'_>) -> Result<(), Refusal> {
    match context.silence {
        None => Ok(()),
        Some(Silence::NotCharged) => Err(no_response()),
        Some(Silence::Charged) => {
            lose_answer(context);
            Ok(())
        }
    }
}

/// Records that the bank's answer, which comes next, will be lost.
pub(super) fn lose_answer(context: &mut Context<'_>) {
    context.unheard.get_or_insert_with(|| context.basis.clone());
}

/// Returns error 119, which does not say whether the bank has charged (A93).
pub(super) fn no_response() -> Refusal {
    Refusal::from(ErrorCode::NO_RESPONSE_FROM_BANK).assuming(assumed::NO_RESPONSE_FROM_THE_BANK)
}

/// Returns error 119 for a request whose answer from the bank was lost. What the request has recorded is kept, but the
/// basis is that of a bank that was never reached.
pub(in crate::service) fn refuse_unheard(context: &mut Context<'_>) -> Result<(), Refusal> {
    let Some(basis) = context.unheard.take() else { return Ok(()) };
    context.basis = basis;
    context.records.keep()?;
    Err(no_response())
}

/// Returns the answer of an approval; refunds and cancellations have no `bankAuthCode` (A88).
pub(super) fn approved(context: &mut Context<'_>, with_auth_code: bool) -> Answer {
    context.basis.assume(assumed::BANK_FIELDS_OF_AN_APPROVAL);
    let auth_code = with_auth_code.then(|| ("bankAuthCode".to_owned(), context.keys.digits(6)));
    let mut bank = Vec::with_capacity(5);
    bank.extend(auth_code);
    bank.extend(response(context, "00", "Approved"));
    bank.push(("bankOrderId".to_owned(), context.keys.digits(NUMBER_DIGITS)));
    let code = StatusCode::APPROVED;
    Answer { code: code.as_str().to_owned(), status: code.message().unwrap_or_default().to_owned(), bank }
}

/// Returns the answer of a decline (A87 and A89).
pub(super) fn declined(context: &mut Context<'_>, code: &SandboxStatusCode) -> Answer {
    context.basis.assume_all([assumed::DECLINES, assumed::BANK_RESPONSE_CODES_OF_DECLINES, code.assumption()]);
    let own = code.message();
    let bank = response(context, response_code(code), own).into();
    let dialect = context.settings.spoken();
    let spoken = dialect.decline_for(code.situation());
    let said = spoken.map_or((code.as_str(), own), |entry| {
        (entry.code.as_str(), if entry.message.is_empty() { own } else { entry.message.as_str() })
    });
    Answer { code: said.0.to_owned(), status: said.1.to_owned(), bank }
}

/// ISO 8583 (A89).
fn response_code(code: &SandboxStatusCode) -> &'static str {
    match code.as_str() {
        "902" => "51",
        "903" => "54",
        "907" => "1A",
        _ => "05",
    }
}

fn response(context: &mut Context<'_>, code: &str, message: &str) -> [(String, String); 3] {
    [
        ("bankTransId".to_owned(), context.keys.digits(NUMBER_DIGITS)),
        ("bankResponseCode".to_owned(), code.to_owned()),
        ("bankResponseMessage".to_owned(), message.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2 §2.3, A88, A89: Fields whose names begin with bank come from the acquirer.
    #[test]
    fn the_scenario_and_the_expiry_decide() {
        for (number, past_expiry, wanted) in [
            ("4111111111111111", false, Verdict::Approved),
            ("4111111111111111", true, Verdict::Declined(SandboxStatusCode::CARD_EXPIRED)),
            ("4000000000002008", false, Verdict::Declined(SandboxStatusCode::DECLINED)),
            ("4000000000003006", false, Verdict::Declined(SandboxStatusCode::INSUFFICIENT_FUNDS)),
            ("4000000000004004", false, Verdict::Silent),
            ("4000000000011009", false, Verdict::Unheard),
            ("4000000000004004", true, Verdict::Declined(SandboxStatusCode::CARD_EXPIRED)),
            // Payments of the scenarios of 3-D Secure and of the account updater are approved.
            ("4000000000006009", false, Verdict::Approved),
            ("4000000000010001", false, Verdict::Approved),
        ] {
            assert_eq!(Verdict::of(number, past_expiry), wanted, "{number} {past_expiry}");
        }
    }
}
