//! `token/retrieveAccountUpdater` (spec 1 §4.9).

use pg_model::{AccountUpdaterBatch, ErrorCode, RetrieveAccountUpdater};

use super::{Context, Merchant, Refusal, shown};
use crate::{
    assumed,
    records::{Batch, BatchCards},
    service::{
        gate::Signature,
        method::{Permission, Serve},
    },
};

impl Serve for RetrieveAccountUpdater {
    const PERMISSION: Permission = Permission::AccountUpdater;
    const SIGNATURE: Signature = Signature::OptionalWhereAllowed;

    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<AccountUpdaterBatch, Refusal> {
        let found = context.records.get_of::<Batch>(&merchant.name, self.batch_key.as_str())?;
        let batch = found.ok_or_else(|| {
            Refusal::from(ErrorCode::INVALID_BATCH_KEY)
                .assuming(assumed::KEYS_OF_OTHER_ACCOUNTS)
                .assuming(assumed::CODES_183_AND_181)
        })?;
        if !batch.finished {
            return Err(Refusal::from(ErrorCode::BATCH_PENDING).assuming(assumed::WHEN_AND_HOW_A_BATCH_IS_PROCESSED));
        }
        let cards = context.records.get::<BatchCards>(&batch.key)?.filter(|_| !batch.spoiled);
        let cards =
            cards.ok_or_else(|| Refusal::from(ErrorCode::BATCH_DATA_ERROR).assuming(assumed::CODES_183_AND_181))?;
        context.basis.assume_all([
            assumed::EMPTY_FIELDS_IN_REPLIES_OF_THE_SANDBOX,
            assumed::WHEN_AND_HOW_A_BATCH_IS_PROCESSED,
            assumed::THE_NEW_TOKEN_OF_AN_UPDATED_CARD,
            assumed::ENTRIES_OF_A_FINISHED_BATCH,
        ]);
        Ok(shown(&batch, &cards.entries))
    }
}
