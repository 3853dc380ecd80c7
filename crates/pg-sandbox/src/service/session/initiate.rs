//! `session/initiate` (spec 2 §4.1).

use pg_model::{ErrorCode, Initiate, Session as Reply};

use super::{super::method::Serve, Context, Merchant, Refusal};
use crate::{
    assumed,
    records::{Details, SESSION_LIFETIME, Session},
};

impl Serve for Initiate {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Reply, Refusal> {
        if context.page("errorPageUrl", self.error_page_url.as_str()).is_none() {
            return Err(Refusal::from(ErrorCode::ERROR_PAGE_URL_NOT_SUPPLIED)
                .assuming(assumed::ERROR_CODES_OF_SINGLE_PARAMETERS));
        }
        let customer = self.merchant_customer_reference.filter(|customer| !customer.is_empty());
        let session = Session {
            key: context.keys.record(context.now),
            merchant: merchant.name.clone(),
            error_page_url: self.error_page_url.as_str().to_owned(),
            customer_reference: customer.map(|customer| customer.as_str().to_owned()),
            created: context.now,
            expires: context.now.plus(SESSION_LIFETIME),
            card: None,
            details: Details::new(),
            collected: Vec::new(),
            own_clock: context.account.is_some(),
        };
        context.records.put(&session)?;
        Ok(Reply::default().with(|reply| reply.session_key = session.key.into()))
    }
}
