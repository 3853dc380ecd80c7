//! `sms` (spec 3 §4.6; A127).

use pg_model::{Flag, Sms, SmsReply, SmsResult};

use super::{Context, Refusal, Serve};
use crate::codes::SandboxErrorCode;
use crate::{assumed, merchants::Merchant, records::TextMessage};

/// The last digits of numbers to which no message can be delivered.
const UNREACHABLE: &str = "0000";

impl Serve for Sms {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<SmsReply, Refusal> {
        context.basis.assume(assumed::TEXT_MESSAGES);
        let msisdn = international(&self.msisdn).ok_or_else(|| {
            Refusal::from(SandboxErrorCode::INVALID_PARAMETER).about("msisdn").assuming(assumed::TEXT_MESSAGES)
        })?;
        let message_id = (!msisdn.ends_with(UNREACHABLE)).then(|| context.keys.digits(16));
        if message_id.is_none() {
            context
                .basis
                .assume_all([assumed::EMPTY_FIELDS_IN_REPLIES_OF_THE_SANDBOX, assumed::FAILURE_BY_STATUS_OR_BY_ERROR]);
        }
        let message = TextMessage {
            key: context.keys.record(context.now),
            merchant: merchant.name.clone(),
            msisdn: msisdn.to_owned(),
            message: self.message,
            message_id,
            created: context.now,
        };
        context.records.put(&message)?;
        let sms = SmsResult::default().with(|record| {
            record.msisdn = message.msisdn;
            record.message = message.message;
            record.status = if message.message_id.is_some() { Flag::YES } else { Flag::NO };
            record.message_id = message.message_id.unwrap_or_default().into();
        });
        Ok(SmsReply::default().with(|record| {
            record.sms = sms;
        }))
    }
}

/// Returns the digits of a number without its prefix. They begin with a country code, and no country code begins with 0
/// (ITU-T E.164).
fn international(number: &str) -> Option<&str> {
    let digits = number.strip_prefix('+').or_else(|| number.strip_prefix("00")).unwrap_or(number);
    (!digits.is_empty() && !digits.starts_with('0')).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 3 §4.6, A127: msisdn is an international number, with 00, with + or digits only, of at most 15 characters.
    #[test]
    fn all_three_forms_of_a_number() {
        for number in ["+447700900123", "00447700900123", "447700900123"] {
            assert_eq!(international(number), Some("447700900123"), "{number}");
        }
        for number in ["07700900123", "+07700900123", "00", "+", "000447700900123"] {
            assert_eq!(international(number), None, "{number}");
        }
    }
}
