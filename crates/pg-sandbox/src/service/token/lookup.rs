//! `token/lookup` (spec 1 §4.2).

use pg_model::{CardKeyDetails, ErrorCode, TokenLookup, dialect::EmptyLookup};

use super::{super::method::Serve, Context, Merchant, Refusal, detail};
use crate::{assumed, codes::SandboxErrorCode, records::CardToken, store::Query};

impl Serve for TokenLookup {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<CardKeyDetails, Refusal> {
        let key = self.card_key.as_ref().map(|key| key.as_str()).filter(|key| !key.is_empty());
        let customer = self.merchant_customer_reference.as_ref().map(|customer| customer.as_str());
        let tokens = match (key, customer.filter(|customer| !customer.is_empty())) {
            (None, None) => {
                return Err(Refusal::from(ErrorCode::NO_DATA_SENT).assuming(assumed::LOOKUPS_WITHOUT_A_PARAMETER));
            }
            (Some(key), customer) => {
                let token = context.records.get_of::<CardToken>(&merchant.name, key)?;
                // The token of a missing key may have been deleted, or belong to another account.
                if token.is_none() {
                    context.basis.assume_all([assumed::KEYS_OF_OTHER_ACCOUNTS, assumed::WHAT_THE_TOKEN_LOOKUP_FINDS]);
                }
                let fits = |token: &CardToken| customer.is_none() || token.customer_reference.as_deref() == customer;
                token.into_iter().filter(fits).collect::<Vec<_>>()
            }
            (None, Some(customer)) => {
                context.basis.assume(assumed::WHAT_THE_TOKEN_LOOKUP_FINDS);
                let all = Query::oldest(u32::MAX).of(&merchant.name);
                context.records.find::<CardToken>(&all.equal(CardToken::CUSTOMER_REFERENCE, customer))?
            }
        };
        if tokens.is_empty() {
            context.basis.assume(assumed::A_LOOKUP_THAT_FINDS_NOTHING);
            let unknown =
                || Refusal::from(SandboxErrorCode::UNKNOWN_CARD_KEY).assuming(assumed::A_LOOKUP_THAT_FINDS_NOTHING);
            match context.settings.spoken().lookup.no_card {
                Some(EmptyLookup::Error) => return Err(unknown()),
                Some(EmptyLookup::NotFound) => return Err(unknown().with_status(404)),
                _ => {}
            }
        }
        context.basis.assume(assumed::EMPTY_FIELDS_IN_REPLIES_OF_THE_SANDBOX);
        Ok(detail::all(&tokens))
    }
}
