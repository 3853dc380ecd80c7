//! `canceltoken` (spec 3 §3.1, §4.9; A56 and A126).

use pg_model::{CancelToken, Flag, TokenCancellation};

use super::{Context, Refusal, Serve};
use crate::{assumed, merchants::Merchant, records::CheckoutToken};

impl Serve for CancelToken {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<TokenCancellation, Refusal> {
        context.basis.assume_all([assumed::KEYS_OF_OTHER_ACCOUNTS, assumed::CANCELLING_A_CHECKOUT_TOKEN]);
        let found = context.records.get_of::<CheckoutToken>(&merchant.name, self.token_id.as_str())?;
        let status = match found {
            Some(token) if token.cancelled.is_some() => Flag::YES,
            Some(mut token) if context.now < token.expires => {
                token.cancelled = Some(context.now);
                context.records.put(&token)?;
                Flag::YES
            }
            _ => Flag::NO,
        };
        Ok(TokenCancellation::default().with(|record| {
            record.status = status;
        }))
    }
}
