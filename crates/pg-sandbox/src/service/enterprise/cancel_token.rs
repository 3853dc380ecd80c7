//! `canceltoken` (spec 3 §3.1, §4.9; A56 and A126).

use pg_model::{CancelToken, Flag, TokenCancellation};

use super::{Context, Refusal, Serve};
use crate::{merchants::Merchant, records::CheckoutToken};

impl Serve for CancelToken {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<TokenCancellation, Refusal> {
        [56, 126].into_iter().for_each(|number| context.basis.assume(number));
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
